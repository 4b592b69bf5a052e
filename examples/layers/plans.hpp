// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/layer.hpp>

// Interface of the application's layers, without their plans.

using Device = fusekit::host::Device;
using Layer = fusekit::Layer<float, Device>;
using Parameters = fusekit::TensorView<float const, 1>;

enum class Activation { none, relu, tanh };

/// A 3 x 3 convolution that preserves the extents, plus bias, then an activation that is selected at run time.
Layer convolution(fusekit::TensorView<float const> weights, Parameters bias, Activation activation);

/// Mean of each plane.
Layer global_average();
