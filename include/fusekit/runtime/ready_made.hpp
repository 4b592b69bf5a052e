// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/runtime/plan_set.hpp"

/// Plans that cover MIOpen's fusion API with few kernels. A run gives the filter's geometry and the activation's mode,
/// and may omit every operator marked Optional and the activation.
///
/// Each convolution has two plans: one for piecewise activations (without exponentials), as fast as a plan with a fixed
/// activation, and one, Curved, for the twelve others. They are apart because the epilogue is unrolled over all
/// accumulators of a thread: in kernels for matrix units the exponentials of twelve activations are most of the code
/// (bench/README.md, runtime).
///
/// The compiled library, fusekit::runtime, has these plans for the element types and the families of plans (conv, norm
/// and so on) that CMake options select. A program may also compile a set of its own:
///     using Set = runtime::PlanSet<host::Device, runtime::Form<runtime::ready_made::ConvBiasActivation, half>>;
namespace fusekit::runtime::ready_made {

namespace detail {

template <class Activation, class... Between>
using ConvWith = Plan<Conv<dynamic>, Optional<Bias>, Between..., Activation>;
template <class Activation>
using ConvResidualWith = Plan<Conv<dynamic>, Optional<Scale>, Optional<Bias>, Residual, Activation>;

}  // namespace detail

/// Conv, optional Bias, optional activation: for piecewise activations, and for all others.
using ConvBiasActivation = detail::ConvWith<PiecewiseActivation>;
using ConvBiasCurved = detail::ConvWith<CurvedActivation>;

/// Conv, optional Bias, BatchNormInference with statistics per channel or per element of an image, optional activation.
using ConvNormActivation = detail::ConvWith<PiecewiseActivation, BatchNormInference<Spatial>>;
using ConvNormCurved = detail::ConvWith<CurvedActivation, BatchNormInference<Spatial>>;
using ConvPixelNormActivation = detail::ConvWith<PiecewiseActivation, BatchNormInference<PerActivation>>;
using ConvPixelNormCurved = detail::ConvWith<CurvedActivation, BatchNormInference<PerActivation>>;

/// y = f(alpha1 conv(x, w) + bias + alpha2 z): miopenConvolutionBiasActivationForward, and the end of a residual block.
/// Descriptors: conv, scale (optional), bias (optional), residual, activation.
using ConvResidualActivation = detail::ConvResidualWith<PiecewiseActivation>;
using ConvResidualCurved = detail::ConvResidualWith<CurvedActivation>;

/// Conv, optional Bias, optional activation on int8, requantized to int8.
using ConvRequantize = Plan<Conv<dynamic>, Optional<Bias>, PiecewiseActivation, Requantize>;

/// Batch norm and optional activation: inference, training, and backward.
using NormActivation = Plan<BatchNormInference<Spatial>, AnyActivation>;
using PixelNormActivation = Plan<BatchNormInference<PerActivation>, AnyActivation>;
using TrainingActivation = Plan<BatchNormTraining<Spatial>, AnyActivation>;
using PixelTrainingActivation = Plan<BatchNormTraining<PerActivation>, AnyActivation>;
using TrainingBackward = Backward<TrainingActivation>;
using PixelTrainingBackward = Backward<PixelTrainingActivation>;

/// Optional Bias and optional activation, without a convolution.
using BiasActivation = Plan<Optional<Bias>, AnyActivation>;
/// A tensor of y's shape, such as a bias that is broadcast over any modes, and optional activation.
using ResidualActivation = Plan<Residual, AnyActivation>;

using ConvPlaceNormActivation [[deprecated("write ConvPixelNormActivation")]] = ConvPixelNormActivation;
using ConvPlaceNormCurved [[deprecated("write ConvPixelNormCurved")]] = ConvPixelNormCurved;
using PlaceNormActivation [[deprecated("write PixelNormActivation")]] = PixelNormActivation;
using PlaceTrainingActivation [[deprecated("write PixelTrainingActivation")]] = PixelTrainingActivation;
using PlaceTrainingBackward [[deprecated("write PixelTrainingBackward")]] = PixelTrainingBackward;

}  // namespace fusekit::runtime::ready_made
