// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/plan/gradient.hpp"
#include "fusekit/plan/plan.hpp"

namespace fusekit {

namespace detail {

/// Sentences of the assertions below, for plans that are selected or compiled at run time.
namespace backward_sentences {
inline constexpr char pointwise[] =
    "Backward: no Conv or Gemm in the plan: its gradients are separate plans, of TransposedConv and "
    "ConvWeightGradient";
inline constexpr char whole[] =
    "Backward: a pool's gradient has more elements than its dy, so it is another plan, of PoolGradient";
inline constexpr char slope[] =
    "Backward: this operator (Op) of the plan needs a slope with the parameters of its apply";
}  // namespace backward_sentences

template <class Op>
inline constexpr bool has_slope =
    MainloopOp<Op> || PoolingOp<Op> || DifferentiableRowOp<Op> || (!RowOp<Op> && Differentiable<Replayed<Op>>);

/// Type: the first operator of the plan that has no derivative, slope(); void if every operator has one.
template <class ThePlan>
struct WithoutSlope : std::type_identity<void> {};
template <class First, class... Rest>
struct WithoutSlope<FusedPlan<First, Rest...>>
    : std::conditional_t<has_slope<First>, WithoutSlope<FusedPlan<Rest...>>, std::type_identity<First>> {};

/// Static assertions that the plan of a Backward has no Conv or Gemm, and no pool, each with its own message.
template <class ThePlan>
consteval bool is_pointwise_plan() {
    constexpr bool pointwise = !ThePlan::has_mainloop, whole = !ThePlan::pools;
    static_assert(pointwise,
                  "Backward: no Conv or Gemm in the plan: its gradients are separate plans, of TransposedConv and "
                  "ConvWeightGradient");
    static_assert(whole,
                  "Backward: a pool's gradient has more elements than its dy, so it is another plan, of PoolGradient");
    return pointwise && whole;
}
/// Static assertion that no operator after a RowOp has parameters per pixel: their gradients are sums over the batch,
/// in another order than those of the RowOp's channels.
template <class... Ops>
consteval bool begins_with_rows(FusedPlan<Ops...> const*) {
    constexpr bool first = !(RowOp<Ops> || ...) || RowOp<TypeAt<0, Ops..., Elementwise>>;
    static_assert(first,
                  "Backward: no operator before a norm of rows: store its result, and bind the gradient of the plan "
                  "from the norm on to it");
    return first;
}
template <class... Ops>
consteval bool has_channel_sums(FusedPlan<Ops...> const*) {
    constexpr bool summed = !(RowOp<Ops> || ...) || !(totals_per_pixel<Ops>() || ...);
    static_assert(summed, "Backward: after a norm of rows, operators have parameters per channel, not per pixel");
    return summed;
}
template <class Op>
consteval bool is_differentiable() {
    constexpr bool whole = std::is_void_v<Op>;
    static_assert(whole, "Backward: this operator (Op) of the plan needs a slope with the parameters of its apply");
    return whole;
}

/// Type of Backward<ThePlan>. This primary template has no operators: it is selected only after an assertion above has
/// failed, so that the assertion's message is the only error.
template <class ThePlan>
struct BackwardOf;
template <class... Ops>
struct BackwardOf<FusedPlan<Ops...>> {
    using Plan = FusedPlan<>;

    FUSEKIT_H static constexpr BoundPlan<Plan> bind(BoundPlan<FusedPlan<Ops...>> const&, AnyActivations const&,
                                                    typename GradientsOf<Ops>::Type const&...) {
        return {};
    }
    FUSEKIT_H static constexpr BoundPlan<Plan> bind(BoundPlan<FusedPlan<Ops...>> const&, AnyActivations const&) {
        return {};
    }
};

template <class... Ops>
    requires(Fusable<Ops...> && !FusedPlan<Ops...>::has_mainloop && !FusedPlan<Ops...>::pools &&
             (!(RowOp<Ops> || ...) || !(totals_per_pixel<Ops>() || ...)) && (has_slope<Ops> && ...))
struct BackwardOf<FusedPlan<Ops...>> : FusedPlan<Gradient<Ops...>> {
    using Plan = FusedPlan<Gradient<Ops...>>;

    [[nodiscard("bind runs nothing: call the bound plan, gradient(device, dy, dx)")]]
    FUSEKIT_H static constexpr BoundPlan<Plan> bind(BoundPlan<FusedPlan<Ops...>> const& layer, AnyActivations const& x,
                                                    typename GradientsOf<Ops>::Type const&... gradients) {
        BoundPlan<Plan> bound{{arguments(layer), x, {{gradients}...}}, {}};
        if constexpr (Plan::of_rows) {  // views of three modes are matrices
            read_view_as_matrices<false>(bound.head.x);
            each_gradient(bound.head.gradients, [](auto& of_operator) {
                if constexpr (requires { of_operator.z.from; }) read_view_as_matrices<false>(of_operator.z);
            });
        }
        return bound;
    }

    /// Binds the gradient with respect to x alone: the bound plan writes no parameter gradients.
    [[nodiscard("bind runs nothing: call the bound plan, gradient(device, dy, dx)")]]
    FUSEKIT_H static constexpr BoundPlan<Plan> bind(BoundPlan<FusedPlan<Ops...>> const& layer, AnyActivations const& x)
        requires(sizeof...(Ops) > 0)
    {
        return bind(layer, x, typename GradientsOf<Ops>::Type{}...);
    }

private:
    FUSEKIT_H static constexpr void each_gradient(KernelTuple<typename GradientsOf<Ops>::Type...>& gradients,
                                                  auto const& f) {
        [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            (f(get<Nth>(gradients)), ...);
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    }
    FUSEKIT_H static constexpr KernelTuple<typename Replayed<Ops>::Args...> arguments(
        BoundPlan<FusedPlan<Ops...>> const& layer) {
        return [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            return KernelTuple<typename Replayed<Ops>::Args...>{{FusedPlan<Ops...>::template argument<Nth>(layer)}...};
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    }
};

}  // namespace detail

/// Gradient of a pointwise plan, derived from the plan's type: maps dy = dL/dy to dx = dL/dx, and computes
/// dL/dparameter for every parameter that has a gradient. The forward run saves only its input x and, if the plan
/// computes batch statistics, saved_mean and saved_inverse_deviation; the backward run recomputes intermediate values
/// from x; of a plan that begins with a norm of rows or a softmax, also the row's statistics.
///
///     auto backward = Backward<Layer>::bind(layer, x, {.scale = dscale, .shift = dshift}, {});
///     backward(device, dy, dx);
///
/// Arguments of bind: `layer`, the bound plan of the forward run; x, the input of that run; then, for every operator of
/// the plan, optional views to which its parameter gradients are written. A backward run does not write the additional
/// outputs of the forward run (of Store, for example) again. The summation order is fixed: results are bitwise
/// identical from run to run.
template <class ThePlan>
using Backward = detail::Checked<detail::BackwardOf<ThePlan>, detail::is_pointwise_plan<ThePlan>(),
                                 detail::begins_with_rows(static_cast<ThePlan const*>(nullptr)),
                                 detail::has_channel_sums(static_cast<ThePlan const*>(nullptr)),
                                 detail::is_differentiable<typename detail::WithoutSlope<ThePlan>::type>()>;

}  // namespace fusekit
