// expect: with_layouts<x, y>() takes a Gemm of one matrix x, M x K: leave it out for a batch
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

void run(fk::hip::Device& device, fk::TensorView<float const, 3> x, fk::TensorView<float, 3> y,
         fk::TensorView<float const, 2> w) {
    [[maybe_unused]] constexpr auto from = fk::row_major(4, 5, 48), to = fk::row_major(4, 5, 40);
    auto const layer = fk::Plan<fk::Gemm>::bind({.weights = w});
#ifdef CORRECTED
    layer(device, x, y);
#else
    layer(device.with_layouts<from, to>(), x, y);
#endif
}
