// expect: a plan on double computes in double, and this operator (Op) takes float alone
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

struct Cube {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
#ifdef CORRECTED
    template <class V>
    static V apply(V x, Args const&) {
        return x * x * x;
    }
#else
    static float apply(float x, Args const&) { return x * x * x; }
#endif
};

fk::host::Device device;
auto const x = fk::random<double>(device, fk::nchw(1, 4, 8, 8));

using Layer = fk::Plan<Cube>;
void run() { Layer::bind({})(device, x); }
