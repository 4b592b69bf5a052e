// expect: a Layer<T, Device> runs on a Device that is neither const nor a temporary
// SPDX-License-Identifier: MIT
#include <fusekit/layer.hpp>

namespace fk = fusekit;

using Layer = fk::Layer<float, fk::host::Device>;
#ifdef CORRECTED
using Device = fk::host::Device;
#else
using Device = fk::host::Device const;
#endif

void run(Layer const& layer, Device& device, fk::TensorView<float const> x, fk::TensorView<float> y) {
    layer(device, x, y);
}
