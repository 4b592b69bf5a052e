// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/schedule/split.hpp"

namespace fusekit::hip {

/// Base of every entry of the list of schedules (dispatch/list.hpp). An entry hides the members in which it differs.
struct AnyEntry {
    template <class Schedule, class T, PlanTraits plan>
    static constexpr bool splits = false;
};

/// Base of the entries of schedules for plans with a Conv or Gemm: no tensor cores of sm_90a, no conditions.
struct ConvEntry : AnyEntry {
    static constexpr bool on_matrix_units = false, by_tma = false;

    template <class Plan>
    static constexpr bool runs = Plan::has_mainloop;
    template <class Schedule, class T, class U>
    FUSEKIT_H static constexpr Unmet can_implement(ConvCase const&) {
        return {};
    }
    /// ScheduleFacts of a schedule without split-K; `kind`, `splits` and `blocks` are set by the caller.
    template <class Schedule>
    static constexpr ScheduleFacts facts{};
};

/// Base of the entries of schedules for sm_90a's tensor cores that load operands by TMA: by default of 16 bits, with
/// operators of the epilogue alone.
template <class Entry>
struct TmaEntry : ConvEntry {
    static constexpr bool on_matrix_units = true, by_tma = true;

    template <class T>
    FUSEKIT_H static constexpr PlanConditions conditions(PlanTraits const& plan) {
        return PlanConditions::of_epilogue(plan, detail::is_16_bits<T> && plan.same_weights);
    }

    template <class Plan, class T, class U>
    static constexpr bool has_kernel =
        Entry::template conditions<T>(traits_of<Plan, T>()).met() && !Entry::template unmet_by_plan<Plan, T, U>();
};

/// ScheduleFacts of a schedule's type, without `kind`.
template <class Entry, class Schedule>
FUSEKIT_H consteval ScheduleFacts numbers_of() {
    ScheduleFacts result = Entry::template facts<WholeSchedule<Schedule>>;
    result.blocks = Schedule::blocks, result.splits = SplitSchedule<Schedule>;
    return result;
}

namespace detail {

/// True if a plan's head is a Conv, a TransposedConv or a Gemm, not of a batch, of matrices, signals or images.
template <class Plan>
FUSEKIT_H consteval bool has_head_of_images() {
    if constexpr (!Plan::has_mainloop || Plan::has_weight_gradient) return false;
    else if constexpr (BatchedOp<typename Plan::Head>) return false;
    else return Plan::Head::collapsed_space == 2;
}

/// True if a plan's head is a TransposedConv of signals or images with a filter of one tap, stride 1 and one group: the
/// gradient of a 1x1 convolution by x, a product with transposed weights.
template <class Plan>
FUSEKIT_H consteval bool transposes_single_tap() {
    if constexpr (!has_head_of_images<Plan>()) return false;
    else if constexpr (!has_transposed_conv<Plan>) return false;
    else return Plan::Head::may_be_single_pixels && !Plan::Head::may_be_grouped;
}

}  // namespace detail

}  // namespace fusekit::hip
