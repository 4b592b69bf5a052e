// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/pipeline/ping_pong.hpp"
#include "fusekit/backend/hip/pipeline/register_budget.hpp"

/// Common parts of sm_90a's warp-specialized kernels: preamble, roles of warps, and the sequence of a consumer's tiles.
/// The loop over the k-tiles of a tile is mma::k_loop().
namespace fusekit::hip {

/// Base of the kernels that TMA feeds.
struct TmaKernel {
    static constexpr bool waits_for_previous_kernel = true, reads_argument_in_place = true;

protected:
    /// Preamble, called by all threads: one calls init(), which initializes the CTA's mbarriers, then all call
    /// prepare(). Memory that the previous kernel on the stream wrote is visible afterwards.
    template <class Init, class Prepare>
    __device__ static void begin(unsigned thread, Init const& init, Prepare const& prepare) {
        if (thread == 0) init();
        prepare();
        __syncthreads();
        wait_for_previous_kernel();
    }
    template <class Init>
    __device__ static void begin(unsigned thread, Init const& init) {
        begin(thread, init, [] {});
    }
};

/// Roles of a CTA's warps: the first `consumers` warpgroups run the MMAs and the epilogue; the warps of the following
/// `producers` warpgroups load. Registers is the RegisterBudget of the two roles.
template <int consumers, class Registers, int producers = 1>
struct WarpRoles {
    static constexpr unsigned first_producer = 4 * consumers;  ///< index of the first producer warp

    unsigned warp, group;

    __device__ explicit WarpRoles(unsigned thread) : warp(ptx::warp_uniform(thread / 32)), group(warp / 4) {}

    /// Moves registers from producer threads to consumer threads (setmaxnreg); returns true in producers. All threads
    /// call it, once.
    __device__ bool begin_producer() const {
        bool is_producer;
        if constexpr (producers == 1) is_producer = group == consumers;
        else is_producer = group >= consumers;
        if (is_producer) Registers::producer_deallocate();
        else Registers::consumer_allocate();
        return is_producer;
    }
};

/// Position in a consumer warpgroup's sequence of tiles: every stride-th below `end`.
struct PersistentTile {
    unsigned number, stride, end;

    __device__ bool exists() const { return number < end; }
    __device__ bool is_last() const { return number + stride >= end; }
    __device__ void advance() { number += stride; }
};

}  // namespace fusekit::hip
