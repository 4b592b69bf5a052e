// SPDX-License-Identifier: MIT
#include "fusekit/ops/resample/pixel_shuffle.hpp"

#include "support/refusal.hpp"
#include "support/resampled.hpp"

using namespace test;

constexpr auto numbers = fk::literal<fk::nchw(1, 4, 1, 2)>(1, 2, 3, 4, 5, 6, 7, 8);
static_assert(fk::Plan<fk::PixelShuffle<2>>::evaluate(numbers, {}) ==
              fk::literal<fk::nchw(1, 1, 2, 4)>(1, 3, 2, 4, 5, 7, 6, 8));

TEST_CASE("pixel shuffles move channels to blocks of pixels and back, in every layout and type") {
    for (int const threads : {1, 2}) {
        fk::host::Device device(threads);
        check_pixel_shuffles<float, true>(device);
    }
    fk::host::Device device(2);
    check_pixel_shuffles<fk::half, false>(device);
    check_pixel_shuffles<Types<fk::bfloat16, float>, false>(device);
    check_pixel_shuffles<double, false>(device);
}

TEST_CASE("pixel shuffles refuse channels or pixels that blocks do not divide") {
    fk::host::Device device(1);
    auto const x = fk::random<float>(device, fk::nchw(2, 6, 4, 5));
    CHECK(refusal([&] { static_cast<void>(fk::Plan<fk::PixelShuffle<2>>::bind({})(device, x)); }) ==
          "Plan<PixelShuffle<2>>: PixelShuffle<2>: expected a multiple of 4 channels, got 6");
    CHECK(refusal([&] { static_cast<void>(fk::Plan<fk::PixelUnshuffle<2>>::bind({})(device, x)); }) ==
          "Plan<PixelUnshuffle<2>>: PixelUnshuffle<2>: expected images that blocks of 2 x 2 divide, got 2 x 6 x 4 x 5");
}
