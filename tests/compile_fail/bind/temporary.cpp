// mistakes: 2
// expect g++: Required(Source const&&) = delete;  // this temporary is gone before its view is used: give it a name
// expect clang: Required(Source const&&) = delete;  // this temporary is gone before its view is used: give it a name
// expect g++: OptionalView(Source const&&) = delete;  // this temporary is gone before its view is used: give it a name
// expect clang: OptionalView(Source const&&) = delete;  // this temporary is gone before its view is used: give it a name
// expect nvcc: it is a deleted function
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Bias>;
using Norm = fk::Plan<fk::BatchNormTraining<fk::Spatial>>;
extern fk::Tensor<float, fk::host::Device, 1> b;
fk::Tensor<float, fk::host::Device, 1> made();

#ifdef CORRECTED
auto const layer = Layer::bind({.bias = b});
auto const norm = Norm::bind({.scale = b, .shift = b, .saved_mean = b});
#else
auto const layer = Layer::bind({.bias = made()});
auto const norm = Norm::bind({.scale = b, .shift = b, .saved_mean = made()});
#endif
