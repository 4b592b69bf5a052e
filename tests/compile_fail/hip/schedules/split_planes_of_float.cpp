// expect: Split: the schedule has no split-K kernel for its tile or for x's type: name the schedule without Split
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>;

#ifdef CORRECTED
using Element = fk::half;
#else
using Element = float;
#endif

void run(fk::TensorView<Element const> x, fk::TensorView<Element> y, fk::TensorView<Element const> w) {
    fk::hip::Device device;
    Layer::bind({.weights = w})(device.with<fk::hip::Split<fk::hip::Planes<240, 1>, 2>>(), x, y);
}
