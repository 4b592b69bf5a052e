// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/measure.hpp"
#include "support/rotation.hpp"
#include "support/sample_check.hpp"

namespace bench {

namespace fk = fusekit;

inline fk::Layout<4> activations(Extents const& e) {
    return e.channels_last ? fk::nhwc(e.n, e.h, e.w, e.c) : fk::nchw(e.n, e.c, e.h, e.w);
}

template <class T, class Device, int Rank>
std::vector<T> to_host(fk::Tensor<T, Device, Rank> const& tensor) {
    std::vector<T> values(static_cast<std::size_t>(tensor.layout().span()));
    tensor.copy_to(values.data());
    return values;
}

namespace detail {

/// Checks, then times `fused(x, y)` and `unfused(x, y)`. `stores`: number of times the unfused chain stores an element.
template <class T, class Device, class Fused, class Unfused, class Oracle>
Measurement compare(Settings const& settings, Rotation<T, Device>& io, Extents const& output, int stores,
                    Fused const& fused, Unfused const& unfused, Oracle const& oracle) {
    Subject const run_fused = [&](std::int64_t call) { fused(io.x(call), io.y(call)); };
    Subject const run_unfused = [&](std::int64_t call) { unfused(io.x(call), io.y(call)); };
    auto const check = [&](Subject const& run, int roundings) {
        io.poison_output(0);
        run(0);
        return check_samples(to_host(io.y(0)), output, settings.samples, roundings, oracle);
    };
    Verdict const fused_verdict = check(run_fused, 1), unfused_verdict = check(run_unfused, stores);
    std::vector<double> const medians = settings.medians({run_unfused, run_fused}, io.size());
    return {medians[0], medians[1], fused_verdict, unfused_verdict};
}

}  // namespace detail

/// Conv, Bias, Relu: as one plan, and as three with two tensors between them. `Filter` is the layer's.
template <class T, fk::Filter<2> Filter, class Device>
Measurement measure_conv(Device& device, ConvLayer const& layer, Settings const& settings) {
    using Conv = fk::Conv<Filter>;
    using Relu = fk::Activation<fk::Relu>;
    Extents const input{settings.of.batch, layer.c, layer.h, layer.w, settings.of.channels_last};
    Extents const output{settings.of.batch, layer.k, layer.p(), layer.q(), settings.of.channels_last};
    Extents const filter{layer.k, layer.c, layer.r, layer.s, settings.of.channels_last};

    Rotation<T, Device> io(device, activations(input), activations(output), settings.rotated_bytes);
    auto const weights = fk::random<T>(device, activations(filter), 2);
    auto const bias = fk::random<T>(device, fk::channels(layer.k), 3);
    fk::Tensor<T, Device> convolved(device, activations(output)), biased(device, activations(output));

    auto const fused = fk::Plan<Conv, fk::Bias, Relu>::bind({.weights = weights}, {.bias = bias}, {});
    auto const only_conv = fk::Plan<Conv>::bind({.weights = weights});
    auto const only_bias = fk::Plan<fk::Bias>::bind({.bias = bias});
    auto const only_relu = fk::Plan<Relu>::bind({});

    auto const x = io.host_input(), w = to_host(weights), b = to_host(bias);
    auto const oracle = [&](std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q) {
        double sum = 0, squares = 0;
        for (int r = 0; r < layer.r; ++r)
            for (int s = 0; s < layer.s; ++s) {
                std::int64_t const row = p * layer.stride - layer.pad + r, column = q * layer.stride - layer.pad + s;
                if (row < 0 || row >= layer.h || column < 0 || column >= layer.w) continue;
                for (int c = 0; c < layer.c; ++c) {
                    double const product = static_cast<double>(static_cast<float>(x[input.at(n, c, row, column)])) *
                                           static_cast<double>(static_cast<float>(w[filter.at(k, c, r, s)]));
                    sum += product;
                    squares += product * product;
                }
            }
        double const shift = static_cast<float>(b[static_cast<std::size_t>(k)]);
        return Expected{std::max(sum + shift, 0.0), std::fabs(sum) + std::fabs(shift), squares + shift * shift,
                        std::int64_t{layer.c} * layer.r * layer.s + 1};
    };
    return detail::compare(
        settings, io, output, 3, [&](auto& in, auto& out) { fused(device, in, out); },
        [&](auto& in, auto& out) {
            only_conv(device, in, convolved);
            only_bias(device, convolved, biased);
            only_relu(device, biased, out);
        },
        oracle);
}

/// BatchNormInference<Mode>, Relu: as one plan, and as two with a tensor between them.
template <class T, class Mode, class Device, int Rank>
Measurement measure_norm(Device& device, NormLayer const& layer, fk::Layout<Rank> const& statistics,
                         Settings const& settings) {
    using Norm = fk::BatchNormInference<Mode>;
    using Relu = fk::Activation<fk::Relu>;
    Extents const shape{settings.of.batch, layer.c, layer.h, layer.w, settings.of.channels_last};
    float const epsilon = 1e-5f;

    Rotation<T, Device> io(device, activations(shape), activations(shape), settings.rotated_bytes);
    auto const mean = fk::random<float>(device, statistics, 2);
    auto const scale = fk::random<float>(device, statistics, 3);
    auto const shift = fk::random<float>(device, statistics, 4);
    auto variance = fk::random<float>(device, statistics, 5);
    auto v = to_host(variance);
    for (float& value : v) value = 1.0f + 0.5f * value;
    variance.copy_from(v.data());
    fk::Tensor<T, Device> normalized(device, activations(shape));

    typename Norm::Args const args{mean, variance, scale, shift, epsilon};
    auto const fused = fk::Plan<Norm, Relu>::bind(args, {});
    auto const only_norm = fk::Plan<Norm>::bind(args);
    auto const only_relu = fk::Plan<Relu>::bind({});

    auto const x = io.host_input();
    auto const m = to_host(mean), a = to_host(scale), b = to_host(shift);
    Extents const image{1, layer.c, layer.h, layer.w, settings.of.channels_last};
    auto const oracle = [&](std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q) {
        std::size_t const i = Rank == 1 ? static_cast<std::size_t>(k) : image.at(0, k, p, q);
        double const in = static_cast<float>(x[shape.at(n, k, p, q)]);
        double const factor = static_cast<double>(a[i]) / std::sqrt(static_cast<double>(v[i]) + epsilon);
        double const scaled = factor * (in - m[i]), size = std::fabs(factor) * (std::fabs(in) + std::fabs(m[i]));
        return Expected{std::max(scaled + b[i], 0.0), size + std::fabs(b[i]), size * size, 1};
    };
    return detail::compare(
        settings, io, shape, 2, [&](auto& in, auto& out) { fused(device, in, out); },
        [&](auto& in, auto& out) {
            only_norm(device, in, normalized);
            only_relu(device, normalized, out);
        },
        oracle);
}

template <class T, class Device>
Measurement measure(Device& device, ConvLayer const& layer, Settings const& settings) {
    if (layer.r == 1) return measure_conv<T, fk::filter(1, 1)>(device, layer, settings);
    return measure_conv<T, fk::filter(3, 3).pad(1)>(device, layer, settings);
}

template <class T, class Device>
Measurement measure(Device& device, NormLayer const& layer, NormMode mode, Settings const& settings) {
    if (mode == NormMode::spatial) return measure_norm<T, fk::Spatial>(device, layer, fk::channels(layer.c), settings);
    auto const statistics =
        settings.of.channels_last ? fk::hwc(layer.h, layer.w, layer.c) : fk::chw(layer.c, layer.h, layer.w);
    return measure_norm<T, fk::PerActivation>(device, layer, statistics, settings);
}

}  // namespace bench
