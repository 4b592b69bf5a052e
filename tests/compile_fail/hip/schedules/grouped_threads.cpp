// expect: Grouped: a block must have 128 or 256 threads
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).groups(4)>>;

void run(fk::TensorView<fk::half const> x, fk::TensorView<fk::half> y, fk::TensorView<fk::half const> w) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::Grouped<256>;
#else
    using Schedule = fk::hip::Grouped<64>;
#endif
    Layer::bind({.weights = w})(device.with<Schedule>(), x, y);
}
