// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/hip.hpp>

#include <functional>
#include <vector>

#include "support/problem.hpp"

namespace bench {

/// A schedule on a problem, as it was predicted and measured.
struct Candidate {
    fusekit::hip::Prediction predicted;
    double seconds;  ///< the median; 0 where it was not measured
};

/// What is known of a problem's schedules, the library's choice first.
struct Measured {
    fusekit::hip::TunedKey key;
    std::vector<Candidate> all;
};

/// Predicts every schedule that computes Conv, Bias, Relu, and times those that `wanted` says. Throws where results
/// differ.
Measured measure_candidates(fusekit::hip::Device& device, Problem const& problem, int repeats,
                            std::function<bool(fusekit::hip::Prediction const&)> const& wanted);

}  // namespace bench
