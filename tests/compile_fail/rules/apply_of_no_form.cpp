// expect: Op::apply must take one value: (V x, Args const&), (V x, At const& at, Args const&), or, beside prepare
// expect: Doubled
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;

struct Doubled {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
#ifdef CORRECTED
    static float apply(float v, Args const&) { return 2 * v; }
#else
    static float apply(float v) { return 2 * v; }
#endif
};

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));

using Layer = fk::Plan<Conv, Doubled>;
auto const layer = Layer::bind({.weights = w}, {});
auto const y = layer(device, x);
