// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/async_copy.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"

namespace fusekit::hip {

/// Position in a ring of SMEM stages: the stage's index, and the phase (parity) that its mbarriers complete next.
/// Producers and consumers start at stage 0, phase 0, and advance over the same sequence of stages.
template <int stages>
struct PipelineState {
    unsigned stage = 0, phase = 0;

    __device__ void advance() {
        if (++stage < stages) return;
        stage = 0, phase ^= 1;
    }
    __device__ void advance(unsigned steps) {
        unsigned const next = stage + steps;
        stage = next % stages, phase ^= next / stages & 1;
    }
};

/// PipelineState of a ring whose number of stages is a run-time value.
struct DynamicPipelineState {
    int stages, stage = 0;
    unsigned phase = 0;

    /// Returns the position in the ring after `steps` advances from stage 0, phase 0.
    __device__ static DynamicPipelineState after(unsigned steps, unsigned stages) {
        return {static_cast<int>(stages), static_cast<int>(steps % stages), steps / stages & 1};
    }
    __device__ void advance() {
        if (++stage == stages) stage = 0, phase ^= 1;
    }
};

/// One "full" mbarrier for each SMEM stage that TMA loads fill. A barrier's phase completes after `producer_arrivals`
/// arrivals and all expected bytes. There are no "empty" barriers: before the producer refills a stage, the kernel
/// itself orders it after the consumers' reads.
template <int stages>
struct TmaStages {
    std::uint64_t full[stages];

    /// Initializes the mbarriers. One thread calls it, and then ptx::fence_mbarrier_init(), before the CTA's other
    /// threads use them.
    __device__ void init(unsigned producer_arrivals = 1) {
        if constexpr (stages == 1) {
            ptx::mbarrier_init(ptx::shared_address(&full[0]), producer_arrivals);
        } else {
#pragma unroll 1
            for (auto& each : full) ptx::mbarrier_init(ptx::shared_address(&each), producer_arrivals);
        }
    }
    /// Shared-memory address of the "full" mbarrier of stage `stage`, on which TMA loads of the stage complete.
    template <class Index>
    __device__ std::uint32_t barrier(Index stage) const {
        return ptx::shared_address(&full[stage]);
    }

    /// Arrives on the stage's "full" mbarrier and expects `bytes` bytes of TMA loads (arrive.expect_tx). Returns the
    /// mbarrier's shared-memory address, with which the caller issues these loads.
    template <class Index>
    __device__ std::uint32_t producer_expect_tx(Index stage, unsigned bytes) const {
        auto const loads = barrier(stage);
        ptx::mbarrier_arrive_expect_tx(loads, bytes);
        return loads;
    }
    /// Arrives on the stage's "full" mbarrier, for producers whose threads store to the stage without TMA.
    template <class Index>
    __device__ void producer_commit(Index stage) const {
        ptx::mbarrier_arrive(barrier(stage));
    }
    /// Waits for the warp's cp.async copies except the last `pending` groups (commit_copies()), calls when_copied(),
    /// and arrives once on the "full" mbarrier of the stage at `state`, which the oldest copies fill; advances `state`.
    /// All lanes of a warp call it.
    template <int pending, class State, class WhenCopied>
    __device__ void producer_commit_copies(State& state, int lane, WhenCopied const& when_copied) const {
        wait_for_groups<pending>();
        when_copied();
        ptx::fence_proxy_async();
        ptx::bar_warp_sync();
        if (lane == 0) producer_commit(state.stage);
        state.advance();
    }
    /// Waits until phase `phase` of the stage's "full" mbarrier has completed: the stage is full.
    template <class Index>
    __device__ void consumer_wait(Index stage, unsigned phase) const {
        ptx::mbarrier_wait(barrier(stage), phase);
    }
    template <class State>
    __device__ void consumer_wait(State const& state) const {
        consumer_wait(state.stage, state.phase);
    }
};

/// Ring of SMEM stages between producers and consumers, with a "full" and an "empty" mbarrier per stage: a stage is
/// full after `producers` arrivals and all expected bytes, and empty after `consumers` arrivals.
template <int stages, int consumers, int producers = 1>
struct TmaPipeline : TmaStages<stages> {
    using State = PipelineState<stages>;
    std::uint64_t empty[stages];

    /// Initializes all mbarriers, with a fence. One thread calls it before the CTA's other threads use the barriers.
    /// `ctas`: number of CTAs whose consumers release each stage.
    __device__ void init(unsigned producer_arrivals = producers, unsigned ctas = 1) {
#pragma unroll 1
        for (int i = 0; i < stages; ++i) {
            ptx::mbarrier_init(ptx::shared_address(&this->full[i]), producer_arrivals);
            ptx::mbarrier_init(ptx::shared_address(&empty[i]), ctas * consumers);
        }
        ptx::fence_mbarrier_init();
    }

    /// Waits until all consumers have released the stage at `state`.
    template <class PositionInRing>
    __device__ void producer_acquire(PositionInRing const& state) const {
        ptx::mbarrier_wait(ptx::shared_address(&empty[state.stage]), state.phase ^ 1);
    }
    /// producer_acquire(state), then producer_expect_tx(state.stage, bytes): returns the "full" mbarrier's address.
    template <class PositionInRing>
    __device__ std::uint32_t producer_acquire(PositionInRing const& state, unsigned bytes) const {
        auto const loads = this->barrier(state.stage);
        producer_acquire(state);
        ptx::mbarrier_arrive_expect_tx(loads, bytes);
        return loads;
    }
    /// Reports that a consumer has read the stage. One thread of each consumer calls it, after all threads of the
    /// consumer have read the stage.
    template <class Index>
    __device__ void consumer_release(Index stage) const {
        ptx::mbarrier_arrive(ptx::shared_address(&empty[stage]));
    }
    /// Reports the same where all threads of a consumer call it, with their index.
    template <class Index>
    __device__ void consumer_release(Index stage, unsigned thread) const {
        if (thread == 0) consumer_release(stage);
    }
};

}  // namespace fusekit::hip
