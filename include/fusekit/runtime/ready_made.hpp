// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/runtime/plan_set.hpp"

/// Plans that cover what MIOpen's fusion API fuses, with as few kernels as that takes: filters and activations are
/// chosen at run time, and what may be left out costs no plan of its own. Letters are C a convolution, B a bias, N a
/// batch norm, A an activation; A may be left out everywhere, B where it stands in brackets.
///
/// The compiled library, fusekit::runtime, has them for the element types and families that CMake was asked for. A
/// program that compiles its own set of them writes
///     using Set = runtime::PlanSet<host::Device, runtime::Form<runtime::ready_made::ConvBiasActivation, half>>;
namespace fusekit::runtime::ready_made {

/// C(B)A
using ConvBiasActivation = Plan<Conv<dynamic>, Optional<Bias>, AnyActivation>;

/// C(B)NA, at inference: statistics of channels, or of places.
using ConvNormActivation = Plan<Conv<dynamic>, Optional<Bias>, BatchNormInference<Spatial>, AnyActivation>;
using ConvPlaceNormActivation = Plan<Conv<dynamic>, Optional<Bias>, BatchNormInference<PerActivation>, AnyActivation>;

/// y = f(alpha1 conv(x, w) + bias + alpha2 z): what miopenConvolutionBiasActivationForward computes, and the end of a
/// residual block. Its descriptors are conv, scale (may be left out), bias (too), residual, activation.
using ConvResidualActivation = Plan<Conv<dynamic>, Optional<Scale>, Optional<Bias>, Residual, AnyActivation>;

/// C(B)A of int8, scaled to int8.
using ConvRequantize = Plan<Conv<dynamic>, Optional<Bias>, AnyActivation, Requantize>;

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
