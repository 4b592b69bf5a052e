// expect: with<Schedule>(): the type is not a schedule: give it all members of one of the library's
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>;

struct Schedule {
    static constexpr int tile_m = 128, tile_n = 64, threads = 128, blocks = 2;
#ifdef CORRECTED
    static constexpr int tile_k = 16;
#endif
};

void run(fk::TensorView<float const> x, fk::TensorView<float> y, fk::TensorView<float const> w) {
    fk::hip::Device device;
    Layer::bind({.weights = w})(device.with<Schedule>(), x, y);
}
