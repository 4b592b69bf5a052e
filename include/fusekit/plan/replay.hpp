// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"

namespace fusekit::detail {

/// Operator that replaces Op when a backward pass recomputes values: y = x without Op's side effects (its stores,
/// maximum or statistics). Op is a Store, StoreMask, Amax or ChannelStatistics.
template <class Op>
struct Passing {
    static constexpr auto stage = Op::stage;
    static constexpr int flops_per_element = 0;
    struct Args {
        FUSEKIT_H constexpr Args(typename Op::Args const&) {}
    };

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return x;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V, Args const&) {
        return V{} + 1.0f;
    }
};

template <class Op>
inline constexpr bool is_passing = false;
template <class Op>
inline constexpr bool is_passing<Passing<Op>> = true;

template <class Op>
struct ReplayedOf {
    using Type = Op;
};
template <class Op>
    requires ReductionOp<Op>
struct ReplayedOf<Op> {
    using Type = typename Op::Saved;
};
template <class Op>
    requires Storing<Op> || MaximumOp<Op> || StatisticsOp<Op>
struct ReplayedOf<Op> {
    using Type = Passing<Op>;
};

/// Operator that recomputes Op's output in a backward pass: Op itself; Passing<Op> if Op has side effects; for
/// BatchNormTraining, an operator that loads the statistics that the forward run saved.
template <class Op>
using Replayed = typename ReplayedOf<Op>::Type;

}  // namespace fusekit::detail
