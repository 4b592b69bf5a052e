// expect: Op has no stage: for an activation's mode write Activation<Op>, else give it static constexpr auto stage
// expect: Doubled
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;

struct Doubled {
#ifdef CORRECTED
    static constexpr auto stage = fk::Stage::pointwise;
#endif
    struct Args {};
    static float apply(float v, Args const&) { return 2 * v; }
};

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));

using Layer = fk::Plan<Conv, Doubled>;
auto const layer = Layer::bind({.weights = w}, {});
auto const y = layer(device, x);
