// expect clang: a GPU runs this plan, so its operators' functions must be declared FUSEKIT_HD
// expect nvcc: error: calling a __host__ function("T1 Square::slope<
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
#define DEVICE FUSEKIT_HD
#else
#define DEVICE
#endif

struct Square {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    template <class V>
    DEVICE static V apply(V x, Args const&) {
        return x * x;
    }
    template <class V>
    DEVICE static V slope(V x, Args const&) {
        return x + x;
    }
};

void run(fk::hip::Device& device, fk::TensorView<float const> x, fk::TensorView<float> y) {
    using Layer = fk::Plan<Square>;
    fk::Backward<Layer>::bind(Layer::bind({}), x)(device, x, y);
}
