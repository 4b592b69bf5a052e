// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/pool_stage.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/one_kernel.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/pooled_windows.hpp"

using namespace test;
using fusekit::hip::WarpSpecialized, fusekit::hip::Roles;
using Max = fk::Pool<fk::Max, 2, 2>;
using Taps = fk::Pool<fk::MaxWithTaps, 2, 2>;
using Average = fk::Pool<fk::Average, 2, 2>;

namespace {

constexpr oracle::Window of_3x3{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1};

using Conv3 = fk::Conv<fk::filter(3, 3).pad(1)>;

}  // namespace

TEMPLATE_TEST_CASE("HIP: convolutions that end with a pool are exact on sm_90a's tensor cores with every tile", "",
                   (WarpSpecialized<64, 64, 3, Roles::ping_pong>), (General<96, 128, 5, Roles::ping_pong>),
                   (General<144, 128, 4, Roles::ping_pong>), (WarpSpecialized<192, 128, 4>), (General<144, 192, 4>),
                   (General<64, 64, 6, Roles::cooperative, 2>)) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<TestType>();
    PooledLayouts const layouts{"nhwc", "nhwc"};
    // windows that span tiles and images; one window; strides, dilations and uneven padding; a matrix of pixels
    check_pooled_channels<Max, fk::half>(scheduled, layouts, {3, 72, 10, 6}, 136, of_3x3);
    check_pooled_channels<Average, fk::half>(scheduled, layouts, {2, 16, 14, 26}, 200, of_3x3);
    check_pooled_channels<Max, fk::half>(scheduled, layouts, {1, 8, 2, 2}, 8, {.r = 1, .s = 1});
    check_pooled_channels<Max, fk::half>(scheduled, layouts, {5, 24, 12, 18}, 72, {.r = 1, .s = 1});
    check_pooled_channels<Average, fk::half>(
        scheduled, layouts, {2, 64, 11, 11}, 64,
        {.r = 3, .s = 3, .top = 2, .left = 1, .right = 2, .u = 2, .v = 1, .d = 1, .e = 2});
    check_pooled_channels<Taps, fk::half>(scheduled, layouts, {3, 16, 10, 6}, 72, of_3x3);
    // y's pixels are misaligned for TMA, so that threads store them
    check_pooled_channels<Max, fk::half>(scheduled, layouts, {2, 16, 8, 10}, 19, of_3x3);
}

TEST_CASE("HIP: StripHalo with a pool is exact") {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<fk::hip::StripHalo<>>();
    PooledLayouts const layouts{"nhwc", "nhwc"};
    // tiles with rows of two images; tiles of 16 columns, 64 channels, and of 8, 128; tails of columns and channels
    check_pooled_channels<Max, fk::half>(scheduled, layouts, {3, 72, 14, 22}, 64, of_3x3);
    check_pooled_channels<Average, fk::half>(scheduled, layouts, {2, 16, 38, 10}, 136, of_3x3);
    check_pooled_channels<Taps, fk::half>(scheduled, layouts, {3, 24, 14, 22}, 136, of_3x3);
    check_pooled_channels<Max, fk::bfloat16, Conv3>(scheduled, layouts, {1, 8, 2, 2}, 8, of_3x3);
    check_pooled_channels<Max, fk::half>(scheduled, layouts, {5, 64, 9, 13}, 128,
                                         {.r = 5, .s = 2, .top = 2, .bottom = 1});
}

TEST_CASE("HIP: the library selects the same schedule for a layer of VGG-16 with its pool as without") {
    struct Layer {
        std::int64_t c, hw, k;
    };
    auto const address = [](int number) { return static_cast<fk::half*>(fk::detail::stand_in(number)); };
    for (Layer const& of : {Layer{64, 224, 64}, {128, 112, 128}, {256, 56, 256}, {512, 28, 512}, {512, 14, 512}}) {
        fk::TensorView<fk::half const> const w(address(1), fk::krsc(of.k, 3, 3, of.c)),
            x(address(2), fk::nhwc(32, of.hw, of.hw, of.c));
        auto const predicted = [&](auto const& bound, std::int64_t hw) {
            return predict_run(fk::hip::Architecture::sm(90), bound, x,
                               fk::TensorView<fk::half>(address(3), fk::nhwc(32, hw, hw, of.k)));
        };
        auto const bare = predicted(fk::Plan<Conv3>::bind({.weights = w}), of.hw),
                   pooled = predicted(fk::Plan<Conv3, Max>::bind({.weights = w}, {}), of.hw / 2);
        INFO(of.c << ' ' << of.hw << ' ' << pooled.to_string().c_str());
        CHECK(pooled.schedule == bare.schedule);
        CHECK(pooled.seconds < 1.05 * bare.seconds);
    }
}
