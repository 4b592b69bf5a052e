// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/workload.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"

namespace fk = fusekit;
using namespace fk::hip;

TEST_CASE("HIP: tiles of all groups are counted, those that are partly filled too") {
    ScheduleFacts const schedule{.m = 96, .n = 64};
    CHECK(detail::count_tiles(schedule, {96, 64, 1, 8}) == 1);
    CHECK(detail::count_tiles(schedule, {97, 64, 1, 8}) == 2);
    CHECK(detail::count_tiles(schedule, {97, 65, 3, 8}) == 12);
    CHECK(detail::count_tiles(schedule, {0, 65, 3, 8}) == 0);
}

TEST_CASE("HIP: a partly filled last round counts as a fraction of a round") {
    for (int const processors : {1, 7, 132})
        for (double const least : {0.0, 0.4, 1.0})
            for (std::int64_t tiles = 1; tiles < 4 * processors; ++tiles) {
                CAPTURE(processors, least, tiles);
                double const rounds = detail::rounds_of(tiles, processors, least);
                std::int64_t const whole = tiles / processors;
                if (tiles <= processors) CHECK(rounds == 1);
                else if (tiles % processors == 0) CHECK(rounds == static_cast<double>(whole));
                else {
                    CHECK(rounds >= static_cast<double>(whole) + least);
                    CHECK(rounds <= static_cast<double>(whole) + 1);
                    CHECK(rounds >= detail::rounds_of(tiles - 1, processors, least));
                }
            }
}

TEST_CASE("HIP: the time of a part of GemmK is that of its work") {
    GpuRates const rates = rates_of(Architecture::sm(90));
    CostTable const& table = NvidiaTuning::costs;
    ConvCase const of = test::problem(8, 64, 14, 64, 3);
    Costs const costs{.step = 10};
    ScheduleFacts const schedule{.m = 64, .n = 64};
    detail::PartTime const time{
        schedule, of, table, rates, costs, 512, [](detail::PartTime const& own, Product const& part) {
            return Workload{.rounds = 1, .steps = static_cast<double>(part.gemm_k), .arithmetic = 1000 / own.products};
        }};
    auto const seconds = [&](std::int64_t k, double exchanges) {
        return time({64, 64, 1, k}, exchanges).seconds - rates.launch;
    };
    double const cycle = 1 / (rates.clock * table.clock_share), step = (10 + 1000 / 512.0) * cycle;
    CHECK(std::abs(seconds(1000, 0) / (1000 * step) - 1) < 1e-9);
    CHECK(std::abs(seconds(1000, 700) / (1000 * step + 700 * cycle) - 1) < 1e-9);
}
