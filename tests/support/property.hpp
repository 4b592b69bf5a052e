// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/problem.hpp"
#include "support/random_case.hpp"

namespace test {

/// A property test: what is run, and how much of it.
struct Property {
    std::vector<FormName> forms;
    std::function<std::string(Problem const&, oracle::Tensor const&)> run;  // what is wrong with a case, or nothing
    int cases;
    double multiplications;  // of a case, at most
};

/// Runs cases that once went wrong, then random ones, the same in every run, within a test case of Catch2. Environment:
/// FUSEKIT_CASE, one case to run instead; FUSEKIT_SEED and FUSEKIT_CASES, seed and number of the random ones.
void check(Property const& property);

/// Runs one case, within a test case of Catch2.
void check_one(Property const& property, Case const& about);

}  // namespace test
