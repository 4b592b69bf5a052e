// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/conv_channel_lanes.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/host_loops.hpp"

using namespace test;
using fk::host::lanes, fk::host::tile_columns, fk::host::tile_rows;

namespace {

int wrong(LoopCase const& about, int threads) {
    auto const problem = about.problem();
    auto const args = about.args();
    return about.wrong(
        [&](auto const& y) {
            return fk::host::ConvChannelLanes<LoopCase::Epilogue, float, float, 2>(threads, problem, args, y);
        },
        threads);
}

}  // namespace

TEST_CASE("channels in lanes: tiles that are full, one short and one over, in both modes") {
    auto const padded = fk::filter(3, 3).pad(1);
    for (std::int64_t const k : {2, lanes, tile_columns - 1, tile_columns, 2 * tile_columns + 1})
        for (std::int64_t const pixels : {1, tile_rows - 1, tile_rows, tile_rows + 1, 3 * tile_rows + 2}) {
            INFO(k << " channels of " << pixels << " pixels");
            CHECK(wrong(loop_case({{1, 5, 1, pixels}}, k, fk::filter(1, 1), true, true), 1) == 0);
            CHECK(wrong(loop_case({{2, 3, 4, pixels}}, k, padded, true, true, true), 2) == 0);
        }
}

TEST_CASE("channels in lanes: strides, dilations, uneven padding, groups, and x of any layout") {
    auto const skewed = fk::filter(3, 2).stride(2, 3).dilation(2, 1).pad(1, 0, 2, 3);
    for (bool const x_last : {true, false})
        for (bool const w_last : {true, false}) {
            CHECK(wrong(loop_case({{2, 6, 9, 11}}, 20, skewed, x_last, true, w_last), 3) == 0);
            CHECK(wrong(loop_case({{2, 6, 9, 11}}, 20, fk::filter(3, 3).pad(1).groups(2), x_last, true, w_last), 2) ==
                  0);
            CHECK(wrong(loop_case({{1, 6, 5, 5}}, 6, fk::filter(5, 5).pad(4).groups(3), x_last, true, w_last), 1) == 0);
        }
}
