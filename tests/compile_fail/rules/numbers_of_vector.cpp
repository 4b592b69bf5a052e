// mistakes: 2
// expect: write fk::math::select(x > 0.0f, a, b)
// expect: Positive
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

struct Positive {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
#ifdef CORRECTED
        return fk::math::max(x, 0.0f);
#else
        if (x > 0) return x;
        return 0;
#endif
    }
};

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));

auto const layer = fk::Plan<Positive>::bind({});
auto const y = layer(device, x);
