// expect: a ConvWeightGradient, or a plan that pools what it reads, has the library's schedule
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
