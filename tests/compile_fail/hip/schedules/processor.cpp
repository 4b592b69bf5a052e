// expect: Blocks must be 1 or more, and the threads of all blocks at most 2048
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Activation<fk::Relu>>;

void run(fk::TensorView<float const> x, fk::TensorView<float> y) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::Elementwise<512>;
#else
    using Schedule = fk::hip::Elementwise<512, 16, 8, 4, 5>;
#endif
    Layer::bind({})(device.with<Schedule>(), x, y);
}
