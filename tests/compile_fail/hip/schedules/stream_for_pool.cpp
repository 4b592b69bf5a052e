// expect: a ConvWeightGradient, or a plan that pools without a Conv, takes no schedule: call it without with<Schedule>()
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

void run(fk::hip::Device& device, fk::TensorView<float const> const& x, fk::TensorView<float> const& y) {
    auto const layer = fk::Plan<fk::GlobalAverage>::bind({});
#ifdef CORRECTED
    layer(device, x, y);
#else
    layer(device.with<fk::hip::Elementwise<> >(), x, y);
#endif
}
