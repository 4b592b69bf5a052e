// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/few_pixels_weight_gradient.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/one_gradient.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/weight_gradients.hpp"

using namespace test;

namespace {

struct FewPixelsGradient {
    static auto prepare(fk::hip::Gpu const& gpu, auto const& params, std::size_t) {
        return fk::hip::prepare_few_pixels_gradient(gpu, params);
    }
};

}  // namespace

// One k-tile, several, the last partly out of bounds; tiles partly out of bounds; strides of x, dy and dw larger than
// their channels; rows of dw whose packets of 4 are aligned, and not; a bias gradient, which the oracle's check always
// requests.
TEMPLATE_TEST_CASE("HIP: weight gradients over few pixels of any alignment agree with the oracle", "", fk::half,
                   (Types<fk::bfloat16, float>)) {
    fk::hip::Device device = sm90a_device();
    OneGradient<FewPixelsGradient> few(device);
    constexpr auto one = fk::filter(1, 1);
    check_weight_gradient<TestType, one>(few, {{32, 4, 1, 1}, 96, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<TestType, one>(few, {{3, 133, 3, 7}, 67, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<TestType, one>(few, {{35, 36, 1, 1}, 66, "nhwc+3", "nhwc", "nhwc+3"});
    check_weight_gradient<TestType, one>(few, {{1, 1, 1, 1}, 1, "nhwc", "nhwc", "nhwc"});
}

TEST_CASE("HIP: weight gradients over few pixels need pixels with one stride and contiguous channels") {
    using Plan = fk::Plan<fk::ConvWeightGradient<fk::filter(1, 1)>>;
    fk::hip::Device device = sm90a_device();
    fk::half any[1];
    auto const runs = [&](fk::Layout<4> const& x, fk::Layout<4> const& dy) {
        fk::hip::WeightGradientParams<Plan, fk::half, fk::half> const params{
            Plan::bind({.dy = fk::TensorView<fk::half const>{any, dy}}),
            {any, x},
            {any, fk::krsc(dy.shape[1], 1, 1, x.shape[1])}};
        return bool(fk::hip::prepare_few_pixels_gradient(device.gpu(), params));
    };
    CHECK(runs(fk::nhwc(2, 4, 8, 3), fk::nhwc(2, 4, 8, 5)));
    CHECK(runs(fk::nchw(32, 3, 1, 1), fk::nchw(32, 5, 1, 1)));
    CHECK_FALSE(runs(fk::nhwc(3, 4, 8, 3), fk::nhwc(3, 4, 8, 5)));  // 96 pixels
    CHECK_FALSE(runs(fk::nchw(2, 3, 4, 8), fk::nhwc(2, 4, 8, 5)));
    CHECK_FALSE(runs(fk::nhwc(2, 4, 8, 3), fk::nchw(2, 5, 4, 8)));
    auto gap = fk::nhwc(2, 4, 8, 3);
    gap.stride[0] += 3;
    CHECK_FALSE(runs(gap, fk::nhwc(2, 4, 8, 5)));
}
