// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "support/case.hpp"
#include "support/oracle.hpp"

namespace test {

/// The run-time arguments of one operator beside the Conv, whichever it is.
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
    std::vector<double> dy;          // of a form that begins with T or U
    std::vector<Step> steps;         // what stands before the Conv and after it, in order

    explicit Problem(Case const& about);

    bool in_training() const { return about.form[0] == 'T' || about.form[0] == 'U'; }

    oracle::Tensor expected() const;

private:
    oracle::Tensor applied(Step const& step, oracle::Tensor y) const;
};

/// What is wrong with the test itself: an expectation that is mostly zeros or mostly one value proves little.
/// Empty where it is fit for use.
std::string unfit(oracle::Tensor const& expected);

}  // namespace test
