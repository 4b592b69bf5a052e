// expect: the schedule is not for this plan: Gemm, Direct and the like compute a Conv or Gemm, Reduction batch statistics, Elementwise other plans
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>;

void run(fk::TensorView<float const> x, fk::TensorView<float> y, fk::TensorView<float const> w) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::Gemm<128, 64, 16>;
#else
    using Schedule = fk::hip::Elementwise<>;
#endif
    Layer::bind({.weights = w})(device.with<Schedule>(), x, y);
}
