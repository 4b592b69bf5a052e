// expect: WarpSpecialized: TileN = 192 leaves no shared memory for the maxima of an Amax: use 128
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>, fk::Amax>;

void run(fk::TensorView<fk::half const> x, fk::TensorView<fk::half> y, fk::TensorView<fk::half const> w,
         fk::TensorView<float, 1> amax) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Schedule = fk::hip::WarpSpecialized<192, 128, 4>;
#else
    using Schedule = fk::hip::WarpSpecialized<144, 192, 4>;
#endif
    Layer::bind({.weights = w}, {.amax = amax})(device.with<Schedule>(), x, y);
}
