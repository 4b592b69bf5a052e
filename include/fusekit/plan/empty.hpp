// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/plan/gradient.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/plan/statistics.hpp"

/// Runs on tensors without elements (an extent is 0), for all backends.
namespace fusekit::detail {

/// True if a run with y of these extents writes nothing: neither y nor a tensor stored in addition has elements, and
/// the maximum of an Amax does not change. The backend then reads nothing and launches no kernel.
template <class BoundPlan>
FUSEKIT_H constexpr bool writes_nothing(BoundPlan const& bound, Index<4> const& y) {
    using Plan = typename BoundPlan::Plan;
    if (!has_no_elements(y)) return false;
    if constexpr (Plan::has_weight_gradient) {
        return !bound.head.bias_gradient.given() || y[0] == 0;
    } else if constexpr (Plan::head_kind == HeadKind::reduction || Plan::head_kind == HeadKind::row_gradient) {
        using Reduction = ReductionSteps<typename Plan::Head>;
        return !Reduction::has_totals || y[1] == 0 || (Reduction::per_pixel && y[2] * y[3] == 0);
    } else {
        return true;
    }
}

/// Writes the results of a reduction over zero values, for y of these extents: parameter gradients are 0.
template <class V, class Plan>
FUSEKIT_H void save_empty_totals(BoundPlan<Plan> const& bound, Index<4> const& y) {
    using Reduction = ReductionSteps<typename Plan::Head>;
    if constexpr (Reduction::has_totals) {
        std::int64_t const rows = Reduction::per_pixel ? y[2] : 1, columns = Reduction::per_pixel ? y[3] : 1;
        OutputCoord at{};
        for (at.k = 0; at.k < y[1]; ++at.k)
            for (at.p = 0; at.p < rows; ++at.p)
                for (at.q = 0; at.q < columns; ++at.q)
                    Reduction::save(typename Reduction::template Total<V>{}, at, bound.head);
    }
}

}  // namespace fusekit::detail
