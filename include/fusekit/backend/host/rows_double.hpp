// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/plan/empty.hpp"
#include "fusekit/plan/pairwise.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/plan/row_gradient.hpp"
#include "fusekit/plan/rows.hpp"

/// Plans on double whose head is a RowOp, and their gradients.
namespace fusekit::host::detail {

/// Row `index` of a tensor of this shape under a RowOp.
template <class Op>
struct RowInDouble {
    detail::RowsOf<Op> const rows;
    Index<4> const shape;
    std::int64_t const index;

    FUSEKIT_H std::int64_t size() const { return rows.values(); }
    FUSEKIT_H DoubleCoord coord(std::int64_t i) const {
        std::int64_t const plane = shape[2] * shape[3], of_image = Op::over_pixels ? rows.groups : plane,
                           k = Op::over_pixels ? index % of_image * rows.channels : 0,
                           pixel = (Op::over_pixels ? 0 : index % of_image) + i % rows.pixels;
        return {{index / of_image, k + i / rows.pixels, pixel / shape[3], pixel % shape[3]}};
    }
    /// Merges value(coordinate) over the row, pairwise.
    template <class V, class Value, class Merge>
    FUSEKIT_H V reduce(V neutral, Value const& value, Merge const& merge) const {
        return detail::pairwise(
            0, size(), detail::addends,
            [&](std::int64_t begin, std::int64_t end) {
                V result = neutral;
                for (; begin < end; ++begin) result = merge(result, value(coord(begin)));
                return result;
            },
            merge);
    }
    template <class X>
    FUSEKIT_H typename Op::template Row<double> parameters(X const& x, typename Op::Args const& args) const {
        using Steps = detail::RowSteps<Op>;
        double const count = static_cast<double>(size());
        double center = 0;
        if constexpr (Steps::has_center)
            center = Steps::center_of(reduce(Steps::template neutral_center<double>(), x,
                                             [](double a, double b) { return Steps::merge_centers(a, b); }),
                                      count);
        return Op::finish(center, sum([&](DoubleCoord const& at) { return Op::term(x(at), center); }), count, args);
    }
    template <class Value>
    FUSEKIT_H double sum(Value const& value) const {
        return reduce(0.0, value, [](double a, double b) { return a + b; });
    }
};

/// For a plan whose head is a RowOp: computes the outputs of row `index`.
template <class BoundPlan, detail::OutputElement U>
FUSEKIT_H void row_double(BoundPlan const& bound, TensorView<double const> const& x, TensorView<U> const& y,
                          std::int64_t index) {
    using Op = typename BoundPlan::Plan::Head;
    using Steps = detail::RowSteps<Op>;
    using Epilogue = typename BoundPlan::Plan::Epilogue;
    Index<4> const shape = y.layout.shape;
    RowInDouble<Op> const own{{bound.head, shape}, shape, index};
    using Prologue = typename BoundPlan::Plan::Prologue;
    auto const value_with = [&]<bool stores>(DoubleCoord const& at, std::bool_constant<stores>) {
        auto const state = Prologue::template prepare<double>(at.k, bound.prologue);
        double const own_x = x(at.n, at.k, at.p, at.q);
        if constexpr (stores) return Prologue::apply(own_x, at, state, bound.prologue);
        else return Prologue::template apply_first<Prologue::size>(own_x, at, state, bound.prologue);
    };
    auto const row =
        own.parameters([&](DoubleCoord const& at) { return value_with(at, std::false_type{}); }, bound.head);
    for (std::int64_t i = 0; i < own.size(); ++i) {
        DoubleCoord const at = own.coord(i);
        auto const state = Steps::States::template prepare<double>(at.k, Steps::state_args(bound.head));
        double const result = Steps::apply(value_with(at, std::true_type{}), row, at, state, bound.head);
        y(at.n, at.k, at.p, at.q) =
            Epilogue::apply(result, at, Epilogue::template prepare<double>(at.k, bound.epilogue), bound.epilogue);
    }
}

/// Number of floats of scratch that the gradient of a RowOp needs on double: a State for each row.
template <class BoundPlan>
FUSEKIT_H std::int64_t row_states_floats(BoundPlan const& bound, Index<4> const& shape) {
    using Steps = detail::RowGradientSteps<typename BoundPlan::Plan::Head>;
    if (detail::has_no_elements(shape)) return 0;
    return detail::RowsOf<typename Steps::Op>(Steps::row_args(bound.head), shape).count(shape) *
           std::int64_t{sizeof(typename Steps::template State<double>) / sizeof(float)};
}

/// Gradient of a plan whose first operator is a RowOp: the States of all rows, the totals of all channels, then dx.
template <class BoundPlan, detail::OutputElement U>
FUSEKIT_H void row_gradient_double(Device::RunContext& context, BoundPlan const& bound,
                                   TensorView<double const> const& dy, TensorView<U> const& dx) {
    using Plan = typename BoundPlan::Plan;
    using Steps = detail::RowGradientSteps<typename Plan::Head>;
    using Op = typename Steps::Op;
    using State = typename Steps::template State<double>;
    using Total = typename Steps::template Total<double>;
    using Epilogue = typename Plan::Epilogue;
    Index<4> const shape = dx.layout.shape;
    if (detail::has_no_elements(shape)) return detail::save_empty_totals<double>(bound, shape);
    detail::RowsOf<Op> const rows(Steps::row_args(bound.head), shape);
    auto* const states = reinterpret_cast<State*>(context.scratch(row_states_floats(bound, shape)));
    auto const state_of = [&](std::int64_t k) {
        return Steps::States::template prepare<double>(k, Steps::Steps::state_args(bound.head));
    };
    auto const of_dy = [&](DoubleCoord const& at) { return dy(at.n, at.k, at.p, at.q); };
    auto const x = [&](DoubleCoord const& at) { return at.load(bound.head.x); };
    context.parallel_for(rows.count(shape), [&](std::int64_t index, int) {
        RowInDouble<Op> const own{rows, shape, index};
        State result{own.parameters(x, Steps::row_args(bound.head)), {}};
        auto const terms = [&](DoubleCoord const& at) {
            RowSums<double> sums{};
            Total unused{};
            Steps::add(unused, sums.g, sums.g_times_y, of_dy(at), x(at), result.row, at, state_of(at.k), bound.head);
            return sums;
        };
        result.sums = own.reduce(RowSums<double>{}, terms, [](RowSums<double> a, RowSums<double> const& b) {
            a.g += b.g, a.g_times_y += b.g_times_y;
            return a;
        });
        result.sums.count = static_cast<double>(own.size());
        states[index] = result;
    });
    std::int64_t const plane = shape[2] * shape[3];
    context.parallel_for(shape[1], [&](std::int64_t k, int) {
        auto const state = state_of(k);
        auto const epilogue = Epilogue::template prepare<double>(k, bound.epilogue);
        auto const each = [&](std::int64_t begin, std::int64_t end, auto const& f) {
            for (std::int64_t i = begin; i < end; ++i)
                f(DoubleCoord{{i / plane, k, i % plane / shape[3], i % shape[3]}},
                  states[Op::over_pixels ? i / plane * rows.groups + k / rows.channels : i]);
        };
        if (Steps::has_totals && Steps::saves_totals(bound.head))
            Steps::Steps::save(detail::pairwise(
                                   0, shape[0] * plane, detail::addends,
                                   [&](std::int64_t begin, std::int64_t end) {
                                       Total total{};
                                       each(begin, end, [&](DoubleCoord const& at, State const& of_row) {
                                           double no_sums[2] = {};
                                           Steps::add(total, no_sums[0], no_sums[1], of_dy(at), x(at), of_row.row, at,
                                                      state, bound.head);
                                       });
                                       return total;
                                   },
                                   detail::merged),
                               {0, k, 0, 0}, bound.head);
        each(0, shape[0] * plane, [&](DoubleCoord const& at, State const& of_row) {
            double const result = Steps::apply(of_dy(at), x(at), of_row, at, state, bound.head);
            dx(at.n, at.k, at.p, at.q) = Epilogue::apply(result, at, epilogue, bound.epilogue);
        });
    });
}

}  // namespace fusekit::host::detail
