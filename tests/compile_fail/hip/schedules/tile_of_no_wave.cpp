// expect: Gemm: TileM must be a multiple of 64 and TileN of 32: a wave computes 64 x 32
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>;

void run(fk::TensorView<float const> x, fk::TensorView<float> y, fk::TensorView<float const> w) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::Gemm<64, 64, 8>;
#else
    using Schedule = fk::hip::Gemm<48, 64, 8>;
#endif
    Layer::bind({.weights = w})(device.with<Schedule>(), x, y);
}
