// expect: matrix units: TileM is 64, 128 or 256, of WarpSpecialized also 96 or 192, and TileN 64 or 128
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>;

void run(fk::TensorView<fk::half const> x, fk::TensorView<fk::half> y, fk::TensorView<fk::half const> w) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::MatrixGemm<64, 64>;
#else
    using Schedule = fk::hip::MatrixGemm<64, 48>;
#endif
    Layer::bind({.weights = w})(device.with<Schedule>(), x, y);
}
