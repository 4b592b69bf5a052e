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

/// Properties of a Plan with elements T of x, on which the static assertions of a schedule depend.
struct PlanTraits {
    bool same_weights = false;  ///< true if the weights have x's element type
    bool products_of_float = false;  ///< true if the Conv or Gemm has Products<float>, which asks for SIMT arithmetic
    bool prologue = false, pools = false;
    bool totals = false;  ///< true if ChannelStatistics follow a Conv or Gemm
    bool by_pixel = false;  ///< true if an operator reads or writes another tensor at the pixel of y
    int total_bytes = 0;  ///< in a reduction, bytes of the total of one channel or pixel

    FUSEKIT_H constexpr bool operator==(PlanTraits const&) const = default;
};

template <class Plan, class T>
FUSEKIT_H consteval PlanTraits traits_of() {
    PlanTraits traits;
    if constexpr (Plan::has_mainloop) {
        traits.same_weights = std::is_same_v<T, typename Plan::Head::template WeightElement<T>>;
        traits.products_of_float = std::is_same_v<FloatFactor<Plan>, float>;
        traits.prologue = Plan::has_prologue, traits.pools = Plan::pools, traits.totals = Plan::totals_tiles;
        traits.by_pixel = Plan::Epilogue::located || Plan::Epilogue::per_pixel || Plan::Epilogue::stores;
    }
    if constexpr (Plan::head_kind == detail::HeadKind::reduction)
        traits.total_bytes = sizeof(typename detail::ReductionSteps<typename Plan::Head>::template Total<float>);
    return traits;
}

/// For each property of a plan, true if a schedule supports the plan in this respect. A call that names the schedule is
/// refused at compile time, by a sentence for each member that is false, in the schedule's CanImplement; when the
/// library chooses, it omits the schedule.
struct PlanConditions {
    bool factors = true;  ///< the types of x and of the weights
    bool products = true;  ///< Products<float>
    bool prologue = true, pool = true;
    bool totals = true;  ///< ChannelStatistics
    bool by_pixel = true;  ///< tensors that operators read or write at each pixel

    FUSEKIT_H constexpr bool met() const { return factors && products && prologue && pool && totals && by_pixel; }
};

}  // namespace fusekit::hip
