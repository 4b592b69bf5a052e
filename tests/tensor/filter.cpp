// SPDX-License-Identifier: MIT
#include "fusekit/tensor/filter.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/oracle.hpp"

namespace fk = fusekit;

namespace {

static_assert(fk::filter(3, 5) == fk::Filter<2>{{3, 5}, {0, 0}, {0, 0}, {1, 1}, {1, 1}, 1});
static_assert(fk::filter(3, 5).pad(1) == fk::Filter<2>{{3, 5}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1});
static_assert(fk::filter(3, 5).pad(1, 2) == fk::filter(3, 5).pad(1, 2, 1, 2));
static_assert(fk::filter(3, 5).pad(1, 2, 3, 4) == fk::Filter<2>{{3, 5}, {1, 2}, {3, 4}, {1, 1}, {1, 1}, 1});
static_assert(fk::filter(3, 5).stride(2).stride(2, 3) == fk::filter(3, 5).stride(2, 3));
static_assert(fk::filter(3, 5).dilation(2, 3).dilation(4) == fk::filter(3, 5).dilation(4, 4));
static_assert(fk::filter(3, 5).groups(8).group_count == 8);
static_assert(fk::filter(3, 3) != fk::filter(3, 3).groups(2) && fk::filter(3, 3) == fk::filter(3, 3).pad(0).stride(1));

}  // namespace

TEST_CASE("a filter prints as it is written") {
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
