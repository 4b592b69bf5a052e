// expect: x may be a CPU vector: write fk::math::exp(x)
// expect: Exponential
// SPDX-License-Identifier: MIT
#include <cmath>
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;

struct Exponential {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    template <class V>
    static V apply(V x, Args const&) {
#ifdef CORRECTED
        return fk::math::exp(x);
#else
        return std::exp(x);
#endif
    }
};

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));

using Layer = fk::Plan<Conv, Exponential>;
auto const layer = Layer::bind({.weights = w}, {});
auto const y = layer(device, x);
