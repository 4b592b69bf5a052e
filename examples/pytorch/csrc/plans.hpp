// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <fusekit/ops/activation.hpp>
#include <fusekit/tensor/filter.hpp>
#include <fusekit/tensor/view.hpp>

#include "activation.hpp"

/// The plans behind the operators. This header knows neither PyTorch nor a backend: plans are compiled by units that do
/// not include PyTorch's headers, and operators.cpp by one that does not include a backend. All calls throw fk::Error.
namespace fusekit_torch {

/// A tensor to write, of x's element type unless another is named.
struct Output {
    void* data;
    fk::Layout<4> layout;
};

/// K floats, or none.
struct Floats {
    float* data = nullptr;
    std::int64_t count = 0, stride = 1;
};

/// Where a call runs: on the host, or on a stream of a GPU.
struct Place {
    int gpu = -1;
    void* stream = nullptr;
    std::function<void*(std::size_t)> zeros;  ///< memory that lives to the end of what this call puts on the stream
};

/// y = activation(conv(x, weights) + bias + residual)
struct ConvCall {
    fk::AnyView<4> x, weights;
    fk::AnyView<1> bias;
    fk::AnyView<4> const* residual;  ///< may be null
    fk::Filter<2> filter;
    AnyMode::Args activation;
    Output y;
};

/// y = activation(batch_norm(x)). Where mean is given, it and variance are read; else they are the batch's own, and
/// saved_mean and saved_inverse_deviation are written. Both zeroed statistics or neither are given: zeros, to which the
/// batch's mean and unbiased variance are added.
struct NormCall {
    fk::AnyView<4> x;
    Floats scale, shift, mean, variance, saved_mean, saved_inverse_deviation, zeroed_mean, zeroed_variance;
    float epsilon;
    AnyMode::Args activation;
    Output y;
};

/// dx and the gradients of scale and shift, of a NormCall that has run and whose activation is_clamp. Its y is not
/// read.
struct NormGradientCall {
    NormCall forward;
    fk::AnyView<4> dy;
    Floats scale, shift;
    Output dx;
};

/// dx = dy * activation'(x)
struct ActivationGradientCall {
    fk::AnyView<4> x, dy;
    AnyMode::Args activation;
    Output dx;
};

/// y = the maxima of windows of 3 x 3, stride 2, padding 1; or the means of planes.
enum class PoolKind { max_3x3, global_average };
struct PoolCall {
    fk::AnyView<4> x;
    PoolKind kind;
    Output y;
};

/// The plans of elements T, which x, dy, y and dx have: one for activations that are clamps, one for the rest. On a GPU
/// these are units of their own, compiled side by side.
template <fk::Element T>
struct OnHost {
    static void run(ConvCall const&);
    static void run(NormCall const&);
    static void run(NormGradientCall const&);
    static void run(ActivationGradientCall const&);
    static void run(PoolCall const&);
};
template <fk::Element T, class Mode>
struct OnGpu {
    static void run(ConvCall const&, typename Mode::Args const&, Place const&);
    static void run(NormCall const&, typename Mode::Args const&, Place const&);
    static void run(ActivationGradientCall const&, typename Mode::Args const&, Place const&);
};
template <fk::Element T>
struct GradientOnGpu {
    static void run(NormGradientCall const&, Place const&);
};
template <fk::Element T>
struct PoolOnGpu {
    static void run(PoolCall const&, Place const&);
};

/// Runs a call in the plan for its activation.
template <fk::Element T>
void run_on_gpu(auto const& call, Place const& place) {
    if (is_clamp(call.activation.kind)) OnGpu<T, fk::Clamp>::run(call, bounds_of(call.activation), place);
    else OnGpu<T, AnyMode>::run(call, call.activation, place);
}
template <fk::Element T>
void run_on_gpu(NormGradientCall const& call, Place const& place) {
    GradientOnGpu<T>::run(call, place);
}
template <fk::Element T>
void run_on_gpu(PoolCall const& call, Place const& place) {
    PoolOnGpu<T>::run(call, place);
}

}  // namespace fusekit_torch
