// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/amd/tap_order.hpp"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <tuple>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using namespace fk::hip;

namespace {

/// Counts the indices of GemmK in all k-tiles of an order.
template <class Order>
void count(std::map<std::tuple<int, int, int>, int>& all, int channels) {
    for (int phase = 0; phase < Order::phases; ++phase)
        for (int step = 0; step < Order::steps_of_phase(channels); ++step)
            for (unsigned k = 0; k < Order::tile_k; ++k) {
                KCoord const at = Order::coord(phase, step * Order::channels, k), in_first = Order::coord(phase, 0, k);
                // an index of the k-tile has the same tap in all k-tiles of a phase
                CHECK((at.r == in_first.r && at.s == in_first.s));
                if (at.c < channels) ++all[{at.c, at.r, at.s}];
            }
}

/// Each tap of each channel occurs once, in the k-tiles of whole packets or of tail taps.
template <auto Filter, class T, int tile_k>
void check(int channels) {
    using Plan = fk::Plan<fk::Conv<Filter>>;
    CAPTURE(Filter.size[0], Filter.size[1], sizeof(T), channels);
    REQUIRE((AnyTapOrder<Plan, T>::fills_packets(channels)));
    std::map<std::tuple<int, int, int>, int> all;
    count<TapOrderOf<Plan, T, tile_k, true>>(all, channels);
    count<TapOrderOf<Plan, T, tile_k, false>>(all, channels);
    CHECK(all.size() == static_cast<std::size_t>(channels * Filter.size[0] * Filter.size[1]));
    for (auto const& [at, times] : all) CHECK(times == 1);
}

template <auto Filter, class T>
using Any = AnyTapOrder<fk::Plan<fk::Conv<Filter>>, T>;
using Nine = Any<fk::filter(3, 3), fk::half>;
static_assert(Nine::unit == 1 && Nine::in_packets == 1 && Nine::tail_taps == 1);
using Bytes = Any<fk::filter(3, 3), fk::int8>;
static_assert(Bytes::unit == 2 && Bytes::in_packets == 1 && Bytes::tail_taps == 1);  // 18 taps: 16, and a pair
using One = Any<fk::filter(1, 1), fk::half>;
static_assert(One::unit == 8 && One::in_packets == 1 && One::tail_taps == 0);

// Columns that a quad's taps read outside x: at most three, else the whole quad is padding.
static_assert(Any<fk::filter(3, 3).pad(1), float>::max_outside() == 1);
static_assert(Any<fk::filter(1, 9).pad(0, 4), float>::max_outside() == 3);
static_assert(Any<fk::filter(3, 3), float>::max_outside() == 0);
static_assert(Any<fk::filter(1, 3).pad(0, 0, 0, 2), float>::max_outside() == 2);

}  // namespace

TEST_CASE("HIP: an order of taps has each tap of each channel once") {
    check<fk::filter(3, 3), fk::half, 32>(24);
    check<fk::filter(3, 5), fk::half, 32>(40);
    check<fk::filter(2, 2), fk::half, 64>(6);
    check<fk::filter(1, 1), fk::int8, 64>(48);
    check<fk::filter(3, 3), fk::int8, 64>(32);
    check<fk::filter(5, 5), float, 16>(12);
    check<fk::filter(4, 4), float, 16>(7);
}
