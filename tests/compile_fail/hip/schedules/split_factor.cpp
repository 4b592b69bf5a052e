// expect: Split: Factor (CTAs per tile) must be 2, 4 or 8
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>;

void run(fk::TensorView<float const> x, fk::TensorView<float> y, fk::TensorView<float const> w) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::Split<fk::hip::Gemm<64, 64, 8>, 4>;
#else
    using Schedule = fk::hip::Split<fk::hip::Gemm<64, 64, 8>, 3>;
#endif
    Layer::bind({.weights = w})(device.with<Schedule>(), x, y);
}
