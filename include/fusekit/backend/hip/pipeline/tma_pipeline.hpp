// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/sm90a.hpp"

namespace fusekit::hip {

/// Position in a ring of SMEM stages: the stage, and the phase (parity) of its mbarriers. Producers and consumers start
/// at stage 0, phase 0, and advance over the same sequence of stages.
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

/// PipelineState of a ring whose number of stages is known at run time.
struct DynamicPipelineState {
    int stages, stage = 0;
    unsigned phase = 0;

    /// Position in the ring after `steps` advances from its start.
    __device__ static DynamicPipelineState after(unsigned steps, unsigned stages) {
        return {static_cast<int>(stages), static_cast<int>(steps % stages), steps / stages & 1};
    }
    __device__ void advance() {
        if (++stage == stages) stage = 0, phase ^= 1;
    }
};

/// The mbarriers of SMEM stages that TMA fills, one "full" barrier each: a stage's phase completes after
/// `producer_arrivals` arrivals and all expected bytes. There are no "empty" barriers: before the producer refills a
/// stage, the kernel orders it after the consumers' reads by another barrier.
template <int stages>
struct TmaStages {
    std::uint64_t full[stages];

    /// Called by one thread, which calls ptx::fence_mbarrier_init() before the CTA's other threads use the barriers.
    __device__ void init(unsigned producer_arrivals = 1) {
        if constexpr (stages == 1) {
            ptx::mbarrier_init(ptx::shared_address(&full[0]), producer_arrivals);
        } else {
            for (auto& each : full) ptx::mbarrier_init(ptx::shared_address(&each), producer_arrivals);
        }
    }
    /// Shared memory address of the mbarrier on which loads of this stage complete.
    template <class Index>
    __device__ std::uint32_t barrier(Index stage) const {
        return ptx::shared_address(&full[stage]);
    }

    /// Arrives as a producer, and expects `bytes` bytes of loads, which the caller then issues on the returned mbarrier
    /// address.
    template <class Index>
    __device__ std::uint32_t producer_expect_tx(Index stage, unsigned bytes) const {
        auto const loads = barrier(stage);
        ptx::mbarrier_arrive_expect_tx(loads, bytes);
        return loads;
    }
    /// Arrives as a producer whose threads have stored to the stage without TMA.
    template <class Index>
    __device__ void producer_commit(Index stage) const {
        ptx::mbarrier_arrive(barrier(stage));
    }
    /// Waits until the stage is full.
    template <class Index>
    __device__ void consumer_wait(Index stage, unsigned phase) const {
        ptx::mbarrier_wait(barrier(stage), phase);
    }
    template <class State>
    __device__ void consumer_wait(State const& state) const {
        consumer_wait(state.stage, state.phase);
    }
};

/// A ring of SMEM stages between producers and consumers, with an mbarrier of each kind per stage: a stage is full
/// after `producers` arrivals and all expected bytes, and empty after `consumers` arrivals.
template <int stages, int consumers, int producers = 1>
struct TmaPipeline : TmaStages<stages> {
    using State = PipelineState<stages>;
    std::uint64_t empty[stages];

    /// Called by one thread, before the CTA's other threads use the barriers.
    __device__ void init() {
        for (int i = 0; i < stages; ++i) {
            ptx::mbarrier_init(ptx::shared_address(&this->full[i]), producers);
            ptx::mbarrier_init(ptx::shared_address(&empty[i]), consumers);
        }
        ptx::fence_mbarrier_init();
    }

    /// Waits until all consumers have released the stage.
    template <class PositionInRing>
    __device__ void producer_acquire(PositionInRing const& state) const {
        ptx::mbarrier_wait(ptx::shared_address(&empty[state.stage]), state.phase ^ 1);
    }
    /// producer_acquire(), then producer_expect_tx().
    template <class PositionInRing>
    __device__ std::uint32_t producer_acquire(PositionInRing const& state, unsigned bytes) const {
        auto const loads = this->barrier(state.stage);
        producer_acquire(state);
        ptx::mbarrier_arrive_expect_tx(loads, bytes);
        return loads;
    }
    /// Called by one thread of a consumer, after all its threads have read the stage.
    template <class Index>
    __device__ void consumer_release(Index stage) const {
        ptx::mbarrier_arrive(ptx::shared_address(&empty[stage]));
    }
};

}  // namespace fusekit::hip
