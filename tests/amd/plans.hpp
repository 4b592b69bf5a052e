// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/hip.hpp"

/// The plans whose kernels are compiled for AMD GPUs, in the letters that tests name them by. Each element type is a
/// translation unit of its own: float has every form, the others those with the most in their epilogues. Every
/// activation occurs at least once.
namespace amd {

namespace fk = fusekit;

using C = fk::Conv<fk::dynamic>;
using C1 = fk::Conv<fk::filter(1, 1)>;
using C3 = fk::Conv<fk::filter(3, 3).pad(1)>;
using C7 = fk::Conv<fk::filter(7, 7).pad(3).stride(2)>;
using Signal = fk::Conv<fk::filter(3).pad(1)>;
using Volume = fk::Conv<fk::filter(3, 3, 3).pad(1)>;
using GroupedVolume = fk::Conv<fk::filter(3, 3, 3).pad(1).groups(2)>;
using Grouped = fk::Conv<fk::filter(3, 3).pad(1).groups(2)>;
using Depthwise = fk::Conv<fk::filter(3, 3).pad(1).groups(32)>;
using G = fk::Gemm;
using B = fk::Bias;
using N = fk::BatchNormInference<fk::Spatial>;
using M = fk::BatchNormInference<fk::PerActivation>;
using TrainN = fk::BatchNormTraining<fk::Spatial>;
using TrainM = fk::BatchNormTraining<fk::PerActivation>;
using R = fk::Residual;
using S = fk::Scale;
using Q = fk::Requantize;
using Statistics = fk::ChannelStatistics;
using MaxPool = fk::Pool<fk::Max, 2, 2>;
using AveragePool = fk::Pool<fk::Average, 2, 2>;
using fk::Plan;
template <class Mode>
using A = fk::Activation<Mode>;

/// What Backward runs for a plan.
template <class... Ops>
using Back = typename fk::Backward<fk::detail::FusedPlan<Ops...>>::Plan;

/// Names every kernel that a run of these plans on tensors of T can choose, so that it is compiled. Never called.
template <class T, class... Plans>
struct Kernels {
    static void choose(fk::hip::Device& device, fk::TensorView<T const> const& x, fk::TensorView<T> const& y,
                       fk::BoundPlan<Plans> const&... bound) {
        (device.run(bound, x, y), ...);
    }
};

}  // namespace amd
