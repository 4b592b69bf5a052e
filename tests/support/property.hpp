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
    double seconds;          // cases that are not reached in time are left out
};

/// Runs random cases, within a test case of Catch2. Environment: FUSEKIT_CASE, one case to run instead; FUSEKIT_SEED;
/// FUSEKIT_CASES, their number, without a limit of time.
void check(Property const& property);

}  // namespace test
