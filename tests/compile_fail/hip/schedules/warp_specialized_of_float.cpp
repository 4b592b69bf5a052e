// expect: WarpSpecialized: x and weights must both be half, bfloat16, int8, e4m3 or e5m2
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>;

void run(fk::TensorView<float const> x, fk::TensorView<float> y, fk::TensorView<float const> w) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::MatrixGemm<64, 64>;
#else
    using Schedule = fk::hip::WarpSpecialized<64, 64, 4>;
#endif
    Layer::bind({.weights = w})(device.with<Schedule>(), x, y);
}
