// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/rows_double.hpp"
#include "fusekit/plan/empty.hpp"
#include "fusekit/plan/evaluate.hpp"
#include "fusekit/plan/pairwise.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/plan/reduction.hpp"

namespace fusekit::host {

namespace detail {

template <class Op>
consteval bool computes_in_double() {
    constexpr bool computes = Uniform<Op, double> || Located<Op, double, DoubleCoord> || Channelwise<Op, double> ||
                              Pixelwise<Op, double, DoubleCoord>;
    static_assert(computes,
                  "a plan on double computes in double, and this operator (Op) takes float alone: make the type of the "
                  "x of its apply a template parameter V");
    return computes;
}

template <class... Ops>
consteval bool compute_in_double(detail::Epilogue<Ops...> const*) {
    return (computes_in_double<Ops>() && ...);
}

/// For a plan that reduces: totals the values of channel `first.k` or, with per-pixel statistics, those of pixel
/// `first` in all images, and computes the outputs that depend on this total.
template <class BoundPlan, detail::OutputElement U>
FUSEKIT_H void reduce_double(BoundPlan const& bound, TensorView<double const> const& x, TensorView<U> const& y,
                             DoubleCoord const& first) {
    using Steps = detail::ReductionSteps<typename BoundPlan::Plan::Head>;
    using Epilogue = typename BoundPlan::Plan::Epilogue;
    Index<4> const shape = y.layout.shape;
    std::int64_t const pixels = Steps::per_pixel ? 1 : shape[2] * shape[3], count = shape[0] * pixels;
    auto const each = [&](std::int64_t begin, std::int64_t end, auto const& f) {
        for (std::int64_t i = begin; i < end; ++i) {
            DoubleCoord at = first;
            at.n = i / pixels;
            if constexpr (!Steps::per_pixel) at.p = i % pixels / shape[3], at.q = i % shape[3];
            double operand = 0;
            if constexpr (Steps::has_operand) operand = at.load(bound.head.x);
            f(x(at.n, at.k, at.p, at.q), operand, at);
        }
    };
    auto const state = Steps::States::template prepare<double>(first.k, Steps::state_args(bound.head));
    auto const epilogue = Epilogue::template prepare<double>(first.k, bound.epilogue);
    typename Steps::template Prepared<double> prepared{};
    if constexpr (Steps::has_totals) {
        auto const add = [&](std::int64_t begin, std::int64_t end) {
            typename Steps::template Accumulator<double> accumulator{};
            each(begin, begin + 1, [&](double value, double, DoubleCoord const&) { accumulator.start(value); });
            each(begin, end, [&](double value, double operand, DoubleCoord const& at) {
                Steps::add(accumulator, value, operand, at, state, bound.head);
            });
            return accumulator.total(static_cast<double>(end - begin));
        };
        auto const total = detail::pairwise(0, count, detail::addends, add, detail::merged);
        Steps::save(total, first, bound.head);
        if constexpr (Steps::waits) prepared = Steps::finish(total, count, state, first, bound.head);
    }
    each(0, count, [&](double value, double operand, DoubleCoord const& at) {
        double const result = Steps::apply(value, operand, at, state, prepared, bound.head);
        y(at.n, at.k, at.p, at.q) = Epilogue::apply(result, at, epilogue, bound.epilogue);
    });
}

}  // namespace detail

/// Runs a plan on double: every element by its definition, in double, with rows of y distributed over the threads. A
/// reference for any strides, not a fast path.
template <class BoundPlan, detail::OutputElement U>
FUSEKIT_H void run_double(Device::RunContext& context, BoundPlan const& bound, detail::ImageView<double const> const& x,
                          detail::ImageView<U> const& y) {
    using Plan = typename BoundPlan::Plan;
    using Epilogue = typename Plan::Epilogue;
    Index<4> const shape = y.layout.shape;
    CollapsedShape<4> const values = Plan::pools ? bound.epilogue_shape(x.shape()) : y.shape();
    if constexpr (!detail::compute_in_double(static_cast<Epilogue*>(nullptr)) ||
                  !detail::compute_in_double(static_cast<typename Plan::Prologue*>(nullptr))) {
        return;
    } else if constexpr (Plan::head_kind == detail::HeadKind::reduction) {
        using Steps = detail::ReductionSteps<typename Plan::Head>;
        if constexpr (detail::compute_in_double(static_cast<typename Steps::States*>(nullptr))) {
            if (detail::has_no_elements(shape)) return detail::save_empty_totals<double>(bound, shape);
            std::int64_t const plane = Steps::per_pixel ? shape[2] * shape[3] : 1;
            context.parallel_for(shape[1] * plane, [&](std::int64_t item, int) {
                std::int64_t const pixel = item % plane;
                detail::reduce_double(bound, x, y, {{0, item / plane, pixel / shape[3], pixel % shape[3]}});
            });
        }
    } else if constexpr (Plan::head_kind == detail::HeadKind::rows) {
        context.parallel_for(detail::RowsOf<typename Plan::Head>(bound.head, shape).count(shape),
                             [&](std::int64_t index, int) { detail::row_double(bound, x, y, index); });
    } else if constexpr (Plan::head_kind == detail::HeadKind::row_gradient) {
        if constexpr (detail::compute_in_double(
                          static_cast<typename detail::RowGradientSteps<typename Plan::Head>::States*>(nullptr)))
            detail::row_gradient_double(context, bound, x, y);
    } else if constexpr (Plan::totals_tiles) {
        using Collector = detail::Collector<Epilogue>;
        context.parallel_for(shape[1], [&](std::int64_t k, int) {
            auto const state = Epilogue::template prepare<double>(k, bound.epilogue);
            auto const add = [&](std::int64_t begin, std::int64_t end) {
                typename Collector::Op::template Accumulator<double> accumulator{};
                detail::each_row(begin, end, shape[3], [&](std::int64_t row, std::int64_t first, std::int64_t last) {
                    for (DoubleCoord at{{row / shape[2], k, row % shape[2], first}}; at.q < last; ++at.q)
                        y(at.n, at.k, at.p, at.q) = detail::evaluate_at(bound, x, values, at, state,
                                                                        [&](double value) { accumulator.add(value); });
                });
                return accumulator.total(static_cast<double>(end - begin));
            };
            auto const total =
                detail::pairwise(0, shape[0] * shape[2] * shape[3], detail::addends, add, detail::merged);
            Collector::Op::save(total, {0, k, 0, 0}, Collector::args(bound.epilogue));
        });
    } else {
        if constexpr (Plan::has_weight_gradient)
            // without channels of x there are no weights, but the bias still has a gradient
            if (detail::has_no_elements(shape)) {
                context.parallel_for(
                    shape[0], [&](std::int64_t k, int) { detail::save_bias_gradient<double, DoubleCoord>(bound, k); });
                return;
            }
        context.parallel_for(shape[0] * shape[1] * shape[2], [&](std::int64_t row, int) {
            DoubleCoord at{{row / (shape[1] * shape[2]), row / shape[2] % shape[1], row % shape[2], 0}};
            auto const state = Epilogue::template prepare<double>(at.k, bound.epilogue);
            for (; at.q < shape[3]; ++at.q)
                y(at.n, at.k, at.p, at.q) = detail::evaluate_at(bound, x, values, at, state);
        });
    }
}

}  // namespace fusekit::host
