// mistakes: 3
// expect clang: field designator 'bais' does not refer to any field in type
// expect nvcc: does not match because argument #1
// expect g++: cannot convert '<brace-enclosed initializer list>' to 'fusekit::Bias::Args'
// expect g++: initializing argument 1
// expect clang: in implicit initialization of field 'bias' with omitted initializer
// expect clang: in implicit initialization of field 'shift' with omitted initializer
// expect g++: Field = fusekit::field::bias
// expect g++: Field = fusekit::field::shift
// expect nvcc: cannot be referenced -- it is a deleted function
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Bias, fk::Activation<fk::Relu>>;
using Norm = fk::Plan<fk::BatchNormInference<fk::Spatial>>;
extern fk::Tensor<float, fk::host::Device, 1> b;

#ifdef CORRECTED
auto const misspelt = Layer::bind({.bias = b}, {});
auto const empty = Layer::bind({.bias = b}, {});
auto const one_short = Norm::bind({.mean = b, .variance = b, .scale = b, .shift = b});
#else
auto const misspelt = Layer::bind({.bais = b}, {});
auto const empty = Layer::bind({}, {});
auto const one_short = Norm::bind({.mean = b, .variance = b, .scale = b});
#endif
