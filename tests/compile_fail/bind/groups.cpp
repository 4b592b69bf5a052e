// mistakes: 3
// expect clang: field designator 'scale' does not refer to any field in type
// expect nvcc: does not match because argument #1
// expect g++: cannot convert '<brace-enclosed initializer list>' to 'fusekit::Bias::Args'
// expect g++: candidate expects 2 arguments, 1 provided
// expect clang: too few arguments
// expect g++: candidate expects 2 arguments, 3 provided
// expect clang: too many arguments
// expect g++: one {...} per operator, in order; {} if empty
// expect clang: one {...} per operator, in order; {} if empty
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Bias, fk::Requantize>;
extern fk::Tensor<float, fk::host::Device, 1> b, s;

#ifdef CORRECTED
auto const exchanged = Layer::bind({.bias = b}, {.scale = s});
auto const too_few = Layer::bind({.bias = b}, {.scale = s});
auto const too_many = Layer::bind({.bias = b}, {.scale = s});
#else
auto const exchanged = Layer::bind({.scale = s}, {.bias = b});
auto const too_few = Layer::bind({.bias = b});
auto const too_many = Layer::bind({.bias = b}, {.scale = s}, {});
#endif
