// SPDX-License-Identifier: MIT
//
// A program with globals of every name in the headers, which g++ compares with the locals of every template that it
// instantiates.
#include "global_names.hpp"
// After the globals.
#ifdef HIP
#include <fusekit/hip.hpp>
using Device = fusekit::hip::Device;
#else
#include <fusekit/fusekit.hpp>
using Device = fusekit::host::Device;
#endif
#include <fusekit/runtime.hpp>

namespace fk = fusekit;

namespace program {

void run(Device& its_device, fk::TensorView<float const, 4> its_x, fk::TensorView<float const, 4> its_w,
         fk::TensorView<float const, 1> its_b, fk::TensorView<float, 4> its_y) {
    using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
    fk::Plan<Conv, fk::Bias, fk::Activation<fk::Silu>>::bind({.weights = its_w}, {.bias = its_b}, {})(its_device, its_x,
                                                                                                      its_y);
    fk::Plan<fk::Pool<fk::Max, 2, 2>>::bind({})(its_device, its_x, its_y);
}

}  // namespace program
