// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>

#include "support/problem.hpp"

namespace test {

/// Runs a case and checks that its expected values are informative.
void check_case(Case const& about, auto run, auto& device) {
    INFO(about.print());
    Problem const problem(about);
    oracle::Tensor const expected = problem.expected();
    REQUIRE(unfit(expected) == "");
    CHECK(run(problem, expected, device) == "");
}

}  // namespace test
