// expect: Elementwise: Bytes, loaded by a thread at once, must be 4, 8 or 16
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Activation<fk::Relu>>;

void run(fk::TensorView<float const> x, fk::TensorView<float> y) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::Elementwise<256, 16>;
#else
    using Schedule = fk::hip::Elementwise<256, 12>;
#endif
    Layer::bind({})(device.with<Schedule>(), x, y);
}
