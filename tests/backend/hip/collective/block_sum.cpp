// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/collective/block_sum.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

/// Sums Count values per thread, and writes each thread's sums.
template <int Threads, int Count>
struct SumColumns : BlockOf<Threads> {
    struct Params {
        float* sums;  ///< Count per thread
        unsigned columns;
    };
    struct Shared {
        float room[Threads * Count];
    };
    __host__ __device__ static float number(unsigned thread, unsigned i) {
        return static_cast<float>(thread + 1000 * i);
    }

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        float values[Count];
        for (unsigned i = 0; i < Count; ++i) values[i] = number(thread, i);
        fk::hip::Rows{Threads, params.columns, thread}.sum(values, shared.room);
        for (unsigned i = 0; i < Count; ++i) params.sums[thread * Count + i] = values[i];
    }
};

template <int Threads, int Count>
void check_sums() {
    fk::hip::Device device = gpu();
    using Body = SumColumns<Threads, Count>;
    for (unsigned columns = 1; columns <= Threads; columns *= 2) {
        Array<float> const sums(device, Threads * Count, 0);
        run_blocks<Body>(device, {sums.data(), columns});
        std::vector<float> expected(Threads * Count);
        for (unsigned thread = 0; thread < Threads; ++thread)
            for (unsigned i = 0; i < Count; ++i)
                for (unsigned other = thread % columns; other < Threads; other += columns)
                    expected[thread * Count + i] += Body::number(other, i);
        CAPTURE(Threads, Count, columns);
        CHECK(sums.values() == expected);
    }
}

}  // namespace

TEST_CASE("HIP: block_sum returns each thread the sum of its column") {
    check_sums<64, 1>();
    check_sums<64, 3>();
    check_sums<128, 2>();
    check_sums<256, 5>();
}
