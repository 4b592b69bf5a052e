// SPDX-License-Identifier: MIT
#pragma once

#include "plans.hpp"

/// Converts calls to bound plans, for units that include a backend.
namespace fusekit_torch {

template <fk::Element T>
fk::TensorView<T> output(Output const& of) {
    return {static_cast<T*>(of.data), of.layout};
}
inline fk::TensorView<float, 1> view(Floats const& of) { return {of.data, {{{of.count}}, {{of.stride}}}}; }
template <fk::Element T, int Rank>
fk::TensorView<T const, Rank> typed(fk::AnyView<Rank> const& of) {
    return {static_cast<T const*>(of.data()), of.layout};
}

/// Calls run(bound, x, y) with the plan of a call.
template <fk::Element T, class Mode>
void bind(ConvCall const& call, typename Mode::Args const& activation, auto const& run) {
    using Conv = fk::Conv<fk::dynamic>;
    auto const x = typed<T>(call.x);
    auto const y = output<T>(call.y);
    if (call.residual)
        run(fk::Plan<Conv, fk::Bias, fk::Residual, fk::Activation<Mode>>::bind({call.weights, call.filter}, {call.bias},
                                                                               {*call.residual}, activation),
            x, y);
    else
        run(fk::Plan<Conv, fk::Bias, fk::Activation<Mode>>::bind({call.weights, call.filter}, {call.bias}, activation),
            x, y);
}

/// Calls use(bound) with the plan of a batch norm.
template <class Mode>
void with_norm(NormCall const& call, typename Mode::Args const& activation, auto const& use) {
    if (call.mean.data)
        use(fk::Plan<fk::BatchNormInference<fk::Spatial>, fk::Activation<Mode>>::bind(
            {view(call.mean), view(call.variance), view(call.scale), view(call.shift), call.epsilon}, activation));
    else
        use(fk::Plan<fk::BatchNormTraining<fk::Spatial>, fk::Activation<Mode>>::bind(
            {.scale = view(call.scale),
             .shift = view(call.shift),
             .saved_mean = view(call.saved_mean),
             .saved_inverse_deviation = view(call.saved_inverse_deviation),
             .running_mean = view(call.running_mean),
             .running_variance = view(call.running_variance),
             .momentum = 1,
             .epsilon = call.epsilon},
            activation));
}
template <fk::Element T, class Mode>
void bind(NormCall const& call, typename Mode::Args const& activation, auto const& run) {
    with_norm<Mode>(call, activation, [&](auto const& bound) { run(bound, typed<T>(call.x), output<T>(call.y)); });
}
template <fk::Element T>
void bind(NormGradientCall const& call, auto const& run) {
    with_norm<fk::Clamp>(
        call.forward, bounds_of(call.forward.activation), [&]<class Plan>(fk::BoundPlan<Plan> const& bound) {
            run(fk::Backward<Plan>::bind(bound, call.forward.x, {view(call.scale), view(call.shift)}, {}),
                typed<T>(call.dy), output<T>(call.dx));
        });
}
template <fk::Element T>
void bind(StatisticsCall const& call, auto const& run) {
    run(fk::Plan<fk::ChannelStatistics>::bind({.mean = view(call.mean), .variance = view(call.variance)}),
        typed<T>(call.x), fk::no_output);
}
inline void bind(MergeCall const& call, auto const& run) {
    std::int64_t const k = call.channels, row = 2 * k + 1;
    fk::Layout<4> const of_parts{{{call.parts, k, 1, 1}}, {{row, 1, 1, 1}}};
    fk::TensorView<float const> const means(call.gathered, of_parts), variances(call.gathered + k, of_parts);
    fk::TensorView<float const, 1> const count(call.gathered + 2 * k, {{{call.parts}}, {{row}}});
    run(fk::Plan<fk::MergedStatistics>::bind({.variances = variances,
                                              .count = count,
                                              .mean = view(call.mean),
                                              .variance = view(call.variance),
                                              .total_count = view(call.total_count),
                                              .running_mean = view(call.running_mean),
                                              .running_variance = view(call.running_variance),
                                              .momentum = call.momentum}),
        means, fk::no_output);
}
template <fk::Element T>
void bind(NormSumsCall const& call, auto const& run) {
    using Plan = fk::Plan<fk::BatchNormInference<fk::Spatial>, fk::Activation<fk::Clamp>>;
    NormCall const& of = call.forward;
    auto const bound = Plan::bind({view(of.mean), view(of.variance), view(of.scale), view(of.shift), of.epsilon},
                                  bounds_of(of.activation));
    run(fk::Backward<Plan>::bind(bound, of.x, {view(call.scale), view(call.shift)}, {}), typed<T>(call.dy),
        fk::no_output);
}
template <fk::Element T>
void bind(SynchronizedGradientCall const& call, auto const& run) {
    using Plan = fk::Plan<fk::BatchNormSynchronized, fk::Activation<fk::Clamp>>;
    NormCall const& of = call.forward;
    auto const bound = Plan::bind({.mean = view(of.mean),
                                   .variance = view(of.variance),
                                   .scale = view(of.scale),
                                   .shift = view(of.shift),
                                   .scale_gradient = view(call.scale_gradient),
                                   .shift_gradient = view(call.shift_gradient),
                                   .total_count = view(call.total_count),
                                   .epsilon = of.epsilon},
                                  bounds_of(of.activation));
    run(fk::Backward<Plan>::bind(bound, of.x), typed<T>(call.dy), output<T>(call.dx));
}
template <fk::Element T, class Mode>
void bind(ActivationGradientCall const& call, typename Mode::Args const& activation, auto const& run) {
    using Plan = fk::Plan<fk::Activation<Mode>>;
    run(fk::Backward<Plan>::bind(Plan::bind(activation), call.x), typed<T>(call.dy), output<T>(call.dx));
}
template <fk::Element T>
void bind(PoolCall const& call, auto const& run) {
    auto const x = typed<T>(call.x);
    auto const y = output<T>(call.y);
    if (call.kind == PoolKind::max_3x3)
        run(fk::Plan<fk::Pool<fk::Max, fk::filter(3, 3).stride(2).pad(1)>>::bind({}), x, y);
    else run(fk::Plan<fk::GlobalAverage>::bind({}), x, y);
}

}  // namespace fusekit_torch
