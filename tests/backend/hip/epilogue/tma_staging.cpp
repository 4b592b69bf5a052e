// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/tma_staging.hpp"

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"

using namespace test;
namespace hip = fk::hip;
namespace ptx = fk::hip::ptx;

namespace {

constexpr unsigned words = 128;

/// A warpgroup passes `count` rows of words through one staging buffer: with `loads`, the row of `in` plus the number
/// of the row, else that number times the thread's.
template <bool loads>
struct PassRows : BlockOf<128> {
    using Architecture = hip::arch::Sm90a;
    using Staging = hip::TmaStaging<loads, 128>;
    struct Params {
        unsigned const* in;
        unsigned* out;
        unsigned count;
    };
    struct Buffer {
        alignas(128) unsigned staged[1][words];
        std::uint64_t read_full;
    };
    struct DynamicShared {
        Buffer buffer;
    };
    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned) {
        constexpr unsigned barrier = 2;
        Buffer& buffer = shared.buffer;
        if (thread == 0) {
            Staging::init(buffer);
            ptx::fence_mbarrier_init();
        }
        __syncthreads();
        for (unsigned i = 0; i < params.count; ++i) {
            if constexpr (loads)
                if (thread == 0)
                    ptx::bulk_load(Staging::address(buffer, 0), params.in + i * words, sizeof buffer.staged,
                                   Staging::begin_read(buffer));
            Staging::acquire(buffer, thread, barrier, i % 2);
            buffer.staged[0][thread] = loads ? buffer.staged[0][thread] + i : i * thread;
            Staging::publish(barrier);
            if (thread != 0) continue;
            ptx::bulk_store(params.out + i * words, Staging::address(buffer, 0), sizeof buffer.staged);
            ptx::bulk_commit_group();
        }
        if (thread == 0) ptx::bulk_wait_group_read();
    }
};

template <bool loads>
void check(unsigned count) {
    hip::Device device = sm90a_device();
    std::vector<unsigned> in, expected;
    for (unsigned i = 0; i < count * words; ++i) {
        in.push_back(7 * i);
        expected.push_back(loads ? 7 * i + i / words : i / words * (i % words));
    }
    Array<unsigned> const from(device, in), to(device, in.size(), 0xffffffffu);
    run_blocks<PassRows<loads>>(device, {from.data(), to.data(), count});
    CHECK(to.values() == expected);
}

}  // namespace

TEST_CASE("HIP: a staging buffer is overwritten only after it is stored, and after an operator's tile is loaded") {
    for (unsigned const count : {1u, 2u, 5u}) check<false>(count), check<true>(count);
}
