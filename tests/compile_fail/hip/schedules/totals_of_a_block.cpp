// expect: Reduction: a block's totals, one per thread and element of a load, must fit 48 KB
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::BatchNormTraining<fk::Spatial>>;

void run(fk::TensorView<fk::half const> x, fk::TensorView<fk::half> y, fk::TensorView<float const, 1> parameters) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::Reduction<256, 16>;
#else
    using Schedule = fk::hip::Reduction<512, 16>;
#endif
    Layer::bind({.scale = parameters, .shift = parameters})(device.with<Schedule>(), x, y);
}
