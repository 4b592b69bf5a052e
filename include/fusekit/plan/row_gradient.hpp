// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/plan/gradient.hpp"
#include "fusekit/plan/rows.hpp"

namespace fusekit::detail {

/// Steps of a gradient of a plan whose first operator is a RowOp, as backends call them. For every row of x and dy, a
/// backend does the following:
///   row = the RowOp's Row of x, by RowSteps;
///   add(total of the value's channel, sums of the row, dy, x, row, ...) for every value;
///   dx = apply(dy, x, row, sums, ...) for every value, which also stores the gradients of second tensors;
/// and, with the total of every channel over all rows, Steps::save(total).
template <class Head>
struct RowGradientSteps;

template <class First, class... Rest>
struct RowGradientSteps<Gradient<First, Rest...>> {
    using Op = First;
    using Steps = ReductionSteps<Gradient<First, Rest...>>;
    using Args = typename Steps::Args;
    using States = typename Steps::States;
    template <class V>
    using Total = typename Steps::template Total<V>;

    /// Row of x and sums of its gradients: all that apply() reads of a row.
    template <class V>
    struct State {
        typename Op::template Row<V> row;
        RowSums<V> sums;
    };

    static constexpr bool has_totals = Steps::has_totals;

    FUSEKIT_HD static constexpr typename Op::Args const& row_args(Args const& args) { return get<0>(args.forward); }

    /// True if a run computes totals of channels: the caller passed a view of a parameter gradient.
    FUSEKIT_H static bool saves_totals(Args const& args) {
        return [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            return (false || ... || is_given(get<Nth>(args.gradients)));
        }(std::make_integer_sequence<int, 1 + static_cast<int>(sizeof...(Rest))>{});
    }

    /// Adds a value's terms to the total of its channel and to the sums of its row; where `counts` is false, nothing.
    template <class V, class At, class TheState, class Mask = bool>
    FUSEKIT_HD static constexpr void add(Total<V>& total, V& sum_of_g, V& sum_of_g_times_y, V dy, V x,
                                         typename Op::template Row<V> const& row, At const& at, TheState const& state,
                                         Args const& args, Mask counts = true) {
        V const y = Op::apply(x, row), g = Steps::add(total, dy, y, at, state, args, counts);
        sum_of_g += math::select(counts, g, V{});
        sum_of_g_times_y += math::select(counts, V(g * y), V{});
    }
    template <class V, class At, class TheState>
    FUSEKIT_HD static constexpr V apply(V dy, V x, State<V> const& of_row, At const& at, TheState const& state,
                                        Args const& args) {
        V const y = Op::apply(x, of_row.row), g = Steps::apply(dy, y, at, state, Nothing{}, args);
        return Op::gradient(g, y, of_row.row, of_row.sums);
    }

private:
    FUSEKIT_H static bool is_given(auto const& gradients) {
        if constexpr (requires { gradients.any(); }) return gradients.any();
        else return false;
    }
};

}  // namespace fusekit::detail
