// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/warp_specialized_kernels.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/dispatch/list.hpp"

using namespace fusekit::hip;
using test::problem;

namespace {

using Tile = WarpSpecialized<192, 128, 4>;
using Plain = WithKernels<Tile, Kernels::plain>;

static_assert(kernels_of<Tile>() == Kernels::both && kernels_of<Split<Plain>>() == Kernels::plain);
static_assert(split_k_of<Plain> == split_k_of<Tile>);
// tables of measured schedules compare names and numbers alone
static_assert(facts_of<Plain>() == facts_of<Tile>() && facts_of<Plain>().is_plain && !facts_of<Tile>().is_plain);

constexpr bool skips(std::int64_t channels, std::int64_t filters = 128, bool has_phases = false) {
    return fusekit::hip::detail::skips_blocks(facts_of<Tile>(), channels, filters, has_phases);
}
static_assert(!skips(64) && !skips(128) && !skips(56) && skips(48) && skips(72) && skips(8) && !skips(120));
static_assert(skips(64, 64) && !skips(64, 64, true) && skips(64, 192) && !skips(64, 72) && !skips(64, 256));

double seconds(ScheduleFacts const& schedule, ConvCase const& of) {
    return estimate_of(schedule, of, NvidiaTuning::costs, rates_of(Architecture::sm(90))).seconds;
}

}  // namespace

TEST_CASE("HIP: the cost model knows what plain kernels of WarpSpecialized compute, and their MMAs") {
    ConvCase const whole = problem(8, 64, 14, 128, 3);
    CHECK(seconds(facts_of<Plain>(), whole) == seconds(facts_of<Tile>(), whole));
    ConvCase const narrow = problem(64, 1040, 14, 256, 1);  // one of 17 k-tiles has one k-block of four with channels
    CHECK(seconds(facts_of<Plain>(), narrow) > seconds(facts_of<Tile>(), narrow));
    for (auto const change :
         {+[](ConvCase& of) { of.stores_by_tma = false; }, +[](ConvCase& of) { of.copied_bytes = 8; },
          +[](ConvCase& of) { of.product.groups = 2; }}) {
        ConvCase other = whole;
        change(other);
        CHECK(seconds(facts_of<Tile>(), other) < Estimate::infinite);
        CHECK(seconds(facts_of<Plain>(), other) == Estimate::infinite);
    }
}
