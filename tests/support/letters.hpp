// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/activation.hpp"
#include "fusekit/ops/batch_norm.hpp"
#include "fusekit/ops/bias.hpp"
#include "fusekit/ops/gemm.hpp"
#include "fusekit/ops/requantize.hpp"
#include "fusekit/ops/residual.hpp"
#include "fusekit/ops/scale.hpp"

/// Operators by the letters of Case::form. C is a Conv, which each test defines with its geometry; T and U are TrainN
/// and TrainM, because T is an element type.
namespace test::letters {

using G = fusekit::Gemm;
using B = fusekit::Bias;
using N = fusekit::BatchNormInference<fusekit::Spatial>;
using M = fusekit::BatchNormInference<fusekit::PerActivation>;
using TrainN = fusekit::BatchNormTraining<fusekit::Spatial>;
using TrainM = fusekit::BatchNormTraining<fusekit::PerActivation>;
using R = fusekit::Residual;
using S = fusekit::Scale;
using Q = fusekit::Requantize;
template <class Mode>
using A = fusekit::Activation<Mode>;

}  // namespace test::letters
