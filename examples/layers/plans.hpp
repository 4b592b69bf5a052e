// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/layer.hpp>

// What the application knows of its layers: no plan.

using Device = fusekit::host::Device;
using Layer = fusekit::Layer<float, Device>;
using Parameters = fusekit::TensorView<float const, 1>;

enum class Activation { none, relu, tanh };

/// 3 x 3, the same extents out as in, plus bias, then an activation that the run chooses.
Layer convolution(fusekit::TensorView<float const> weights, Parameters bias, Activation activation);

/// Each plane's mean.
Layer global_average();
