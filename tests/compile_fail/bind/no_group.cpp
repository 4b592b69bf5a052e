// expect g++: candidate expects 3 arguments, 2 provided
// expect clang: too few arguments
// expect g++: one {...} per operator, in order; {} if empty
// expect clang: one {...} per operator, in order; {} if empty
// expect nvcc: no instance of overloaded function
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>, fk::Bias, fk::Activation<fk::Relu>>;
extern fk::Tensor<float, fk::host::Device, 1> b;
extern fk::Tensor<float, fk::host::Device> w;

#ifdef CORRECTED
auto const layer = Layer::bind({.weights = w}, {.bias = b}, {});
#else
auto const layer = Layer::bind({.weights = w}, {.bias = b});
#endif
