// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/plan/evaluate.hpp"
#include "fusekit/plan/plan.hpp"

namespace fusekit::host {

namespace detail {

template <class Op>
consteval bool computes_in_double() {
    constexpr bool computes = Uniform<Op, double> || Located<Op, double, DoubleCoord> || Channelwise<Op, double> ||
                              Placewise<Op, double, DoubleCoord>;
    static_assert(computes,
                  "a plan on double computes in double, and this operator (Op) takes float alone: make the type of the "
                  "x of its apply a template parameter V");
    return computes;
}

template <class Plan>
consteval bool has_no_statistics() {
    constexpr bool none = !Plan::has_reduction;
    static_assert(none, "statistics and gradients are totalled in float: a plan of them takes no double");
    return none;
}

template <class... Ops>
consteval bool compute_in_double(Epilogue<Ops...> const*) {
    return (computes_in_double<Ops>() && ...);
}

}  // namespace detail

/// A plan on double, in double throughout: every element by its definition, rows shared out over the threads. A path
/// to check others against, whatever the strides, and no fast one.
template <class Bound>
void run_double(Device::Turn& turn, Bound const& bound, TensorView<double const> const& x,
                TensorView<double> const& y) {
    using Epilogue = typename Bound::Plan::Epilogue;
    if constexpr (detail::has_no_statistics<typename Bound::Plan>() &&
                  detail::compute_in_double(static_cast<Epilogue*>(nullptr))) {
        Index<4> const shape = y.layout.shape;
        turn.parallel_for(shape[0] * shape[1] * shape[2], [&](std::int64_t row, int) {
            DoubleCoord at{{row / (shape[1] * shape[2]), row / shape[2] % shape[1], row % shape[2], 0}};
            auto const state = Epilogue::template prepare<double>(at.k, bound.epilogue);
            for (; at.q < shape[3]; ++at.q) y(at.n, at.k, at.p, at.q) = evaluate_at(bound, x, at, state);
        });
    }
}

}  // namespace fusekit::host
