// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/layer.hpp>

// What the application knows of its layers. It knows no plan.

using Device = fusekit::host::Device;
using Layer = fusekit::Layer<float, Device>;
using Parameters = fusekit::TensorView<float const, 1>;

enum class Activation { none, relu, tanh };

/// A 3 x 3 convolution that keeps the extents, plus bias, then an activation that the run chooses.
Layer convolution(fusekit::TensorView<float const> weights, Parameters bias, Activation activation);

/// Each plane's mean.
Layer global_average();
