// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/backend/hip/schedule/operand_types.hpp"
#include "fusekit/plan/reduction.hpp"

namespace fusekit::hip {

/// Type of the elements of a tensor or of a view.
template <class X>
using ElementOf = std::remove_cvref_t<decltype(*std::declval<X const&>().const_view().data)>;

/// Properties of a Plan with elements T of x that the static assertions of a schedule test.
struct PlanTraits {
    bool same_weights = false;  ///< true if the weights have x's element type
    bool products_of_float = false;  ///< true if the Conv or Gemm has Products<float>, which requests SIMT arithmetic
    bool prologue = false, pools = false;
    bool taps = false;  ///< true if the pool also writes where each maximum is
    bool totals = false;  ///< true if ChannelStatistics follow a Conv or Gemm
    bool by_pixel = false;  ///< true if an operator reads or writes a tensor of y's shape other than y
    int total_bytes = 0;  ///< for a reduction: bytes of the sums that are kept for one channel or pixel

    FUSEKIT_H constexpr bool operator==(PlanTraits const&) const = default;
};

template <class Plan, class T>
FUSEKIT_H consteval PlanTraits traits_of() {
    PlanTraits traits;
    if constexpr (Plan::has_mainloop) {
        traits.same_weights = std::is_same_v<T, typename Plan::Head::template WeightElement<T>>;
        traits.products_of_float = std::is_same_v<FloatFactor<Plan>, float>;
        traits.prologue = Plan::has_prologue, traits.pools = Plan::pools, traits.totals = Plan::totals_tiles;
        if constexpr (Plan::pools) traits.taps = Plan::Pool::writes_taps;
        traits.by_pixel = Plan::Epilogue::located || Plan::Epilogue::per_pixel || Plan::Epilogue::stores;
    }
    if constexpr (Plan::head_kind == detail::HeadKind::reduction)
        traits.total_bytes = sizeof(typename detail::ReductionSteps<typename Plan::Head>::template Total<float>);
    return traits;
}

/// For each property of a plan, true if a schedule supports it. For a schedule that the call names, its CanImplement
/// fails one static_assert for each false member; in the library's own selection, a schedule with a false member is
/// skipped.
struct PlanConditions {
    bool factors = true;  ///< element types of x and of the weights
    bool products = true;  ///< Products<float>
    bool prologue = true, pool = true;
    bool totals = true;  ///< ChannelStatistics
    bool by_pixel = true;  ///< tensors of y's shape that operators read or write

    FUSEKIT_H constexpr bool met() const { return factors && products && prologue && pool && totals && by_pixel; }

    /// Conditions of a schedule that supports only the Conv or Gemm and operators of the epilogue, without statistics.
    /// `factors`: true if it supports the element types of x and of the weights.
    FUSEKIT_H static constexpr PlanConditions of_epilogue(PlanTraits const& plan, bool factors = true) {
        return {.factors = factors, .prologue = !plan.prologue, .pool = !plan.pools, .totals = !plan.totals};
    }
};

}  // namespace fusekit::hip
