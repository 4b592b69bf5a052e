// SPDX-License-Identifier: MIT
//
// Plans of every form, compiled with the warnings that a user's project may enable, and without exceptions. Nothing
// runs. With HIP defined they use the HIP backend, with any header's HIP names; with MATRIX_UNITS too, plans that have
// kernels for sm_90a alone. With ONE_TYPE a plan of the HIP backend that several element types have is compiled for
// one.
#ifdef HIP
#include <fusekit/hip.hpp>
using Device = fusekit::hip::Device;
#else
#include <fusekit/fusekit.hpp>
using Device = fusekit::host::Device;
#endif
#include "support/catalogue.hpp"

namespace fk = fusekit;

template <class T, int Rank = 4>
struct Run {
    Device& device;
    fk::TensorView<T const, Rank> x;
    fk::TensorView<T, Rank> y;

    template <class BoundPlan>
    void operator()(BoundPlan const& bound) const {
        bound(device, x, y);
        auto const made = bound(device, x);
        if (auto const run = bound.try_prepare(device, x, y)) {
            if (fk::Refusal const refusal = run->try_run(device, x, y)) return;
            (*run)(device, x.data, y.data);
        }
        static_cast<void>(made.size());
        if constexpr (Rank == 4) static_cast<void>(fk::describe(bound, x.layout.shape).mermaid());
    }
};

using Channels = fk::TensorView<float, 1>;

template <fk::Filter geometry, class T>
void gradients(Run<T> const& run, fk::TensorView<T const> w, Channels b) {
    run(fk::Plan<fk::ConvWeightGradient<geometry>>::bind({.dy = run.x, .bias_gradient = b}));
    run(fk::Plan<fk::TransposedConv<geometry>>::bind({.weights = w}));
}

template <fk::Filter geometry, class T, int Rank>
void convolutions(Run<T, Rank> const& run, fk::TensorView<T const, Rank> w, Channels b) {
    using Conv = fk::Conv<geometry>;
    run(fk::Plan<Conv, fk::Bias, fk::Activation<fk::Elu>>::bind({.weights = w}, {.bias = b}, {.alpha = 1.0f}));
}

/// One plan for each schedule of a convolution, and one without.
template <class T>
void schedules(Run<T> const& run, fk::TensorView<T const> w, Channels c) {
    convolutions<fk::filter(3, 3).pad(1)>(run, w, c);
    convolutions<fk::filter(3, 3).groups(8)>(run, w, c);
    run(fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = fk::filter(3, 3)}));
    run(fk::Plan<fk::Conv<fk::filter(3, 3)>, fk::Pool<fk::Max, 2, 2>>::bind({.weights = w}, {}));
    run(fk::Plan<fk::Conv<fk::filter(3, 3)>, fk::ChannelStatistics>::bind({.weights = w},
                                                                          {.mean = c, .variance = c, .scratch = c}));
    run(fk::Plan<fk::Residual, fk::Scale, fk::Store, fk::StoreMask>::bind(
        {.z = run.x, .alpha2 = 1.0f}, {.factor = 2.0f}, {.values = run.y}, {.mask = run.y}));
}

template <class T>
void training(Run<T> const& run, Channels c) {
    using Spatial = fk::Plan<fk::BatchNormTraining<fk::Spatial>, fk::Activation<fk::Relu>>;
    auto const spatial = Spatial::bind({.scale = c, .shift = c, .saved_mean = c, .saved_inverse_deviation = c}, {});
    run(spatial);
    run(fk::Backward<Spatial>::bind(spatial, run.x, {.scale = c, .shift = c}, {}));
}

template <class T>
void images(Run<T> const& run, fk::TensorView<T const> w, Channels c, fk::TensorView<float, 3> map) {
    schedules(run, w, c);
    convolutions<fk::filter(1, 1)>(run, w, c);
    run(fk::Plan<fk::TransposedConv<fk::filter(3, 3).groups(8).stride(2)>, fk::Bias>::bind({.weights = w},
                                                                                           {.bias = c}));
    run(fk::Plan<fk::ChannelStatistics>::bind({.mean = c, .variance = c}));
    run(fk::Plan<fk::Pool<fk::Average, 2, 2>>::bind({}));
    run(fk::Plan<fk::Pool<fk::Average, fk::filter(3, 3).stride(2).pad(1)>>::bind({}));
    run(fk::Plan<fk::GlobalAverage>::bind({}));
    run(fk::Plan<fk::BatchNormInference<fk::Spatial>, fk::Activation<fk::Relu>>::bind(
        {.mean = c, .variance = c, .scale = c, .shift = c}, {}));
    run(fk::Plan<fk::BatchNormInference<fk::PerActivation>>::bind(
        {.mean = map, .variance = map, .scale = map, .shift = map}));
    training(run, c);
    using Training = fk::Plan<fk::BatchNormTraining<fk::PerActivation>>;
    auto const pixelwise =
        Training::bind({.scale = map, .shift = map, .saved_mean = map, .saved_inverse_deviation = map});
    run(pixelwise);
    run(fk::Backward<Training>::bind(pixelwise, run.x, {.scale = map, .shift = map}));
}

template <class T, int Rank>
void matrices(Run<T, Rank> const& run, fk::TensorView<T const, 2> w, Channels c) {
    using Norm = fk::BatchNormInference<fk::Spatial>;
    using Layer = fk::Plan<Norm, fk::Gemm, fk::Bias, fk::Residual, fk::Store, fk::ChannelStatistics>;
    auto const layer = Layer::bind({.mean = c, .variance = c, .scale = c, .shift = c}, {.weights = w}, {.bias = c},
                                   {.z = run.x}, {.values = run.y}, {.mean = c, .variance = c, .scratch = c});
    run(layer);
    static_cast<void>(fk::describe(layer, run.x.layout).mermaid());
    run(fk::Plan<fk::BatchedGemm, fk::Bias>::bind({.weights = run.x}, {.bias = c}));
}

template <class T, class... Modes>
void activations(Run<T> const& run, std::tuple<Modes...> const*) {
    auto const each = [&]<class Mode>(Mode) {
        using Plan = fk::Plan<fk::Activation<Mode>>;
        auto const layer = Plan::bind(typename fk::Activation<Mode>::Args{});
        run(layer);
        run(fk::Backward<Plan>::bind(layer, run.x, {}));
    };
    (each(Modes{}), ...);
}

/// x, weights and y of three types; and no y.
template <class T, class Y, class W>
void types(Run<T> const& run, fk::TensorView<Y> y, fk::TensorView<W const> w, Channels c) {
    using Conv = fk::Conv<fk::filter(3, 3).pad(1), fk::Weights<W>>;
    auto const convolution =
        fk::Plan<Conv, fk::Requantize, fk::Store>::bind({.weights = w}, {.scale = c}, {.values = y});
    auto const pointwise = fk::Plan<fk::Scale, fk::Store>::bind({.factor = 2.0f}, {.values = y});
    auto const each = [&](auto const& bound) {
        bound(run.device, run.x, y);
        bound(run.device, run.x, fk::no_output);
        static_cast<void>(bound.template as<Y>(run.device, run.x));
        bound.prepare(run.device, run.x, fk::no_output)(run.device, run.x, fk::no_output);
        bound.template prepare<T, Y>(run.device, run.x.layout, y.layout)(run.device, run.x, y);
    };
    each(convolution), each(pointwise);
    each(fk::Plan<fk::BatchNormTraining<fk::Spatial>>::bind({.scale = c, .shift = c, .saved_mean = c}));
}

void all(Run<float> const& floats, Run<fk::half> const& halves, [[maybe_unused]] Run<fk::bfloat16> const& bfloats,
         Run<fk::int8> const& ints, [[maybe_unused]] Run<float, 3> const& signals,
         [[maybe_unused]] Run<float, 5> const& volumes, [[maybe_unused]] Run<fk::e4m3> const& float8s,
         Run<float, 2> const& matrix, Channels c, [[maybe_unused]] fk::TensorView<float, 3> map) {
#ifdef MATRIX_UNITS
#ifdef ONE_TYPE  // schedules of half, below
    convolutions<fk::filter(3, 3).pad(1)>(floats, floats.x, c);
#else
    schedules(floats, floats.x, c);
#endif
    training(floats, c);
#else
    images(floats, floats.x, c, map);
#endif
#ifndef HIP
    images(halves, halves.x, c, map);
    images(bfloats, bfloats.x, c, map);
#else  // matrix units multiply halves; kernels of bfloat16 are those of half, and all others those of float
#if defined(ONE_TYPE) && !defined(MATRIX_UNITS)  // schedules of float, above
    convolutions<fk::filter(3, 3).pad(1)>(halves, halves.x, c);
#else
    schedules(halves, halves.x, c);
#endif
    gradients<fk::filter(3, 3).pad(1)>(floats, floats.x, c);
    gradients<fk::filter(3, 3).pad(1)>(halves, halves.x, c);
    convolutions<fk::filter(3, 3).pad(1)>(float8s, float8s.x, c);
#endif
    ints(fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Requantize>::bind({.weights = ints.x},
                                                                           {.scale = c, .zero_point = 1.0f}));
    matrices(matrix, matrix.x, c);
#ifndef MATRIX_UNITS
    types(halves, floats.y, ints.x, c);
#ifndef ONE_TYPE
    types(floats, ints.y, halves.x, c);
#endif
    convolutions<fk::filter(3).pad(1)>(signals, signals.x, c);
    convolutions<fk::filter(3, 3, 3).pad(1)>(volumes, volumes.x, c);
    matrices(signals, matrix.x, c);
#endif
#ifndef HIP
    activations(floats, static_cast<test::catalogue::Modes const*>(nullptr));
#elif !defined(MATRIX_UNITS)  // all modes: tests/amd and, with nvcc, the runtime's BiasActivation
    activations(floats, static_cast<std::tuple<fk::Relu, fk::Power> const*>(nullptr));
#endif
}
