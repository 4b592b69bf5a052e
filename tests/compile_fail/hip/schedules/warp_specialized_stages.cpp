// expect: WarpSpecialized: Stages of (TileM + TileN) 128 bytes, and 128 TileM bytes for each 64 channels, twice as many with ping_pong, must fit 224 KB
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>;

void run(fk::TensorView<fk::half const> x, fk::TensorView<fk::half> y, fk::TensorView<fk::half const> w) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::WarpSpecialized<192, 128, 4>;
#else
    using Schedule = fk::hip::WarpSpecialized<192, 128, 5>;
#endif
    Layer::bind({.weights = w})(device.with<Schedule>(), x, y);
}
