// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/schedule/entry.hpp"

namespace fusekit::hip {

/// Schedule of a plan whose head is a reduction: each thread keeps Unroll loads of Bytes (4, 8 or 16) bytes in flight.
/// Threads is a power of two, 64 or more. Blocks is the intended number of CTAs per SM. CTAs that reduce few elements
/// have fewer threads.
template <int Threads = 256, int Bytes = 16, int Unroll = 8, int Blocks = 512 / Threads>
struct Reduction {
    static constexpr int threads = Threads, bytes = Bytes, unroll = Unroll, blocks = Blocks;
    static constexpr bool merges_blocks = true;
};

template <class Schedule>
concept ReductionSchedule =
    HasBlocks<Schedule> && requires { Schedule::bytes, Schedule::unroll, Schedule::merges_blocks; };

/// Entry of Reduction in the list of schedules (dispatch/list.hpp): its name and conditions.
struct ReductionEntry : AnyEntry {
    template <class Schedule>
    static constexpr bool describes = ReductionSchedule<Schedule>;
    template <class Plan>
    static constexpr bool runs = !Plan::has_mainloop && Plan::head_kind == detail::HeadKind::reduction;

    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            using T = ElementOf<X>;
            constexpr PlanTraits plan = traits_of<typename BoundPlan::Plan, T>();
            constexpr int threads = Schedule::threads;
            constexpr bool halves = threads >= 64 && (threads & (threads - 1)) == 0,
                           loads = Schedule::bytes == 16 || Schedule::bytes == 8 || Schedule::bytes == 4,
                           unroll = Schedule::unroll >= 2,
                           fits =
                               threads * (Schedule::bytes / static_cast<int>(sizeof(T))) * plan.total_bytes < 48 * 1024;
            static_assert(halves, "Reduction: Threads must be a power of two, and 64 or more");
            static_assert(loads, "Reduction: Bytes, loaded by a thread at once, must be 4, 8 or 16");
            static_assert(unroll, "Reduction: Unroll must be 2 or more");
            static_assert(
                fits,
                "Reduction: a block's totals, one per thread and element of a load, must fit 48 KB: use fewer "
                "Threads or Bytes");
            return halves && loads && unroll && fits;
        }
    };
};

}  // namespace fusekit::hip
