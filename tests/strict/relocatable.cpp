// SPDX-License-Identifier: MIT
//
// Half convolutions as relocatable device code, one for each kind of wgmma mainloop: a call in a kernel would serialize
// its wgmma.
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>;

void run(fk::hip::Device& device, fk::TensorView<fk::half const, 4> x, fk::TensorView<fk::half const, 4> w,
         fk::TensorView<float const, 1> b, fk::TensorView<fk::half, 4> y) {
    using namespace fk::hip;
    auto const layer = Layer::bind({.weights = w}, {.bias = b}, {});
    auto const run_with = [&](auto with) { layer(with, x, y); };
    run_with(device.with<WithKernels<WarpSpecialized<192, 128, 4>, Kernels::general>>());
    run_with(device.with<WithKernels<WarpSpecialized<96, 128, 5, Roles::ping_pong>, Kernels::plain>>());
    run_with(device.with<Halo<>>());
    run_with(device.with<Planes<240, 1>>());
    run_with(device.with<MatrixGemm<128, 64, 2>>());
}
