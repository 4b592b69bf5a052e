// expect clang: a GPU runs this plan, so its operators' functions must be declared FUSEKIT_HD
// expect nvcc: error: calling a __host__ function("Twice::apply(
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
#define DEVICE FUSEKIT_HD
#else
#define DEVICE
#endif

struct Twice {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    DEVICE static float apply(float x, Args const&) { return x + x; }
};

void run(fk::hip::Device& device, fk::TensorView<float const> x, fk::TensorView<float> y) {
    fk::Plan<Twice>::bind({})(device, x, y);
}
