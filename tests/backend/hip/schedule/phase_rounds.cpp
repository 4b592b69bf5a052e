// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/phase_rounds.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>

using namespace fusekit::hip;

namespace {

/// Gradient by x of a 3x3 filter of stride 2 and padding 1, to n images of 2 hw x 2 hw pixels of c channels.
ConvCase gradient(std::int64_t n, std::int64_t hw, std::int64_t c) {
    ConvCase of{};
    std::int64_t const m = n * hw * hw;
    of.product.n = c;
    of.phases = 4;
    for (int i = 0; i < 4; ++i) of.of_phases[i] = {m, i == 0 ? 4 : i == 3 ? 1 : 2};
    return of;
}

}  // namespace

TEST_CASE("HIP: CTAs compute each tile of all phases once, and the estimate is of the one with the most work") {
    ScheduleFacts schedule;
    schedule.m = 96, schedule.n = 128;
    Costs const costs{.round = 3};
    for (auto const& [n, hw, c] : {std::array<std::int64_t, 3>{1, 7, 64}, {8, 14, 256}, {32, 7, 512}, {64, 7, 512}}) {
        detail::PhaseRounds const rounds(schedule, gradient(n, hw, c), 132);
        std::int64_t tiles = 0, taps = 0;
        double most = 0;
        for (std::int64_t block = 0; block < rounds.blocks; ++block) {
            auto const load = rounds.of_block(block);
            tiles += load.tiles, taps += load.taps;
            most = std::max(most, static_cast<double>(load.taps) * 8 + static_cast<double>(load.tiles) * 3);
        }
        CHECK(tiles == rounds.tiles());
        CHECK(4 * taps == 9 * tiles);  // all phases have the same number of tiles
        Workload workload{.rounds = 0, .steps = 0, .arithmetic = 1};
        detail::set_busiest(workload, rounds, 8, costs);
        CHECK(workload.rounds * workload.steps + 3 * workload.rounds == most);
    }
}
