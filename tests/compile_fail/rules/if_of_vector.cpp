// expect: write fk::math::select(x > 0.0f, a, b)
// expect: Halved
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;

struct Halved {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    template <class V>
    static V apply(V x, Args const&) {
#ifdef CORRECTED
        return fk::math::select(x > 0, x, 0.5f * x);
#else
        if (x > 0) return x;
        return 0.5f * x;
#endif
    }
};

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));

using Layer = fk::Plan<Conv, Halved>;
auto const layer = Layer::bind({.weights = w}, {});
auto const y = layer(device, x);
