// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/split.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/schedule/matrix_gemm.hpp"
#include "fusekit/backend/hip/schedule/planes.hpp"
#include "fusekit/backend/hip/schedule/warp_specialized.hpp"

namespace fk = fusekit;
using namespace fk::hip;
using test::problem, test::time_of;

namespace {

using Tile = MatrixGemm<64, 64, 4>;
using Narrow = WarpSpecialized<64, 64, 8>;
using Conv = fk::Conv<fk::filter(3, 3)>;

static_assert(SplitSchedule<Split<Tile>> && !SplitSchedule<Tile>);
static_assert(std::is_same_v<WholeSchedule<Split<Tile, 4>>, Tile> && std::is_same_v<WholeSchedule<Tile>, Tile>);
static_assert(split_k_of<Split<Tile, 4>> == 4 && split_k_of<Tile> == 1);
// Schedules whose tiles may be shared: MatrixGemm, the smallest WarpSpecialized, Planes of 16 bits.
template <class Entry, class Schedule, class T>
constexpr bool splits = Entry::template splits<Schedule, T, traits_of<fk::Plan<Conv>, T>()>;
static_assert(splits<MatrixGemmEntry, Tile, fk::half> && splits<WarpSpecializedEntry, Narrow, fk::half>);
static_assert(!splits<WarpSpecializedEntry, Narrow, fk::int8>);
static_assert(!splits<WarpSpecializedEntry, WarpSpecialized<128, 64, 4>, fk::half>);
static_assert(splits<PlanesEntry, Planes<>, fk::half> && !splits<PlanesEntry, Planes<>, float>);
static_assert(can_split<fk::Plan<Conv>, fk::half> && !can_split<fk::Plan<Conv, fk::ChannelStatistics>, fk::half>);

/// Layer of few tiles and long sums.
ConvCase deep() { return problem(1, 2048, 7, 64, 3); }

}  // namespace

TEST_CASE("HIP: Split is faster for few tiles of long sums, and infinite for more tiles than it may share") {
    Estimate const whole = time_of<WarpSpecializedEntry, Narrow>(deep()),
                   shared = time_of<WarpSpecializedEntry, Split<Narrow>>(deep());
    CHECK(shared.seconds < whole.seconds);
    CHECK((shared.split_k == 8 && whole.split_k == 1));
    CHECK_FALSE(time_of<WarpSpecializedEntry, Split<Narrow>>(problem(64, 64, 56, 64, 3)).is_finite());
    // A CTA reduces at least 64 or 128 indices of GemmK.
    CHECK_FALSE(time_of<MatrixGemmEntry, Split<Tile>>(problem(1, 64, 7, 64, 1)).is_finite());
}

TEST_CASE("HIP: outside clusters the workspace and the processors bound the CTAs that share tiles") {
    GpuRates rates = rates_of(Architecture::sm(80));
    ScheduleFacts facts = numbers_of<MatrixGemmEntry, Split<Tile>>();
    auto const most = [&](std::size_t bytes) { return detail::max_sharing_blocks(facts, rates, bytes); };
    constexpr std::size_t states = GroupWorkspace::state_bytes, tile = 64 * 64 * sizeof(float);
    CHECK(most(0) == 0);
    CHECK(most(states + 10 * tile) == 10);
    CHECK(most(states + 10 * tile - 1) == 9);
    facts.m = 8;
    CHECK(most(states + 1000 * tile) == rates.processors);
    CHECK(detail::max_sharing_blocks(facts, rates_of(Architecture::sm(90)), 0) > 1 << 30);
}
