// expect: Weights<T> of another type than x's are not valid with x of int8 or double: remove Weights<T> from the Conv or Gemm
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1), fk::Weights<float>>>;
void run() {
#ifdef CORRECTED
    auto const x = fk::random<fk::half>(device, fk::nchw(1, 4, 8, 8));
#else
    auto const x = fk::random<fk::int8>(device, fk::nchw(1, 4, 8, 8));
#endif
    auto const y = Layer::bind({.weights = w})(device, x);
}
