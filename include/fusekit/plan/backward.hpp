// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/plan/gradient.hpp"
#include "fusekit/plan/plan.hpp"

namespace fusekit {

namespace detail {

/// Refuses a Conv, a pool, and an operator without a slope, in one sentence each.
template <class... Ops>
consteval bool keeps_places() {
    constexpr bool pointwise = !Fused<Ops...>::has_conv, whole = !Fused<Ops...>::pools;
    static_assert(pointwise, "Backward: a Conv's gradients are convolutions of their own, other plans");
    static_assert(whole, "Backward: a pool's gradient has more elements than its dy, so it is another plan");
    return true;
}
template <class Op>
consteval bool differentiable() {
    constexpr bool has_slope = MainloopOp<Op> || PoolingOp<Op> || Differentiable<Replayed<Op>>;
    static_assert(has_slope, "Backward: this operator (Op) of the plan has no slope, in the form of its apply");
    return true;
}

}  // namespace detail

/// The gradient of a pointwise plan, derived from its type: from dy = dL/dy to dx = dL/dx, and dL/dparameter of every
/// parameter that has a gradient. Nothing is to be saved but the plan's input x, and batch statistics where the plan
/// computes them (saved_mean, saved_inverse_deviation): all values between are computed again from x.
///
///     auto backward = Backward<Layer>::bind(layer, x, {.scale = dscale, .shift = dshift}, {});
///     backward(device, dy, dx);
///
/// `layer` is what the forward run was; then x, and for every operator of the plan the views that its gradients are
/// written to, each of which may be left out. What the forward run has written beside y is not written again. Sums are
/// of a fixed order: the same numbers come out of every run.
template <class ThePlan>
struct Backward;

template <class... Ops>
struct Backward<Fused<Ops...>> : Fused<Gradient<Ops...>> {
    static_assert(detail::keeps_places<Ops...>() && (detail::differentiable<Ops>() && ...));
    using Plan = Fused<Gradient<Ops...>>;

    [[nodiscard("bind runs nothing: call what it gives, gradient(device, dy, dx)")]]
    static constexpr Bound<Plan> bind(Bound<Fused<Ops...>> const& layer, AnyActivations const& x,
                                      typename detail::GradientsOf<Ops>::Type const&... gradients) {
        return {{arguments(layer), x, {{gradients}...}}, {}};
    }

    /// dx alone.
    [[nodiscard("bind runs nothing: call what it gives, gradient(device, dy, dx)")]]
    static constexpr Bound<Plan> bind(Bound<Fused<Ops...>> const& layer, AnyActivations const& x)
        requires(sizeof...(Ops) > 0)
    {
        return bind(layer, x, typename detail::GradientsOf<Ops>::Type{}...);
    }

private:
    static constexpr Pack<typename detail::Replayed<Ops>::Args...> arguments(Bound<Fused<Ops...>> const& layer) {
        return [&]<int... I>(std::integer_sequence<int, I...>) {
            return Pack<typename detail::Replayed<Ops>::Args...>{{Fused<Ops...>::template argument<I>(layer)}...};
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    }
};

}  // namespace fusekit
