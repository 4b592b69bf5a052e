// SPDX-License-Identifier: MIT
#include "backend/hip/large/buffers.hpp"

using namespace test;

// Half of the images are 1, half -1: the mean is 0, the variance 1, and y = 4 x / sqrt(1 + 3) + shift. Mean and
// variance have errors below 2^-15, by the rounding of float over some 2^9 merges; half a ULP of half at 2 is 2^-10.
TEST_CASE("HIP: batch norm of channels of over 2^31 elements has the statistics of all") {
    Buffers of;
    std::int64_t const d = side(), n = 2200;
    auto const scale = fk::tensor<float>(of.device, fk::channels(2), {4, -4}),
               shift = fk::tensor<float>(of.device, fk::channels(2), {0, 1});
    auto const values = fk::tensor<float>(of.device, fk::nchw(2, 1, 1, 1), {1, -1});
    for (fk::Layout<4> const& layout : {fk::nchw(n, 2, d, d), fk::nhwc(n, d, d, 2)}) {
        INFO(fk::to_string(layout.stride));
        auto const in = of.input(layout), y = of.output(layout);
        for (int part = 0; part < 2; ++part)
            fk::Plan<fk::Scale>::bind({.factor = 1})(of.device,
                                                     fk::broadcast(fk::sliced(values, 0, part, 1), n / 2, 2, d, d),
                                                     fk::sliced(in, 0, part * n / 2, n / 2));
        fk::Plan<fk::BatchNormTraining<fk::Spatial>>::bind({.scale = scale, .shift = shift, .epsilon = 3})(of.device,
                                                                                                           in, y);
        CHECK(wrong(of.device, y, [&](std::int64_t image, std::int64_t k, std::int64_t, std::int64_t) {
                  int const x = image < n / 2 ? 1 : -1;
                  return k == 0 ? 2 * x : 1 - 2 * x;
              }) == 0);
    }
}
