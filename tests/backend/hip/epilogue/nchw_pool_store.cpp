// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/nchw_pool_store.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/sm90a_device.hpp"
#include "support/pooled_windows.hpp"

using namespace test;
using Max = fk::Pool<fk::Max, 2, 2>;
using Average = fk::Pool<fk::Average, 2, 2>;

TEST_CASE("HIP: Planes with a pool is exact") {
    fk::hip::Device device = sm90a_device();
    auto wide = device.with<fk::hip::Planes<240, 1>>();
    auto narrow = device.with<fk::hip::Planes<64, 2>>();
    constexpr oracle::Window f{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1};
    // several parts of rows per image, the last one shorter; whole images; tails of channels
    check_pooled_channels<Max, fk::half>(wide, {"nchw", "nchw"}, {2, 72, 20, 28}, 136, f);
    check_pooled_channels<Max, fk::half>(wide, {"nchw", "nchw"}, {2, 16, 6, 28}, 19, f);
    check_pooled_channels<Average, fk::bfloat16>(wide, {"nchw", "nchw"}, {3, 16, 10, 58}, 37, f);
    check_pooled_channels<Average, fk::half>(narrow, {"nchw", "nchw"}, {3, 24, 8, 6}, 130, f);
    check_pooled_channels<Max, fk::half>(narrow, {"nchw", "nchw+1"}, {5, 8, 4, 4}, 9, f);
    check_pooled_channels<Max, fk::half>(narrow, {"nchw", "nchw"}, {2, 8, 11, 16}, 16,
                                         {.r = 3, .s = 3, .top = 1, .left = 2});
}
