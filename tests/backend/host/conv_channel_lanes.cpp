// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/conv_channel_lanes.hpp"

#include "support/host_loops.hpp"

using namespace test;
using fk::host::lanes, fk::host::tile_columns, fk::host::tile_rows;

namespace {

constexpr auto loop = [](int threads) {
    return [threads](auto const& problem, auto const& args, auto const& y) {
        return fk::host::ConvChannelLanes<LoopCase::Epilogue, float, float, 2>(threads, problem, args, y);
    };
};

}  // namespace

TEST_CASE("channels in lanes: tiles that are full, one short and one over, in both modes") {
    check_tiles("nhwc", {2, lanes, tile_columns - 1, tile_columns, 2 * tile_columns + 1},
                {1, tile_rows - 1, tile_rows, tile_rows + 1, 3 * tile_rows + 2}, loop);
}

TEST_CASE("channels in lanes: strides, dilations, uneven padding, groups, and x of any layout") {
    check_windows("nhwc", loop);
}
