// mistakes: 4
// expect: this argument (Source) is neither a Tensor nor a view: for a pointer write TensorView(pointer, layout)
// expect: the number of modes of this argument (Source) is not one that its field takes (Ranks)
// expect: this argument (Source) must have elements of float
// expect: this output (Source) must be a view or a named Tensor of 2 to 5 modes whose elements are not const
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>, fk::Bias>;
using Quantized = fk::Plan<fk::Requantize, fk::Store>;
extern fk::Tensor<float, fk::host::Device> w, y;
extern fk::Tensor<float, fk::host::Device, 5> volumes;
extern fk::Tensor<float, fk::host::Device, 1> b;
extern fk::Tensor<fk::bfloat16, fk::host::Device, 1> bfloat16s;
extern float* pointer;

#ifdef CORRECTED
auto const of_pointer = Layer::bind({.weights = w}, {.bias = fk::TensorView<float const, 1>(pointer, fk::channels(4))});
auto const of_rank = Layer::bind({.weights = w}, {.bias = b});
auto const of_element = Quantized::bind({.scale = b}, {.values = y});
auto const of_output = Quantized::bind({.scale = b}, {.values = y});
#else
auto const of_pointer = Layer::bind({.weights = w}, {.bias = pointer});
auto const of_rank = Layer::bind({.weights = volumes}, {.bias = b});
auto const of_element = Quantized::bind({.scale = bfloat16s}, {.values = y});
auto const of_output = Quantized::bind({.scale = b}, {.values = y.const_view()});
#endif
