// expect: MatrixGemm of float: two stages of (TileM + TileN) 384 bytes must fit 192 KB
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>;

void run(fk::TensorView<float const> x, fk::TensorView<float> y, fk::TensorView<float const> w) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::MatrixGemm<128, 128>;
#else
    using Schedule = fk::hip::MatrixGemm<256, 64>;
#endif
    Layer::bind({.weights = w})(device.with<Schedule>(), x, y);
}
