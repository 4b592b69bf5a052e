// expect: Split: the schedule has no split-K kernel for its tile or for x's type: name the schedule without Split
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>;

void run(fk::TensorView<fk::half const> x, fk::TensorView<fk::half> y, fk::TensorView<fk::half const> w) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::Split<fk::hip::MatrixGemm<64, 64>, 2>;
#else
    using Schedule = fk::hip::Split<fk::hip::Gemm<64, 64, 8>, 2>;
#endif
    Layer::bind({.weights = w})(device.with<Schedule>(), x, y);
}
