// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/hip.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "layers.hpp"
#include "peers/cudnn_fused.hpp"
#include "support/chains.hpp"

/// Passes that peer_cudnn compares: a layer's forward pass, or a gradient of its convolution. Each has fusekit's plan,
/// the extents of its tensors, and cuDNN's implementations; last_ways() are fallbacks.
namespace bench {

struct CudnnOptions {
    int index = 0, batch = 64, repeats = 9, engines = 16, seconds = 3;
    std::string layers = "conv", layout = "all", dtype = "float", batches = "64", pass = "forward",
                output = "bench-output";

    Extents x(ConvLayer const& l, bool last) const { return {batch, l.c, l.h, l.w, last}; }
    Extents y(ConvLayer const& l, bool last) const { return {batch, l.k, l.p(), l.q(), last}; }
    static Extents weights(ConvLayer const& l, bool last) { return {l.k, l.c, l.r, l.s, last}; }
};

/// Forward pass: from x to y.
struct ForwardPass {
    static Extents input(CudnnOptions const& options, ConvLayer const& l, bool last) { return options.x(l, last); }
    static Extents output(CudnnOptions const& options, ConvLayer const& l, bool last) { return options.y(l, last); }
    static void try_ways(CudnnProblem const& problem, CudnnOptions const& options, auto const& try_all) {
        try_all(cudnn_fused_algorithms(problem));
        try {
            try_all(cudnn_fused_engines(problem, options.engines, options.seconds));
        } catch (std::exception const& error) {
            std::printf("  no engines: %s\n", error.what());
        }
    }
    static std::vector<CudnnWay> last_ways(CudnnProblem const& problem) { return cudnn_unfused_algorithms(problem); }
};

/// fusekit's plan of a layer, and the bias and scale for cuDNN.
template <class T, fk::Filter<2> Filter>
struct Forward : ForwardPass {
    fk::Tensor<T, fk::hip::Device> weights;
    fk::Tensor<T, fk::hip::Device, 1> bias;
    using Plan = fk::Plan<fk::Conv<Filter>, fk::Bias, fk::Activation<fk::Relu>>;

    Forward(fk::hip::Device& device, ConvLayer const& l, bool last, CudnnOptions const&)
        : weights(fk::random<T>(device, activations(CudnnOptions::weights(l, last)), 2)),
          bias(fk::random<T>(device, fk::channels(l.k), 3)) {}
    auto bind() const { return Plan::bind({.weights = weights}, {.bias = bias}, {}); }
    void give(CudnnProblem& problem) const { problem.weights = weights.data(), problem.bias = bias.data(); }
};

/// y = relu(sums + bias) scale with a power-of-two scale equals cuDNN's scale sums + scale bias exactly.
template <fk::Filter<2> Filter>
struct Forward<fk::int8, Filter> : ForwardPass {
    fk::Tensor<fk::int8, fk::hip::Device> weights;
    fk::Tensor<float, fk::hip::Device, 1> bias, scaled_bias, scales;
    float scale;
    using Plan = fk::Plan<fk::Conv<Filter>, fk::Bias, fk::Activation<fk::Relu>, fk::Requantize>;

    Forward(fk::hip::Device& device, ConvLayer const& l, bool last, CudnnOptions const&)
        : weights(fk::random<fk::int8>(device, activations(CudnnOptions::weights(l, last)), 2)),
          bias(device, fk::channels(l.k)),
          scaled_bias(device, fk::channels(l.k)),
          scales(device, fk::channels(l.k)),
          scale(std::exp2(std::round(std::log2(40 / (5400 * std::sqrt(static_cast<float>(l.c * l.r * l.s))))))) {
        std::vector<float> numbers(static_cast<std::size_t>(l.k)), scaled(numbers), all(numbers.size(), scale);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            numbers[i] = static_cast<float>(i * 37 % 1001) - 500, scaled[i] = numbers[i] * scale;
        bias.copy_from(numbers.data());
        scaled_bias.copy_from(scaled.data());
        scales.copy_from(all.data());
    }
    auto bind() const { return Plan::bind({.weights = weights}, {.bias = bias}, {}, {.scale = scales}); }
    void give(CudnnProblem& problem) const {
        problem.weights = weights.data(), problem.bias = scaled_bias.data();
        problem.scale = scale, problem.scale_on_gpu = scales.data();
    }
};

/// Input gradient: from dy to dx.
template <class T, fk::Filter<2> Filter>
struct InputGradient {
    fk::Tensor<T, fk::hip::Device> weights;
    using Plan = fk::Plan<fk::TransposedConv<Filter>>;

    InputGradient(fk::hip::Device& device, ConvLayer const& l, bool last, CudnnOptions const&)
        : weights(fk::random<T>(device, activations(CudnnOptions::weights(l, last)), 2)) {}
    static Extents input(CudnnOptions const& options, ConvLayer const& l, bool last) { return options.y(l, last); }
    static Extents output(CudnnOptions const& options, ConvLayer const& l, bool last) { return options.x(l, last); }
    auto bind() const { return Plan::bind({.weights = weights}); }
    void give(CudnnProblem& problem) const { problem.weights = weights.data(); }
    static void try_ways(CudnnProblem const& problem, CudnnOptions const&, auto const& try_all) {
        try_all(cudnn_input_gradients(problem));
    }
    static std::vector<CudnnWay> last_ways(CudnnProblem const&) { return {}; }
};

/// Weight gradient: from x to dw.
template <class T, fk::Filter<2> Filter>
struct WeightGradient {
    fk::Tensor<T, fk::hip::Device> dy;
    using Plan = fk::Plan<fk::ConvWeightGradient<Filter>>;

    WeightGradient(fk::hip::Device& device, ConvLayer const& l, bool last, CudnnOptions const& options)
        : dy(fk::random<T>(device, activations(options.y(l, last)), 2)) {}
    static Extents input(CudnnOptions const& options, ConvLayer const& l, bool last) { return options.x(l, last); }
    static Extents output(CudnnOptions const&, ConvLayer const& l, bool last) { return CudnnOptions::weights(l, last); }
    auto bind() const { return Plan::bind({.dy = dy}); }
    void give(CudnnProblem& problem) const { problem.gradient = dy.data(); }
    static void try_ways(CudnnProblem const& problem, CudnnOptions const&, auto const& try_all) {
        try_all(cudnn_weight_gradients(problem));
    }
    static std::vector<CudnnWay> last_ways(CudnnProblem const&) { return {}; }
};

}  // namespace bench
