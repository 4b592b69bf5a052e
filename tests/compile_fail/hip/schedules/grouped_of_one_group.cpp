// expect: Grouped: the plan must have a Conv or TransposedConv of signals or images whose filter may have groups; a TransposedConv with strides also needs a filter without dilation
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>;

void run(fk::TensorView<fk::half const> x, fk::TensorView<fk::half> y, fk::TensorView<fk::half const> w) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::NativeGemm<64, 64>;
#else
    using Schedule = fk::hip::Grouped<>;
#endif
    Layer::bind({.weights = w})(device.with<Schedule>(), x, y);
}
