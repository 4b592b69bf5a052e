// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/runtime/plan_set.hpp"

/// Plans that cover what MIOpen's fusion API fuses, with as few kernels as that takes: filters and activations are
/// chosen at run time, and what may be left out costs no plan of its own. Letters are C a convolution, B a bias, N a
/// batch norm, A an activation; A may be left out everywhere, and what stands in brackets too.
///
/// Convolutions have two plans each: one for activations that are a few comparisons, which costs what a plan of one
/// activation does, and one, Curved, for all others: on a GPU's matrix units the epilogue is written out for every
/// value that a thread holds, so that the exponentials of twelve activations are most of the kernel (bench/README.md,
/// runtime).
///
/// The compiled library, fusekit::runtime, has them for the element types and families that CMake was asked for. A
/// program that compiles its own set of them writes
///     using Set = runtime::PlanSet<host::Device, runtime::Form<runtime::ready_made::ConvBiasActivation, half>>;
namespace fusekit::runtime::ready_made {

namespace detail {

template <class Activation, class... Between>
using ConvWith = Plan<Conv<dynamic>, Optional<Bias>, Between..., Activation>;
template <class Activation>
using ConvResidualWith = Plan<Conv<dynamic>, Optional<Scale>, Optional<Bias>, Residual, Activation>;

}  // namespace detail

/// C(B)A
using ConvBiasActivation = detail::ConvWith<PiecewiseActivation>;
using ConvBiasCurved = detail::ConvWith<CurvedActivation>;

/// C(B)NA, at inference: statistics of channels, or of places.
using ConvNormActivation = detail::ConvWith<PiecewiseActivation, BatchNormInference<Spatial>>;
using ConvNormCurved = detail::ConvWith<CurvedActivation, BatchNormInference<Spatial>>;
using ConvPlaceNormActivation = detail::ConvWith<PiecewiseActivation, BatchNormInference<PerActivation>>;
using ConvPlaceNormCurved = detail::ConvWith<CurvedActivation, BatchNormInference<PerActivation>>;

/// y = f(alpha1 conv(x, w) + bias + alpha2 z): what miopenConvolutionBiasActivationForward computes, and the end of a
/// residual block. Its descriptors are conv, scale (may be left out), bias (too), residual, activation.
using ConvResidualActivation = detail::ConvResidualWith<PiecewiseActivation>;
using ConvResidualCurved = detail::ConvResidualWith<CurvedActivation>;

/// C(B)A of int8, scaled to int8.
using ConvRequantize = Plan<Conv<dynamic>, Optional<Bias>, PiecewiseActivation, Requantize>;

/// NA at inference, in training, and back.
using NormActivation = Plan<BatchNormInference<Spatial>, AnyActivation>;
using PlaceNormActivation = Plan<BatchNormInference<PerActivation>, AnyActivation>;
using TrainingActivation = Plan<BatchNormTraining<Spatial>, AnyActivation>;
using PlaceTrainingActivation = Plan<BatchNormTraining<PerActivation>, AnyActivation>;
using TrainingBackward = Backward<TrainingActivation>;
using PlaceTrainingBackward = Backward<PlaceTrainingActivation>;

/// (B)A
using BiasActivation = Plan<Optional<Bias>, AnyActivation>;

}  // namespace fusekit::runtime::ready_made
