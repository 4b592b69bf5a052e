// mistakes: 2
// expect: elements are float, half, bfloat16, double, int8 or an 8-bit float of fusekit, or __half, _Float16,
// expect: TensorView<
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Unsigned = std::int8_t;
using Long = double;
#else
using Unsigned = unsigned;
using Long = long double;
#endif
extern Unsigned* pointer;
extern fk::Tensor<Long, fk::host::Device, 1> b;

using Layer = fk::Plan<fk::Bias>;
auto const of_view = Layer::bind({.bias = fk::TensorView<Unsigned const, 1>(pointer, fk::channels(4))});
auto const of_tensor = Layer::bind({.bias = b});
