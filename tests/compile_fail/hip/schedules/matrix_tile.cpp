// expect: MatrixGemm: TileN must be 64 or 128
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
