// expect: fusekit/hip_conv.hpp is for plans with a Conv or Gemm: include <fusekit/hip.hpp>
// with: -DALONE
// SPDX-License-Identifier: MIT
#ifdef CORRECTED
#include <fusekit/hip.hpp>
#else
#include <fusekit/hip_conv.hpp>
#endif

namespace fk = fusekit;

void run(fk::hip::Device& device, fk::TensorView<float const> x, fk::TensorView<float> y) {
    fk::Plan<fk::Activation<fk::Relu>>::bind({})(device, x, y);
}
