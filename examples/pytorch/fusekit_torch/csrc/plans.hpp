// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <fusekit/ops/activation.hpp>
#include <fusekit/tensor/filter.hpp>
#include <fusekit/tensor/view.hpp>

#include "activation.hpp"

/// Plans of the operators. This header includes neither PyTorch nor a backend: plans are compiled by units without
/// PyTorch's headers, and operators.cpp without a backend. All calls throw fk::Error.
namespace fusekit_torch {

/// Output tensor, of x's element type unless another is named.
struct Output {
    void* data;
    fk::Layout<4> layout;
};

/// K floats, optional.
struct Floats {
    float* data = nullptr;
    std::int64_t count = 0, stride = 1;
};

/// Target of a call: the host, or a stream of a GPU.
struct LaunchTarget {
    int gpu = -1;
    void* stream = nullptr;
    std::function<void*(std::size_t)> zeros;  ///< zeroed memory that lives until the call's work is done
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

/// y = activation(batch_norm(x)). If mean is given, reads mean and variance; otherwise computes the batch's statistics
/// and writes saved_mean and saved_inverse_deviation; also running_mean and running_variance, both or neither, with
/// momentum 1: the batch's mean and unbiased variance.
struct NormCall {
    fk::AnyView<4> x;
    Floats scale, shift, mean, variance, saved_mean, saved_inverse_deviation, running_mean, running_variance;
    float epsilon;
    AnyMode::Args activation;
    Output y;
};

/// dx and the gradients of scale and shift, for a NormCall that has run and whose activation is_clamp. Does not read
/// its y.
struct NormGradientCall {
    NormCall forward;
    fk::AnyView<4> dy;
    Floats scale, shift;
    Output dx;
};

/// Mean and variance of x's channels.
struct StatisticsCall {
    fk::AnyView<4> x;
    Floats mean, variance;
};

/// Merges the statistics of parts of a batch, of K channels each: a row of `gathered`, 2 K + 1 contiguous floats, has a
/// part's means, variances and count.
struct MergeCall {
    float const* gathered;
    std::int64_t parts, channels;
    Floats mean, variance, total_count, running_mean, running_variance;
    float momentum;
};

/// Gradients of scale and shift, of a NormCall that has read mean and variance and whose activation is_clamp.
struct NormSumsCall {
    NormCall forward;
    fk::AnyView<4> dy;
    Floats scale, shift;
};

/// dx of such a NormCall, whose mean and variance are those of a batch that contains x: scale_gradient and
/// shift_gradient are the batch's NormSumsCalls added up, total_count its number of values per channel.
struct SynchronizedGradientCall {
    NormCall forward;
    fk::AnyView<4> dy;
    Floats scale_gradient, shift_gradient, total_count;
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

/// Plans for element type T of x, dy, y and dx: one for clamp activations, one for the others. For GPUs these are
/// separate units, compiled in parallel.
template <fk::Element T>
struct OnHost {
    static void run(ConvCall const&);
    static void run(NormCall const&);
    static void run(NormGradientCall const&);
    static void run(ActivationGradientCall const&);
    static void run(PoolCall const&);
};
template <fk::Element T>
struct StatisticsOnHost {
    static void run(StatisticsCall const&);
    static void run(NormSumsCall const&);
    static void run(SynchronizedGradientCall const&);
};
void merge_on_host(MergeCall const&);
template <fk::Element T, class Mode>
struct OnGpu {
    static void run(ConvCall const&, typename Mode::Args const&, LaunchTarget const&);
    static void run(NormCall const&, typename Mode::Args const&, LaunchTarget const&);
    static void run(ActivationGradientCall const&, typename Mode::Args const&, LaunchTarget const&);
};
template <fk::Element T>
struct GradientOnGpu {
    static void run(NormGradientCall const&, LaunchTarget const&);
};
template <fk::Element T>
struct StatisticsOnGpu {
    static void run(StatisticsCall const&, LaunchTarget const&);
    static void run(NormSumsCall const&, LaunchTarget const&);
    static void run(SynchronizedGradientCall const&, LaunchTarget const&);
};
void merge_on_gpu(MergeCall const&, LaunchTarget const&);
template <fk::Element T>
struct PoolOnGpu {
    static void run(PoolCall const&, LaunchTarget const&);
};

template <class Call>
concept OfStatistics = std::same_as<Call, StatisticsCall> || std::same_as<Call, NormSumsCall> ||
                       std::same_as<Call, SynchronizedGradientCall>;

template <fk::Element T, class Call>
void run_on_host(Call const& call) {
    if constexpr (std::same_as<Call, MergeCall>) merge_on_host(call);
    else if constexpr (OfStatistics<Call>) StatisticsOnHost<T>::run(call);
    else OnHost<T>::run(call);
}

/// Runs a call with the plan for its activation.
template <fk::Element T>
void run_on_gpu(auto const& call, LaunchTarget const& target) {
    if (is_clamp(call.activation.kind)) OnGpu<T, fk::Clamp>::run(call, bounds_of(call.activation), target);
    else OnGpu<T, AnyMode>::run(call, call.activation, target);
}
template <fk::Element T>
void run_on_gpu(NormGradientCall const& call, LaunchTarget const& target) {
    GradientOnGpu<T>::run(call, target);
}
template <fk::Element T, OfStatistics Call>
void run_on_gpu(Call const& call, LaunchTarget const& target) {
    StatisticsOnGpu<T>::run(call, target);
}
template <fk::Element T>
void run_on_gpu(MergeCall const& call, LaunchTarget const& target) {
    merge_on_gpu(call, target);
}
template <fk::Element T>
void run_on_gpu(PoolCall const& call, LaunchTarget const& target) {
    PoolOnGpu<T>::run(call, target);
}

}  // namespace fusekit_torch
