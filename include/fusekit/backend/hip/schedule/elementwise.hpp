// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/schedule/entry.hpp"

namespace fusekit::hip {

/// Schedule of a plan without a Conv. A thread has Bytes (4, 8 or 16) bytes of contiguous pixels or channels of an
/// image, prepares the operators' parameters for them once, and processes the same pixels or channels of Iterations
/// images, with Unroll loads in flight before the arithmetic. Blocks is the intended number of CTAs per SM. With
/// channels last and parameters prepared by the CTA, a thread processes the same channels of TileIterations pixels
/// instead.
template <int Threads = 256, int Bytes = 16, int Iterations = 8, int Unroll = 4, int Blocks = 1280 / Threads,
          int TileIterations = Iterations>
struct Elementwise {
    static constexpr int threads = Threads, bytes = Bytes, iterations = Iterations, unroll = Unroll, blocks = Blocks,
                         tile_iterations = TileIterations;
};

template <class Schedule>
concept ElementwiseSchedule = HasBlocks<Schedule> && requires {
    Schedule::bytes, Schedule::iterations, Schedule::unroll, Schedule::tile_iterations;
};

/// Entry of Elementwise in the list of schedules (dispatch/list.hpp): its name and conditions.
struct ElementwiseEntry : AnyEntry {
    template <class Schedule>
    static constexpr bool describes = ElementwiseSchedule<Schedule>;
    template <class Plan>
    static constexpr bool runs = Plan::head_kind == detail::HeadKind::elementwise;

    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            constexpr bool loads = Schedule::bytes == 16 || Schedule::bytes == 8 || Schedule::bytes == 4,
                           iterations = Schedule::iterations > 0 && Schedule::tile_iterations > 0,
                           unroll = Schedule::unroll > 0;
            static_assert(loads, "Elementwise: Bytes, loaded by a thread at once, must be 4, 8 or 16");
            static_assert(iterations, "Elementwise: Iterations and TileIterations must be 1 or more");
            static_assert(unroll, "Elementwise: Unroll must be 1 or more");
            return loads && iterations && unroll;
        }
    };
};

}  // namespace fusekit::hip
