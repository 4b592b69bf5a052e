// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/pipeline/ping_pong.hpp"

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"

using namespace test;

namespace {

constexpr unsigned turns = 5;

/// Two warpgroups append their number to a log, once per turn.
struct Alternate : BlockOf<256> {
    using Architecture = fk::hip::arch::Sm90a;
    struct Params {
        unsigned* log;
    };
    struct Shared {
        unsigned next;
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        if (thread == 0) shared.next = 0;
        __syncthreads();
        fk::hip::PingPong<true, 1> const order{thread / 128};
        if (order.group == 1) order.arrive();
        for (unsigned turn = 0; turn < turns; ++turn) {
            order.wait();
            if (thread % 128 == 0) params.log[shared.next++] = order.group;
            order.arrive();
        }
    }
};

/// A disabled ordered barrier must not block: the kernel would hang, because only one warpgroup calls wait().
struct Disabled : BlockOf<256> {
    using Architecture = fk::hip::arch::Sm90a;
    struct Params {
        unsigned* done;
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        fk::hip::PingPong<false, 1> const order{thread / 128};
        if (thread >= 128) return;
        order.wait();
        order.wait();
        order.arrive();
        params.done[thread] = 1;
    }
};

}  // namespace

TEST_CASE("HIP: two warpgroups alternate, the first one first") {
    fk::hip::Device device = sm90a_device();
    Array<unsigned> const log(device, 2 * turns, 9);
    run_blocks<Alternate>(device, {log.data()});
    auto const found = log.values();
    for (unsigned i = 0; i < found.size(); ++i) CHECK(found[i] == i % 2);
}

TEST_CASE("HIP: a disabled ordered barrier blocks nobody") {
    fk::hip::Device device = sm90a_device();
    Array<unsigned> const done(device, 128, 0);
    run_blocks<Disabled>(device, {done.data()});
    CHECK(done.values() == std::vector<unsigned>(128, 1));
}
