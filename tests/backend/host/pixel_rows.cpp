// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/pixel_rows.hpp"

#include "fusekit/backend/host/conv_channel_lanes.hpp"
#include "support/host_loops.hpp"

using namespace test;
using fk::host::tile_columns, fk::host::tile_rows;

namespace {

constexpr auto loop = [](int threads) {
    return [threads](auto const& problem, auto const& args, auto const& y) {
        return fk::host::ConvChannelLanes<LoopCase::Epilogue, float, float, 2>(threads, problem, args, y);
    };
};

void check(oracle::Shape const& x, std::int64_t k, oracle::Window const& window) {
    INFO(x.c << " channels, " << x.h << " x " << x.w << ", " << window.r << " x " << window.s);
    for (int const threads : {1, 3})
        CHECK(difference_of_loop({x, k, window, "nhwc", "nhwc", "nhwc"}, threads, loop(threads)) == "");
}

}  // namespace

TEST_CASE("pixel rows: few channels, whose window rows are read in place or packed at the edges") {
    for (std::int64_t const c : {1, 3, 31, 32})
        for (std::int64_t const width : {3, 2 * tile_rows, 3 * tile_rows + 5}) {
            check({2, c, 7, width}, tile_columns + 3, {.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1});
            check({1, c, 7, width}, 5, {.r = 3, .s = 3, .bottom = 2, .right = 2, .u = 2, .v = 2});
            check({1, c, 7, width}, 5, {.r = 1, .s = 2, .left = 3, .v = 1});
            check({1, c, 7, width}, 5, {.r = 2, .s = 3, .top = 3, .left = 2, .right = 1, .e = 2});
        }
}

TEST_CASE("pixel rows: patches, whose stride is their size") {
    check({2, 3, 12, 4 * (2 * tile_rows + 1)}, 2 * tile_columns, {.r = 4, .s = 4, .u = 4, .v = 4});
    check({1, 3, 40, 40}, 9, {.r = 20, .s = 20, .u = 20, .v = 20});
}

TEST_CASE("pixel rows: dilated windows and groups of few channels are read per tap") {
    check({1, 5, 9, 3 * tile_rows}, 4, {.r = 3, .s = 3, .top = 2, .left = 2, .bottom = 2, .right = 2, .e = 2});
    check({1, 6, 9, 3 * tile_rows}, 4, {.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .groups = 2});
}

TEST_CASE("pixel rows: a column of pixels, and images of one pixel") {
    check({3, 40, 2 * tile_rows + 1, 1}, tile_columns, {});
    check({tile_rows + 2, 40, 1, 1}, tile_columns + 1, {});
}
