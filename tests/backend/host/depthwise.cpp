// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/depthwise.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/host_loops.hpp"

using namespace test;
using fk::Axis, fk::host::lanes;

namespace {

template <Axis axis>
int wrong(LoopCase const& about, int threads) {
    auto const problem = about.problem();
    auto const args = about.args();
    return about.wrong(
        [&](auto const& y) { return fk::host::Depthwise<LoopCase::Epilogue, float, float, 2, axis>(problem, args, y); },
        threads);
}

}  // namespace

TEST_CASE("depthwise: vectors that are full, one short and one over, with lanes along channels and along pixels") {
    for (int const count : {2, lanes - 1, lanes, lanes + 1, 3 * lanes + 2}) {
        auto const filter = fk::filter(3, 3).pad(1).groups(count),
                   skewed = fk::filter(2, 5).stride(2, 3).pad(3).groups(7);
        INFO(count);
        for (bool const x_last : {true, false}) {
            CHECK(wrong<Axis::channel>(loop_case({{2, count, 5, 6}}, count, filter, x_last, true), 2) == 0);
            CHECK(wrong<Axis::pixel>(loop_case({{2, count, 5, 6}}, count, filter, x_last, false), 2) == 0);
            CHECK(wrong<Axis::channel>(loop_case({{1, 7, 4, count + 2}}, 7, skewed, x_last, true), 1) == 0);
            CHECK(wrong<Axis::pixel>(loop_case({{1, 7, 4, count + 2}}, 7, skewed, x_last, false), 1) == 0);
        }
    }
}
