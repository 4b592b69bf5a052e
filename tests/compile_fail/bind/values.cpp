// mistakes: 4
// expect: this argument (Source) is no Tensor and no view: of a pointer, TensorView(pointer, layout)
// expect: this argument (Source) has another number of modes than its field takes (Ranks)
// expect: this argument (Source) must have elements of float
// expect: this output (Source) is no view or Tensor of 2 to 5 modes that may be written to
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
