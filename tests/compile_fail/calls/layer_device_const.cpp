// expect: a Layer runs on its kind of device, Layer<T, Device>, which has a name and is not const
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
