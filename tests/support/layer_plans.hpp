// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/layer.hpp>

// Layers whose plans are defined in layer_plans.cpp.

using HostLayer = fusekit::Layer<float, fusekit::host::Device>;

HostLayer pointwise_convolution(fusekit::TensorView<float const> weights, fusekit::TensorView<float const, 1> bias);
HostLayer average_pool();
fusekit::Layer<fusekit::half, fusekit::host::Device, 3> relu_of_signals();
