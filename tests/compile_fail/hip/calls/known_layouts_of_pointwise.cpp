// expect: with_layouts<x, y>() takes a plan with a Conv or Gemm: leave it out for this plan
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

void run(fk::hip::Device& device, fk::TensorView<float const> x, fk::TensorView<float> y) {
    [[maybe_unused]] constexpr auto shape = fk::nhwc(8, 14, 14, 32);
    auto const layer = fk::Plan<fk::Scale>::bind({.factor = 2});
#ifdef CORRECTED
    layer(device, x, y);
#else
    layer(device.with_layouts<shape, shape>(), x, y);
#endif
}
