// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/problem.hpp"
#include "support/random_case.hpp"

namespace test {

/// Configuration of a property test.
struct Property {
    std::vector<FormName> forms;
    std::function<std::string(Problem const&, oracle::Tensor const&)> run;  // returns the difference, or empty
    int cases;
    double multiplications;  // maximum per case
    std::int64_t step = 1, first = 0;  // of the random cases, those of the numbers first, first + step ... run
    bool has_bfloat16 = true;          // if not, cases of bfloat16 run in half
};

/// Runs regression cases, then random ones, identical in every run, within a Catch2 test case. Environment:
/// FUSEKIT_CASE, one case to run instead; FUSEKIT_SEED and FUSEKIT_CASES, seed and number of random cases.
void check(Property const& property);

/// Runs one case, within a Catch2 test case.
void check_one(Property const& property, Case const& about);

}  // namespace test
