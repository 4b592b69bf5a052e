// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

// Schedules are included before the launchers that include them, so that a compiler prints few include lines above an
// error.
#include "fusekit/backend/hip/schedule/col2im.hpp"
#include "fusekit/backend/hip/schedule/depthwise.hpp"
#include "fusekit/backend/hip/schedule/direct.hpp"
#include "fusekit/backend/hip/schedule/elementwise.hpp"
#include "fusekit/backend/hip/schedule/gemm.hpp"
#include "fusekit/backend/hip/schedule/gemv.hpp"
#include "fusekit/backend/hip/schedule/grouped.hpp"
#include "fusekit/backend/hip/schedule/halo.hpp"
#include "fusekit/backend/hip/schedule/matrix_gemm.hpp"
#include "fusekit/backend/hip/schedule/native_gemm.hpp"
#include "fusekit/backend/hip/schedule/phased_halo.hpp"
#include "fusekit/backend/hip/schedule/planes.hpp"
#include "fusekit/backend/hip/schedule/reduction.hpp"
#include "fusekit/backend/hip/schedule/stem.hpp"
#include "fusekit/backend/hip/schedule/strip_halo.hpp"
#include "fusekit/backend/hip/schedule/tall_gemm.hpp"
#include "fusekit/backend/hip/schedule/tall_planes.hpp"
#include "fusekit/backend/hip/schedule/tma_planes.hpp"

#include "fusekit/backend/hip/dispatch/col2im.hpp"
#include "fusekit/backend/hip/dispatch/depthwise.hpp"
#include "fusekit/backend/hip/dispatch/direct.hpp"
#include "fusekit/backend/hip/dispatch/gathered_planes.hpp"
#include "fusekit/backend/hip/dispatch/gemm.hpp"
#include "fusekit/backend/hip/dispatch/gemv.hpp"
#include "fusekit/backend/hip/dispatch/grouped.hpp"
#include "fusekit/backend/hip/dispatch/halo.hpp"
#include "fusekit/backend/hip/dispatch/phased_halo.hpp"
#include "fusekit/backend/hip/dispatch/planes.hpp"
#include "fusekit/backend/hip/dispatch/stem.hpp"
#include "fusekit/backend/hip/dispatch/strip_halo.hpp"
#include "fusekit/backend/hip/dispatch/tall_gemm.hpp"
#include "fusekit/backend/hip/dispatch/tall_planes.hpp"
#include "fusekit/backend/hip/dispatch/tma_planes.hpp"
#include "fusekit/backend/hip/dispatch/warp_specialized.hpp"
#include "fusekit/backend/hip/runtime/accepts_all.hpp"
#include "fusekit/backend/hip/tuning/tuned.hpp"

namespace fusekit::hip {

/// Entries of the schedules for plans with a Conv or Gemm.
//
// An entry describes one schedule template to the library. It is derived from a base of schedule/entry.hpp, whose
// members it hides where it differs, and has
//   describes<Schedule>             true if Schedule has the members of this schedule template
//   runs<Plan>                      true if the schedule computes plans with Plan's kind of head
//   conditions<T>(PlanTraits)       optional: PlanConditions on the operators and on x's type
//   CanImplement<Schedule>::accepts<X>(epilogue, bound)
//                                   at compile time: checks the schedule's numbers and conditions(); a static_assert
//                                   names the condition that failed. The device's type calls it directly, because
//                                   compilers print the whole call chain of an error.
//   splits<Schedule, T, PlanTraits> true if Split<Schedule> is supported
// and, for plans with a Conv or Gemm,
//   name                            name in messages
//   on_matrix_units                 true if it needs sm_90a's tensor cores
//   by_tma                          true if it loads operands by TMA; such kernels count pixels in 30 bits
//   unmet_by_plan<Plan, T, U>(), has_kernel<Plan, T, U>
//                                   by_tma: the first unmet condition of the plan's type beyond conditions(); true if
//                                   all conditions are met
//   can_implement<Schedule, T, U>(ConvCase)
//                                   at run time: returns the first condition that a convolution does not meet
//   facts<Schedule>, written(facts) the template arguments as a run-time value, and as text
//   cost(facts, ConvCase, CostTable, GpuRates)
//                                   estimated time by the constants in tuning/; infinite if it cannot compute the call
// A specialization of Launcher (dispatch/launcher.hpp) prepares launches of the schedule.
using ConvSchedules =
    List<GemmEntry, NativeGemmEntry, MatrixGemmEntry, WarpSpecializedEntry, HaloEntry, PlanesEntry, StemEntry,
         DirectEntry, DepthwiseEntry, GroupedEntry, GemvEntry, GatheredPlanesEntry, TallGemmEntry, PhasedHaloEntry,
         Col2imEntry, StripHaloEntry, TallPlanesEntry, TmaPlanesEntry>;
/// Kinds of schedules by name, for the tables that tools/tune writes; kind_of<Entry> is the kind of any entry.
enum class ScheduleKind : unsigned char {
    gemm,
    native_gemm,
    matrix_gemm,
    warp_specialized,
    halo,
    planes,
    stem,
    direct,
    depthwise,
    grouped,
    gemv,
    gathered_planes,
    tall_gemm,
    phased_halo,
    col2im,
    strip_halo,
    tall_planes,
    tma_planes
};
/// Entries of the schedules for plans without a Conv or Gemm. ClusterReduction has none: Reduction's launcher derives
/// its template arguments from the plan and the vectors of x, and most tensors exceed the registers of a cluster.
using OtherSchedules = List<ElementwiseEntry, ReductionEntry>;

namespace detail {

/// Entry at the end of the list, selected for types that are not schedules: every call with it fails a static_assert.
struct NoEntry {
    template <class Schedule>
    static constexpr bool describes = true;
    template <class Plan>
    static constexpr bool runs = false;
    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            return false;
        }
    };
};

/// Index in the list of the first entry that describes a schedule.
template <class Schedule, class... Entries>
FUSEKIT_H consteval int index_of_entry(List<Entries...>) {
    int index = 0;
    static_cast<void>(((Entries::template describes<Schedule> || (++index, false)) || ...));
    return index;
}

using Entries = JoinedList<ConvSchedules, OtherSchedules, List<NoEntry>>;

/// Index of an entry in a list of entries; -1 if the list does not contain it.
template <class Entry, class... Entries>
FUSEKIT_H consteval int index_in(List<Entries...>) {
    int index = 0, found = -1;
    static_cast<void>(((found = std::is_same_v<Entry, Entries> ? index : found, ++index) && ...));
    return found;
}

}  // namespace detail

/// Entry that describes a schedule, from ConvSchedules or OtherSchedules.
template <class Schedule>
using EntryOf = TypeAt<detail::Entries, detail::index_of_entry<Schedule>(detail::Entries{})>;

/// ScheduleKind of an entry: its index in ConvSchedules.
template <class Entry>
inline constexpr ScheduleKind kind_of = static_cast<ScheduleKind>(detail::index_in<Entry>(ConvSchedules{}));
static_assert(kind_of<TmaPlanesEntry> == ScheduleKind::tma_planes && ConvSchedules::size <= TunedTable::kinds);

/// Template arguments of a schedule's type as a run-time value, with the kind of the schedule and its CTAs per SM.
template <class Schedule>
FUSEKIT_H consteval ScheduleFacts facts_of() {
    ScheduleFacts result = numbers_of<EntryOf<Schedule>, Schedule>();
    result.kind = kind_of<EntryOf<Schedule>>;
    return result;
}

/// Functions and properties of a schedule's entry as a run-time value, for the selection of a schedule.
struct EntryFacts {
    char const* name;
    bool on_matrix_units, by_tma;
    Estimate (*cost)(ScheduleFacts const&, ConvCase const&, CostTable const&, GpuRates const&);
};

namespace detail {

template <class... Entries>
inline constexpr EntryFacts facts_of_entries[sizeof...(Entries)] = {
    {Entries::name, Entries::on_matrix_units, Entries::by_tma, Entries::cost}...};

/// A table of its own: code that names a schedule and estimates none has no code of `cost`.
template <class... Entries>
inline constexpr Text (*written_of_entries[sizeof...(Entries)])(ScheduleFacts const&) = {Entries::written...};

template <class... Entries>
FUSEKIT_H constexpr EntryFacts const& entry_of(ScheduleKind kind, List<Entries...>) {
    return facts_of_entries<Entries...>[static_cast<int>(kind)];
}

}  // namespace detail

FUSEKIT_H constexpr EntryFacts const& entry_of(ScheduleKind kind) { return detail::entry_of(kind, ConvSchedules{}); }

namespace detail {

template <class... Entries>
FUSEKIT_H Text written_by(ScheduleFacts const& facts, List<Entries...>) {
    return written_of_entries<Entries...>[static_cast<int>(facts.kind)](facts);
}

}  // namespace detail

FUSEKIT_H inline Text ScheduleFacts::name(int split_k) const {
    Text const whole = detail::written_by(*this, ConvSchedules{});
    if (splits) return "Split<" + whole + ", " + Text::number(split_k) + ">";
    return split_k > 1 ? whole + " with a stream-K tail of " + Text::number(split_k) : whole;
}

/// Returns the first condition of a schedule, for elements T of x and U of y, that a convolution does not meet: "C = 96
/// exceeds 64".
template <class Schedule, class T, class U>
FUSEKIT_H Unmet can_implement(ConvCase const& of) {
    return EntryOf<Schedule>::template can_implement<Schedule, T, U>(of);
}

/// Estimated time of a convolution with a schedule, by the cost constants of `table`; infinite if the schedule cannot
/// compute it.
FUSEKIT_H constexpr Estimate estimate_of(ScheduleFacts const& schedule, ConvCase const& of, CostTable const& table,
                                         GpuRates const& rates) {
    EntryFacts const& entry = entry_of(schedule.kind);
    if ((entry.on_matrix_units && !of.on_matrix_units) || (entry.by_tma && of.in_slabs)) return {};
    return entry.cost(schedule, of, table, rates);
}

namespace detail {

/// Conditions of every schedule: on x's element type, the plan, threads per CTA and CTAs per SM, and on Split.
template <class Schedule, class X, class BoundPlan>
struct Conditions {
    using Plan = typename BoundPlan::Plan;
    using T = ElementOf<X>;
    using Entry = EntryOf<Schedule>;

    static constexpr bool on_gpu = !std::is_same_v<T, double>, known = !on_gpu || !std::is_same_v<Entry, NoEntry>,
                          right = !on_gpu || Entry::template runs<Plan>, suitable = right || !known,
                          chosen =
                              on_gpu && right && ((Plan::pools && !Plan::has_mainloop) || Plan::has_weight_gradient);

    FUSEKIT_H static consteval bool has_threads() {
        if constexpr (on_gpu && right && !chosen) return Schedule::threads > 0 && Schedule::threads <= 1024;
        return true;
    }
    FUSEKIT_H static consteval bool has_blocks() {
        if constexpr (on_gpu && right && !chosen && has_threads())
            return Schedule::blocks > 0 && Schedule::threads * Schedule::blocks <= 2048;
        return true;
    }
    static constexpr bool splits = on_gpu && right && !chosen && SplitSchedule<Schedule>;
    FUSEKIT_H static consteval bool has_split() {
        if constexpr (splits) return Entry::template splits<Schedule, T, traits_of<Plan, T>()>;
        return true;
    }
    FUSEKIT_H static consteval bool has_split_k() {
        if constexpr (splits) return Schedule::split_k == 2 || Schedule::split_k == 4 || Schedule::split_k == 8;
        return true;
    }
    static constexpr bool totals = splits && Plan::totals_tiles;
};

/// Conditions with the member `value` in a class of its own, because clang 14 evaluates no consteval function of a
/// class that it is still instantiating.
template <class Schedule, class X, class BoundPlan>
struct Misfit : Conditions<Schedule, X, BoundPlan> {
    using Met = Conditions<Schedule, X, BoundPlan>;
    static constexpr bool value = !Met::on_gpu || !Met::right || Met::chosen || !Met::has_threads() ||
                                  !Met::has_blocks() || !Met::has_split() || !Met::has_split_k() || Met::totals;
};

}  // namespace detail

/// Base of a device whose schedule the caller named. A call fails the static_assert of the first unmet condition: those
/// common to all schedules are here, those of one schedule in its entry.
template <class Schedule>
struct Accepts : EntryOf<Schedule>::template CanImplement<Schedule> {
    using EntryOf<Schedule>::template CanImplement<Schedule>::accepts;

    template <class X, class Epilogue, class BoundPlan>
        requires detail::Misfit<Schedule, X, BoundPlan>::value
    FUSEKIT_H static consteval bool accepts(Epilogue const*, BoundPlan const*) {
        using Misfit = detail::Misfit<Schedule, X, BoundPlan>;
        static_assert(
            Misfit::on_gpu,
            "double runs on the host only: a plan on a GPU takes float, half, bfloat16, int8 or 8-bit floats");
        static_assert(Misfit::known,
                      "with<Schedule>(): the type is not a schedule: give it all members of one of the library's");
        static_assert(
            Misfit::suitable,
            "the schedule is not for this plan: Gemm, Direct and the like compute a Conv or Gemm, Reduction batch "
            "statistics, Elementwise other plans");
        static_assert(!Misfit::chosen,
                      "a ConvWeightGradient, or a plan that pools without a Conv, takes no schedule: call it without "
                      "with<Schedule>()");
        static_assert(Misfit::has_threads(), "a block has 1 to 1024 threads");
        static_assert(Misfit::has_blocks(), "Blocks must be 1 or more, and the threads of all blocks at most 2048");
        static_assert(
            Misfit::has_split(),
            "Split: the schedule has no split-K kernel for its tile or for x's type: name the schedule without Split");
        static_assert(Misfit::has_split_k(), "Split: Factor (CTAs per tile) must be 2, 4 or 8");
        static_assert(!Misfit::totals, "Split: no ChannelStatistics in the plan: name the schedule without Split");
        return false;
    }
};

/// Base of a device for whose calls the library selects the schedule.
template <>
struct Accepts<void> : AcceptsAll {};

}  // namespace fusekit::hip
