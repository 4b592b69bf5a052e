// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/halo_pool.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/sm90a_device.hpp"
#include "support/pooled_windows.hpp"

using namespace test;
using Max = fk::Pool<fk::Max, 2, 2>;
using Average = fk::Pool<fk::Average, 2, 2>;
using Conv3 = fk::Conv<fk::filter(3, 3).pad(1)>;

TEST_CASE("HIP: Halo with a pool is exact") {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<fk::hip::DefaultHalo<fk::half>>();
    PooledLayouts const layouts{"nhwc", "nhwc"};
    constexpr oracle::Window f{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1};
    // several tiles per row and per column, tails of both; several tiles of channels; tiles of whole rows
    check_pooled_channels<Max, fk::half>(scheduled, layouts, {2, 16, 6, 230}, 64, f);
    check_pooled_channels<Average, fk::half>(scheduled, layouts, {3, 72, 20, 22}, 136, f);
    check_pooled_channels<Max, fk::bfloat16, Conv3>(scheduled, layouts, {1, 8, 2, 2}, 8, f);
    check_pooled_channels<Max, fk::half>(scheduled, layouts, {2, 16, 14, 28}, 40, f);
    check_pooled_channels<Average, fk::half>(scheduled, layouts, {2, 64, 15, 12}, 24, {.r = 2, .s = 3, .left = 2});
}
