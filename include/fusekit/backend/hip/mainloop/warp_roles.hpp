// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/pipeline/ping_pong.hpp"
#include "fusekit/backend/hip/pipeline/register_budget.hpp"

/// Common members of sm_90a's warp-specialized kernels: the preamble, the roles of warps, and the sequence of a
/// consumer's output tiles. The loop over a tile's k-tiles is mma::k_loop().
namespace fusekit::hip {

/// Base of the kernels whose operands TMA loads.
struct TmaKernel {
    static constexpr bool waits_for_previous_kernel = true, reads_argument_in_place = true;

protected:
    /// Preamble that all threads call: one thread calls init(), which initializes the CTA's mbarriers; all threads call
    /// prepare(). Global memory that the previous kernel on the stream wrote is visible afterwards.
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

/// Roles of a CTA's warps: the first `consumers` warpgroups run the MMAs and the epilogue; the warps of the next
/// `producers` warpgroups load. Registers is the RegisterBudget of the two roles.
template <int consumers, class Registers, int producers = 1>
struct WarpRoles {
    static constexpr unsigned first_producer = 4 * consumers;  ///< index of the first producer warp

    unsigned warp, group;

    __device__ explicit WarpRoles(unsigned thread) : warp(ptx::warp_uniform(thread / 32)), group(warp / 4) {}

    /// Moves registers from producer threads to consumer threads (setmaxnreg) and returns true in producers. All
    /// threads call it once.
    __device__ bool begin_producer() const {
        bool is_producer;
        if constexpr (producers == 1) is_producer = group == consumers;
        else is_producer = group >= consumers;
        if (is_producer) Registers::producer_deallocate();
        else Registers::consumer_allocate();
        return is_producer;
    }
};

/// Position in the output tiles of a persistent kernel's consumer warpgroup: every `stride`-th tile below tile `end`.
struct PersistentTile {
    unsigned number, stride, end;

    __device__ bool exists() const { return number < end; }
    __device__ bool is_last() const { return number + stride >= end; }
    __device__ void advance() { number += stride; }
};

}  // namespace fusekit::hip
