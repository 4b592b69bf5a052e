// SPDX-License-Identifier: MIT
// Batches of more pixels or outputs than 32-bit counts, with limits lowered to dozens.
#include "fusekit/backend/hip/slabs.hpp"

#include "backend/hip/lowered_limits.hpp"
#include "support/collected_channels.hpp"
#include "support/pooled_windows.hpp"
#include "support/static_geometries.hpp"
#include "support/transposed_convolutions.hpp"
#include "support/user_operators.hpp"

using namespace test;

TEST_CASE("HIP: a slab has whole images and, if possible, whole tiles") {
    using fk::hip::images_of_slab;
    CHECK(images_of_slab(5, 1 << 20, 1 << 30, 64) == 5);
    CHECK(images_of_slab(1024, 1 << 20, 1 << 30, 64) == 1023);
    CHECK(images_of_slab(1023, 1 << 20, 1 << 30, 64) == 1023);
    CHECK(images_of_slab(std::int64_t{1} << 32, 1, 1 << 30, 64) == (1 << 30) - 64);
    CHECK(images_of_slab(100, 49, 1000, 4) == 20);  // 980 pixels are 245 whole tiles
    CHECK(images_of_slab(100, 49, 1000, 64) == 20);  // fewer than 64 images never fill whole tiles
    CHECK(images_of_slab(3, 1000, 1000) == 1);
    fk::hip::Slabs const slabs{10, 5, 7};
    CHECK(slabs.of(9).image == 0);
    CHECK(slabs.of(10).image == 7);
    CHECK((slabs.of(29).image == 14 && slabs.of(29).block == 20 && slabs.of(29).tile == 10));
}

TEST_CASE("HIP: convolutions of several slabs compute what the oracle does") {
    fk::hip::Device device = gpu();
    LoweredLimits const lowered(device, {.pixels = 100});
    auto const on = [where = &lowered](std::uint64_t) -> LoweredLimits const& { return *where; };
    check_geometry<float, fk::filter(3, 3).pad(1)>({7, 5, 7, 6}, 9, on);
    check_geometry<float, fk::filter(1, 1).stride(2)>({5, 8, 9, 9}, 70, on);
    check_geometry<float, fk::filter(2, 3, 3).pad(1)>({5, 3, 4, 3, 3}, 5, on);
    CHECK(lowered.slabs() >= 4);
}
TEST_CASE("HIP: transposed convolutions of several slabs compute all phases") {
    fk::hip::Device device = gpu();
    LoweredLimits const lowered(device, {.pixels = 200});
    check_transposed<float, fk::filter(3, 3).pad(1).stride(2)>(lowered, {5, 7, 9, 10}, 8);
    check_transposed<float, fk::filter(3, 3).pad(1)>(lowered, {3, 7, 9, 10}, 8);
    CHECK(lowered.slabs() == 3);
}
TEST_CASE("HIP: users' operators get the image index in every slab") {
    fk::hip::Device device = gpu();
    LoweredLimits const lowered(device, {.pixels = 1, .outputs = 1 << 10});
    for (bool const last : {true, false}) CHECK(wrong_outputs_of_user_operators(lowered, last) == 0);
    CHECK(lowered.slabs() > 1);
}
TEST_CASE("HIP: statistics cover all slabs") {
    fk::hip::Device device = gpu();
    LoweredLimits const lowered(device, {.pixels = 300});
    oracle::Window const same{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1};
    for (char const* layout : {"nchw", "nhwc"}) {
        check_conv_statistics<fk::Conv<fk::dynamic>, float, 4>(lowered, layout, layout, {{11, 4, 8, 8}, 9, same});
        oracle::Window depthwise = same;
        depthwise.groups = 40;
        check_conv_statistics<fk::Conv<fk::dynamic>, float, 4>(lowered, layout, layout,
                                                               {{11, 40, 8, 8}, 40, depthwise});
    }
    CHECK(lowered.slabs() >= 3);
    Filled<float, fk::hip::Device, 4> x(device, "nchw", {34, 1, 3, 3}, integers(306, -2, 2, 1)),
        w(device, "kcrs", {1, 1, 1, 1}, {1});
    Placed<fk::hip::Device, 1> sums(device, fk::DataType::float32, fk::channels(2), 64),
        scratch(device, fk::DataType::float32, fk::channels(100), 64);
    auto const of = [&](int k) { return fk::sliced(sums.view<float>(), 0, k, 1); };
    auto const layer = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::ChannelStatistics>::bind(
        {.weights = w.view()}, {.mean = of(0), .variance = of(1), .scratch = scratch.view<float>()});
    auto y = fk::Tensor<float, fk::hip::Device>(device, fk::nchw(34, 1, 3, 3));
    LoweredLimits const narrow(device, {.pixels = 50});  // a tile for each 45 pixels
    CHECK(refusal([&] { layer(narrow, x.view(), y); }) ==
          "Plan<Conv<filter(1, 1)>, ChannelStatistics>: y.shape: expected images of a multiple of 64 pixels, for "
          "ChannelStatistics of 2^30 pixels or more, got 34 x 1 x 3 x 3");
}

TEST_CASE("HIP: global and window pools of several slabs agree with the oracle") {
    fk::hip::Device device = gpu();
    LoweredLimits const lowered(device, {.pixels = 300, .outputs = 200});
    for (PooledLayouts const& layouts : {PooledLayouts{"nchw", "nchw"}, PooledLayouts{"nhwc", "nhwc"}}) {
        check_pooled_pointwise<fk::GlobalAverage, float, 4>(lowered, layouts, {9, 67, 3, 5});
        check_pooled_pointwise<fk::Pool<fk::Max, 2, 2>, float, 4>(lowered, layouts, {9, 8, 4, 6});
        check_pooled_filter<fk::Pool<fk::Average, fk::filter(3, 3).stride(2).pad(1)>, fk::half>(lowered, layouts,
                                                                                                {7, 16, 5, 4});
        check_pooled_conv<fk::Pool<fk::Max, 2, 2>, float>(lowered, layouts, {9, 5, 8, 6}, 9, {});
    }
    CHECK(lowered.slabs() >= 4);
}
