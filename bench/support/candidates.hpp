// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/hip.hpp>

#include <functional>
#include <vector>

#include "support/problem.hpp"

namespace bench {

/// A schedule on a problem, predicted and measured.
struct Candidate {
    fusekit::hip::Prediction predicted;
    double seconds;  ///< median; 0 if not measured
};

/// Measurements of a problem's schedules, the library's choice first.
struct Measured {
    fusekit::hip::TunedKey key;
    std::vector<Candidate> all;
};

/// Predicts every schedule that computes Conv, Bias, Relu, and times those that `wanted` selects. Throws if results
/// differ.
Measured measure_candidates(fusekit::hip::Device& device, Problem const& problem, int repeats,
                            std::function<bool(fusekit::hip::Prediction const&)> const& wanted);

}  // namespace bench
