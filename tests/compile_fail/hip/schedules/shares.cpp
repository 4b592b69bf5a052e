// expect: Gemm: the threads, TileM TileN / 64, must divide TileM TileK and TileN TileK
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>;

void run(fk::TensorView<float const> x, fk::TensorView<float> y, fk::TensorView<float const> w) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::Gemm<128, 128, 8>;
#else
    using Schedule = fk::hip::Gemm<128, 128, 3>;
#endif
    Layer::bind({.weights = w})(device.with<Schedule>(), x, y);
}
