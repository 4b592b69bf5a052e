// expect: Grouped: x and weights must both be half or bfloat16: use Gemm
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).groups(4)>>;

void run(fk::TensorView<float const> x, fk::TensorView<float> y, fk::TensorView<float const> w) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::Gemm<64, 64, 8>;
#else
    using Schedule = fk::hip::Grouped<>;
#endif
    Layer::bind({.weights = w})(device.with<Schedule>(), x, y);
}
