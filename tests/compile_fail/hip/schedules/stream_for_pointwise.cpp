// expect: the schedule is not for this plan: Gemm, Direct and the like compute a Conv or Gemm, Reduction batch statistics, Elementwise other plans
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Activation<fk::Relu>>;

void run(fk::TensorView<float const> x, fk::TensorView<float> y) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::Elementwise<>;
#else
    using Schedule = fk::hip::Gemm<128, 64, 16>;
#endif
    Layer::bind({})(device.with<Schedule>(), x, y);
}
