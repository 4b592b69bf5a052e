// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "support/case.hpp"
#include "support/oracle.hpp"

namespace test {

/// Run-time arguments of one operator other than the Conv.
struct Step {
    char letter;                     // of Case::form
    std::vector<double> values{};    // bias, z in canonical order, or Requantize's scale
    double factor = 1;               // alpha2, the scale's factor, or Requantize's zero point
    oracle::Statistics statistics{};
    oracle::Mode mode{};
};

/// A case with its numbers.
struct Problem {
    Case about;
    std::vector<double> x, weights;  // in canonical order
    std::vector<double> dy;          // for forms that begin with T or U
    std::vector<Step> steps;         // operators before and after the Conv, in order

    explicit Problem(Case const& about);

    bool in_training() const { return about.form[0] == 'T' || about.form[0] == 'U'; }

    oracle::Tensor expected() const;

private:
    oracle::Tensor applied(Step const& step, oracle::Tensor y) const;
};

/// Reason why the expected values prove little, such as mostly zeros or mostly one value; empty if they are
/// informative.
std::string unfit(oracle::Tensor const& expected);

}  // namespace test
