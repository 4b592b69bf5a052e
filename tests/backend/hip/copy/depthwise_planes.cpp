// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/depthwise_planes.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

/// Copies elements to SMEM, doubles them, and copies them to `to`, which is as many bytes past a multiple of 16.
template <class T>
struct DoubleElements : BlockOf<64> {
    struct Params {
        T const* from;
        T* to;
        int count;
    };
    struct Shared {
        alignas(16) unsigned char bytes[4096];
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        fk::hip::PacketCopy<T const> const in(params.from, params.count);
        in.load(shared.bytes, thread, threads);
        fk::hip::commit_copies();
        fk::hip::wait_for_groups<0>();
        __syncthreads();
        fk::hip::PacketCopy<T> const out(params.to, params.count);
        auto* const elements = out.in_shared(shared.bytes);
        for (int i = static_cast<int>(thread); i < params.count; i += threads)
            elements[i] = T(2 * static_cast<float>(elements[i]));
        __syncthreads();
        out.store(shared.bytes, thread, threads);
    }
};

template <class T>
void check(int first, int count) {
    fk::hip::Device device = gpu();
    std::vector<T> values;
    std::vector<float> expected, found;
    for (int i = 0; i < 1024; ++i) {
        values.push_back(T(static_cast<float>(i % 61)));
        expected.push_back(i >= first && i < first + count ? static_cast<float>(i % 61 * 2) : -7);
    }
    Array<T> const from(device, values), to(device, 1024, T(-7.0f));
    run_blocks<DoubleElements<T>>(device, {from.data() + first, to.data() + first, count});
    for (T const value : to.values()) found.push_back(static_cast<float>(value));
    CAPTURE(first, count);
    CHECK(found == expected);
}

}  // namespace

TEST_CASE("HIP: elements at any address are copied in packets of 16 bytes, without those beside them") {
    for (int const first : {0, 1, 3, 7, 8})
        for (int const count : {1, 7, 8, 9, 64, 1000}) check<fk::half>(first, count);
    for (int const first : {0, 1, 5}) check<float>(first, 333), check<float>(first, 2);
    check<fk::int8>(9, 777), check<fk::int8>(15, 2);
}
