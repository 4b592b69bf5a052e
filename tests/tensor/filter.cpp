// SPDX-License-Identifier: MIT
#include "fusekit/tensor/filter.hpp"

#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <string>

#include "support/oracle.hpp"
#include "support/refusal.hpp"

namespace fk = fusekit;
using test::refusal;

namespace {

static_assert(fk::filter(3, 5) == fk::Filter<2>{{3, 5}, {0, 0}, {0, 0}, {1, 1}, {1, 1}, 1});
static_assert(fk::filter(3, 5).pad(1) == fk::Filter<2>{{3, 5}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1});
static_assert(fk::filter(3, 5).pad(1, 2) == fk::filter(3, 5).pad(1, 2, 1, 2));
static_assert(fk::filter(3, 5).pad(1, 2, 3, 4) == fk::Filter<2>{{3, 5}, {1, 2}, {3, 4}, {1, 1}, {1, 1}, 1});
static_assert(fk::filter(3, 5).stride(2).stride(2, 3) == fk::filter(3, 5).stride(2, 3));
static_assert(fk::filter(3, 5).dilation(2, 3).dilation(4) == fk::filter(3, 5).dilation(4, 4));
static_assert(fk::filter(3, 5).groups(8).group_count == 8);
static_assert(fk::filter(3, 3) != fk::filter(3, 3).groups(2) && fk::filter(3, 3) == fk::filter(3, 3).pad(0).stride(1));

/// Filters of one and of three modes: outermost first, sides before then after.
static_assert(fk::filter(3) == fk::Filter<1>{{3}, {0}, {0}, {1}, {1}, 1});
static_assert(fk::filter(3).pad(1, 2).stride(4).dilation(5) == fk::Filter<1>{{3}, {1}, {2}, {4}, {5}, 1});
static_assert(fk::filter(3).pad(1) == fk::filter(3).pad(1, 1));
static_assert(fk::filter(2, 3, 4).pad(1) == fk::filter(2, 3, 4).pad(1, 1, 1));
static_assert(fk::filter(2, 3, 4).pad(5, 6, 7) == fk::filter(2, 3, 4).pad(5, 6, 7, 5, 6, 7));
static_assert(fk::filter(2, 3, 4).pad(1, 2, 3, 4, 5, 6).stride(7, 8, 9).dilation(10, 11, 12) ==
              fk::Filter<3>{{2, 3, 4}, {1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}, 1});
static_assert(fk::filter(2, 3, 4).stride(2) == fk::filter(2, 3, 4).stride(2, 2, 2));
static_assert(fk::detail::is_single_pixels(fk::filter(1)) &&
              fk::detail::is_single_pixels(fk::filter(1, 1, 1).groups(3)));
static_assert(!fk::detail::is_single_pixels(fk::filter(1, 1, 1).pad(0, 0, 0, 1, 0, 0)) &&
              !fk::detail::is_single_pixels(fk::filter(2, 1, 1)));

}  // namespace

TEST_CASE("a filter's numbers are of any integer type, and refused where they do not fit int") {
    constexpr std::int64_t most = INT_MAX, large = std::int64_t{1} << 32;
    static_assert(fk::filter(std::int64_t{3}, 5u).pad(most).stride(std::size_t{2}, 3).groups(4L) ==
                  fk::filter(3, 5).pad(INT_MAX).stride(2, 3).groups(4));
    CHECK(refusal([] { return fk::filter(3, 3).pad(large + 1); }) ==
          "Filter: filter.pad: expected a number that fits int, of 32 bits, got 4294967297");
    CHECK(refusal([] { return fk::filter(3, 3).pad(1, large); }).starts_with("Filter: filter.pad: "));
    CHECK(refusal([] { return fk::filter(3, 3).pad(0, 0, 0, -large); }).ends_with("got -4294967296"));
    CHECK(refusal([] { return fk::filter(3, 3).stride(large + 1); }).starts_with("Filter: filter.stride: "));
    CHECK(refusal([] { return fk::filter(3, 3).stride(1, large + 1); }).starts_with("Filter: filter.stride: "));
    CHECK(refusal([] { return fk::filter(3, 3).dilation(most + 1); }).starts_with("Filter: filter.dilation: "));
    CHECK(refusal([] { return fk::filter(3, 3).dilation(large + 1, 1); }).starts_with("Filter: filter.dilation: "));
    CHECK(refusal([] { return fk::filter(3, 3).groups(large + 1); }).starts_with("Filter: filter.groups: "));
    CHECK(refusal([] { return fk::filter(large + 1); }).starts_with("Filter: filter.size: "));
    CHECK(refusal([] { return fk::filter(1, large + 1); }).starts_with("Filter: filter.size: "));
    CHECK(refusal([] { return fk::filter(1, 1, large + 1); }).starts_with("Filter: filter.size: "));
}

TEST_CASE("a filter prints as it is written") {
    CHECK(fk::filter(3).to_string() == "filter(3)");
    CHECK(fk::filter(5).pad(1, 2).stride(2).to_string() == "filter(5).pad(1, 2).stride(2)");
    CHECK(fk::filter(3, 3, 3).pad(1).to_string() == "filter(3, 3, 3).pad(1)");
    CHECK(fk::filter(3, 1, 2).pad(1, 0, 2).dilation(2).to_string() == "filter(3, 1, 2).pad(1, 0, 2).dilation(2)");
    CHECK(fk::filter(3, 1, 2).pad(1, 0, 2, 0, 0, 0).to_string() == "filter(3, 1, 2).pad(1, 0, 2, 0, 0, 0)");
    CHECK(fk::filter(3, 3).to_string() == "filter(3, 3)");
    CHECK(fk::filter(3, 5).pad(1).to_string() == "filter(3, 5).pad(1)");
    CHECK(fk::filter(3, 5).pad(1, 2).to_string() == "filter(3, 5).pad(1, 2)");
    CHECK(fk::filter(3, 3).pad(1, 2, 3, 4).to_string() == "filter(3, 3).pad(1, 2, 3, 4)");
    CHECK(fk::filter(3, 3).pad(0, 0, 0, 1).to_string() == "filter(3, 3).pad(0, 0, 0, 1)");
    CHECK(fk::filter(7, 7).pad(3).stride(2).dilation(1, 2).groups(32).to_string() ==
          "filter(7, 7).pad(3).stride(2).dilation(1, 2).groups(32)");
    CHECK(fk::filter(1, 1).stride(2, 1).to_string() == "filter(1, 1).stride(2, 1)");
}

TEST_CASE("output extents are the number of windows that fit") {
    int checked = 0;
    for (int size = 1; size <= 5; ++size)
        for (int pad = 0; pad <= 3; ++pad)
            for (int step = 1; step <= 4; ++step)
                for (int spread = 1; spread <= 3; ++spread)
                    for (int in = 1; in <= 9; ++in, ++checked) {
                        auto const f = fk::filter(size, size + 1).pad(pad, 0, pad + 1, 2).stride(step).dilation(spread);
                        test::oracle::Window const w{size, size + 1, pad, 0, pad + 1, 2, step, step, spread, spread, 1};
                        REQUIRE(f.output(0, in) == w.output_height(in));
                        REQUIRE(f.output(1, in) == w.output_width(in));
                    }
    CHECK(checked == 2160);
    CHECK(fk::filter(3, 3).stride(0).output(0, 9) == 0);
    CHECK(fk::filter(3, 3).output(0, std::int64_t{1} << 40) == (std::int64_t{1} << 40) - 2);
}

TEST_CASE("output extents do not overflow 32 bits: they are right, or 0") {
    int right = 0;
    for (int const size : {INT_MIN, -1, 0, 1, 3, INT_MAX - 1, INT_MAX})
        for (int const step : {INT_MIN, 0, 1, 2, INT_MAX})
            for (int const spread : {INT_MIN, 0, 1, 3, INT_MAX})
                for (int const pad : {INT_MIN, -1, 0, 1, INT_MAX})
                    for (std::int64_t const in : {std::int64_t{1}, std::int64_t{9}, std::int64_t{1} << 61, INT64_MAX}) {
                        auto const f = fk::filter(size).pad(pad, 1).stride(step).dilation(spread);
                        __extension__ using Wide = __int128;
                        bool const possible = size > 0 && step > 0 && spread > 0 && pad >= 0;
                        Wide const room = Wide{in} + pad + 1 - Wide{spread} * (Wide{size} - 1) - 1;
                        Wide const exact = !possible || room < 0 ? 0 : room / step + 1;
                        std::int64_t const got = f.output(0, in);
                        right += got == exact || (got == 0 && in == INT64_MAX);
                    }
    CHECK(right == 7 * 5 * 5 * 5 * 4);
}
