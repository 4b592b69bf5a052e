// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"

using namespace test;
namespace ptx = fk::hip::ptx;

namespace {

constexpr unsigned words = 32;  ///< words per stage

/// Copies `count` rows of words through shared memory: warp 0 loads them by TMA; two consumer warps add their number
/// and store to their own rows. The ring has `ring` stages; if `dynamic`, `used` of them.
template <int ring, bool dynamic>
struct CopyThroughRing : BlockOf<96> {
    using Architecture = fk::hip::arch::Sm90a;
    using Pipeline = fk::hip::TmaPipeline<ring, 2>;
    struct Params {
        unsigned const* in;
        unsigned* out;
        unsigned count;
        int used;
    };
    struct alignas(128) DynamicShared {
        unsigned stages[ring][words];
        Pipeline pipeline;
    };
    __device__ static auto start(Params const& params) {
        if constexpr (dynamic) return fk::hip::DynamicPipelineState{params.used};
        else return typename Pipeline::State{};
    }
    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned) {
        if (thread == 0) shared.pipeline.init();
        __syncthreads();
        auto state = start(params);
        unsigned const warp = thread / 32, lane = thread % 32;
        for (unsigned i = 0; i < params.count; ++i, state.advance()) {
            unsigned* const stage = shared.stages[state.stage];
            if (warp == 0) {
                if (lane != 0) continue;
                auto const full = shared.pipeline.producer_acquire(state, sizeof shared.stages[0]);
                ptx::bulk_load(ptx::shared_address(stage), params.in + i * words, sizeof shared.stages[0], full);
            } else {
                shared.pipeline.consumer_wait(state);
                params.out[(2 * i + warp - 1) * words + lane] = stage[lane] + warp;
                ptx::bar_warp_sync();
                if (lane == 0) shared.pipeline.consumer_release(state.stage);
            }
        }
    }
};

/// Two producer warps write stages without TMA; one consumer warp reads both halves of each stage.
struct WriteStages : BlockOf<96> {
    using Architecture = fk::hip::arch::Sm90a;
    using Pipeline = fk::hip::TmaPipeline<2, 1, 2>;
    static constexpr unsigned count = 6;
    struct Params {
        unsigned* out;
    };
    struct DynamicShared {
        unsigned stages[2][2][32];
        Pipeline pipeline;
    };
    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned) {
        if (thread == 0) shared.pipeline.init();
        __syncthreads();
        Pipeline::State state;
        unsigned const warp = thread / 32, lane = thread % 32;
        for (unsigned i = 0; i < count; ++i, state.advance()) {
            auto& stage = shared.stages[state.stage];
            if (warp < 2) {
                shared.pipeline.producer_acquire(state);
                stage[warp][lane] = 100 * i + warp;
                ptx::bar_warp_sync();
                if (lane == 0) shared.pipeline.producer_commit(state.stage);
            } else {
                shared.pipeline.consumer_wait(state);
                params.out[i * 32 + lane] = stage[0][lane] + stage[1][lane];
                ptx::bar_warp_sync();
                if (lane == 0) shared.pipeline.consumer_release(state.stage);
            }
        }
    }
};

/// States after 0, 1, ... 19 stages: advanced one stage at a time, by `steps` at once, and by
/// DynamicPipelineState::after().
struct WalkRing : BlockOf<32> {
    using Architecture = fk::hip::arch::Sm90a;
    struct Params {
        unsigned* states;  // (20, 3, 2)
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        if (thread != 0) return;
        fk::hip::PipelineState<3> each;
        for (unsigned steps = 0; steps < 20; ++steps, each.advance()) {
            fk::hip::PipelineState<3> at_once;
            at_once.advance(steps / 2);
            at_once.advance(steps - steps / 2);
            auto const after = fk::hip::DynamicPipelineState::after(steps, 3);
            unsigned const all[] = {
                each.stage, each.phase, at_once.stage, at_once.phase, static_cast<unsigned>(after.stage), after.phase};
            for (unsigned i = 0; i < 6; ++i) params.states[6 * steps + i] = all[i];
        }
    }
};

template <class Body>
void check_copies(unsigned count, int used) {
    fk::hip::Device device = sm90a_device();
    std::vector<unsigned> rows(count * words), expected(2 * rows.size());
    for (unsigned i = 0; i < rows.size(); ++i) rows[i] = 10 * i;
    for (unsigned i = 0; i < expected.size(); ++i)
        expected[i] = rows[i / (2 * words) * words + i % words] + i / words % 2 + 1;
    Array<unsigned> const in(device, rows), out(device, expected.size(), 0xffffffff);
    run_blocks<Body>(device, {in.data(), out.data(), count, used});
    CHECK(out.values() == expected);
}

}  // namespace

TEST_CASE("HIP: a TMA pipeline hands every stage to all consumers before it is refilled") {
    for (unsigned const count : {1u, 2u, 11u}) {
        check_copies<CopyThroughRing<1, false>>(count, 1);
        check_copies<CopyThroughRing<3, false>>(count, 3);
        check_copies<CopyThroughRing<3, true>>(count, 2);
    }
}

TEST_CASE("HIP: a pipeline stage is full after the arrivals of all its producers") {
    fk::hip::Device device = sm90a_device();
    Array<unsigned> const out(device, WriteStages::count * 32, 0xffffffff);
    run_blocks<WriteStages>(device, {out.data()});
    auto const found = out.values();
    for (unsigned i = 0; i < found.size(); ++i) CHECK(found[i] == 200 * (i / 32) + 1);
}

TEST_CASE("HIP: a pipeline state advances through stages and flips its phase at the end of the ring") {
    fk::hip::Device device = sm90a_device();
    Array<unsigned> const states(device, 20 * 6, 0xffffffff);
    run_blocks<WalkRing>(device, {states.data()});
    auto const found = states.values();
    for (unsigned steps = 0; steps < 20; ++steps)
        for (unsigned i = 0; i < 6; ++i) {
            CAPTURE(steps, i);
            CHECK(found[6 * steps + i] == (i % 2 == 0 ? steps % 3 : steps / 3 % 2));
        }
}
