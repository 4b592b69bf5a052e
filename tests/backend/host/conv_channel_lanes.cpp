// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/conv_channel_lanes.hpp"

#include "support/host_loops.hpp"

using namespace test;
using fk::host::lanes, fk::host::panel_columns, fk::host::tile_rows;

namespace {

constexpr auto loop = [](int threads) {
    return [threads](auto const& problem, auto const& args, auto const& y) {
        return fk::host::ConvChannelLanes<LoopCase::Epilogue, float, float, 2>(threads, problem, args, y);
    };
};

}  // namespace

TEST_CASE("channels in lanes: tiles that are full, one short and one over, in both modes") {
    check_tiles("nhwc", {2, lanes, 2 * lanes + 1, panel_columns - 1, panel_columns, 2 * panel_columns + 1},
                {1, tile_rows - 1, tile_rows, tile_rows + 1, 3 * tile_rows + 2}, loop);
}

TEST_CASE("channels in lanes: strides, dilations, uneven padding, groups, and x of any layout") {
    check_windows("nhwc", loop);
}

TEST_CASE("channels in lanes: groups of few filters, first layers, and taps that lie outside x for whole tiles") {
    oracle::Window const same{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1};
    auto const check = [](oracle::Shape const& x, std::int64_t k, oracle::Window const& window) {
        for (int const threads : {1, 2}) {
            INFO(x.c << " channels, " << k << " filters, " << threads << " threads");
            CHECK(difference_of_loop({x, k, window, "nhwc", "nhwc", "nhwc"}, threads, loop(threads)) == "");
        }
    };
    for (std::int64_t const groups : {2, 5, 16})
        for (std::int64_t const channels : {4, 7, 8}) {
            oracle::Window window = same;
            window.groups = groups;
            check({2, groups * channels, 5, 2 * tile_rows + 3}, groups * (channels - 1), window);
        }
    for (std::int64_t const c : {1, 3})
        for (std::int64_t const stride : {1, 2}) {
            oracle::Window window = same;
            window.u = window.v = stride;
            check({1, c, 9, 4 * tile_rows + 5}, 3 * lanes + 1, window);
        }
    oracle::Window far = same;
    far.top = far.left = far.bottom = far.right = far.e = far.d = 2 * tile_rows;
    check({1, 8, 3, 2 * tile_rows + 2}, lanes + 2, far);
}
