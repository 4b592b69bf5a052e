// expect: a block has 1 to 1024 threads
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>;

void run(fk::TensorView<float const> x, fk::TensorView<float> y, fk::TensorView<float const> w) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::Direct<1024>;
#else
    using Schedule = fk::hip::Direct<2048>;
#endif
    Layer::bind({.weights = w})(device.with<Schedule>(), x, y);
}
