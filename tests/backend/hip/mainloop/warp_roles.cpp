// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

/// Stores each thread's role and the values that it reads after the preamble; `producers` warpgroups load.
template <int producers, class Registers>
struct WriteRoles : BlockOf<128 * (2 + producers)>, hip::TmaKernel {
    using Architecture = hip::arch::Sm90a;
    using Roles = hip::WarpRoles<2, Registers, producers>;
    struct Params {
        unsigned* out;  // (THREADS, 4): 1 for producers, warp, calls of init(), sum of what prepare() stored
    };
    struct Shared {
        unsigned initialized, prepared[128 * (2 + producers)];
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        Roles const roles(thread);
        if (thread == 0) shared.initialized = 0;
        begin(thread, [&] { ++shared.initialized; }, [&] { shared.prepared[thread] = thread; });
        bool const produces = roles.begin_producer();
        unsigned* const out = params.out + 4 * thread;
        out[0] = produces, out[1] = produces ? roles.warp - Roles::first_producer : roles.warp;
        out[2] = shared.initialized, out[3] = 0;
        for (unsigned const each : shared.prepared) out[3] += each;
    }
};

template <class Body>
void check() {
    hip::Device device = sm90a_device();
    constexpr unsigned threads = Body::threads;
    Array<unsigned> const out(device, 4 * threads, 0xffffffff);
    run_blocks<Body>(device, {out.data()});
    std::vector<unsigned> expected;
    for (unsigned thread = 0; thread < threads; ++thread) {
        bool const produces = thread >= 256;
        for (unsigned const each :
             {unsigned{produces}, (thread - (produces ? 256 : 0)) / 32, 1u, threads * (threads - 1) / 2})
            expected.push_back(each);
    }
    CHECK(out.values() == expected);
}

/// Numbers of a warpgroup's tiles, then the number of the tile that was the last.
struct WalkTiles : BlockOf<32> {
    using Architecture = hip::arch::Sm90a;
    struct Params {
        unsigned* out;
        unsigned first, stride, end;
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        if (thread != 0) return;
        unsigned count = 0, last = 99;
        for (hip::PersistentTile tile{params.first, params.stride, params.end}; tile.exists(); tile.advance()) {
            params.out[count++] = tile.number;
            if (tile.is_last()) last = tile.number;
        }
        params.out[count] = last;
    }
};

std::vector<unsigned> walk(unsigned first, unsigned stride, unsigned end, unsigned count) {
    hip::Device device = sm90a_device();
    Array<unsigned> const out(device, count + 1, 0xffffffff);
    run_blocks<WalkTiles>(device, {out.data(), first, stride, end});
    return out.values();
}

}  // namespace

TEST_CASE("HIP: warps have roles after the preamble, with and without a register budget") {
    check<WriteRoles<1, hip::EqualRegisters>>();
    check<WriteRoles<1, hip::RegisterBudget<40, 232>>>();
    check<WriteRoles<2, hip::RegisterBudget<48, 208, 2, 2>>>();
}

TEST_CASE("HIP: a warpgroup's persistent tiles are every stride-th, and one is the last") {
    CHECK(walk(1, 4, 10, 3) == std::vector<unsigned>{1, 5, 9, 9});
    CHECK(walk(1, 4, 9, 2) == std::vector<unsigned>{1, 5, 5});
    CHECK(walk(3, 4, 3, 0) == std::vector<unsigned>{99});
}
