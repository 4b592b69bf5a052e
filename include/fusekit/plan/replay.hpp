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

/// y = x, with Op's stage and Args. In a backward pass it replaces a RowOp without parameters, whose x is normalized.
template <class Op>
struct Unchanged {
    static constexpr auto stage = Op::stage;
    using Args = typename Op::Args;

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
struct ReplayedOf {
    using Type = Op;
};
template <class Op>
    requires RowOp<Op>
struct ReplayedOf<Op> : std::conditional<std::is_void_v<typename Op::Affine>, Unchanged<Op>, typename Op::Affine> {
    using Type = typename ReplayedOf::type;
};
template <class Op>
    requires requires { typename Op::Saved; }
struct ReplayedOf<Op> {
    using Type = typename Op::Saved;
};
template <class Op>
    requires Storing<Op> || MaximumOp<Op> || StatisticsOp<Op>
struct ReplayedOf<Op> {
    using Type = Passing<Op>;
};

/// Operator that recomputes Op's output in a backward pass: Op itself; Passing<Op> if Op has side effects; Op::Saved
/// where it exists, as for BatchNormTraining, whose Saved loads the statistics that the forward run saved; for a RowOp,
/// its Affine, which is applied to normalized values.
template <class Op>
using Replayed = typename ReplayedOf<Op>::Type;

}  // namespace fusekit::detail
