// expect: with_layouts<x, y>() takes a filter in the type: write Conv<fk::filter(r, s)>
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

void run(fk::hip::Device& device, fk::TensorView<float const> x, fk::TensorView<float> y,
         fk::TensorView<float const> w) {
    constexpr auto shape = fk::nhwc(8, 14, 14, 32);
#ifdef CORRECTED
    auto const layer = fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = w});
#else
    auto const layer = fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = fk::filter(1, 1)});
#endif
    layer(device.with_layouts<shape, shape>(), x, y);
}
