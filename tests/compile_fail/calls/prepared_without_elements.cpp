// expect: x is a layout, which has no element type: write prepare<float>(device, x, y) or the like
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

void run(fk::host::Device& device, fk::Layout<4> const& layout) {
    auto const layer = fk::Plan<fk::Activation<fk::Relu>>::bind({});
#ifdef CORRECTED
    auto const run = layer.prepare<float>(device, layout, layout);
#else
    auto const run = layer.prepare(device, layout, layout);
#endif
    static_cast<void>(run);
}
