// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/problem.hpp"

namespace test {

/// Results of Backward: dx, and for each operator the gradients of its parameters, in its order; empty if the plan
/// refuses.
struct PlanGradients {
    std::vector<double> dx;
    std::vector<std::vector<std::vector<float>>> parameters;
};

/// A plan with its arguments, as functions: the value and the slope of its chain at one element; its output for the
/// numbers of another problem; its gradients.
struct Chain {
    std::function<double(std::size_t element, double value)> run, slope;
    std::function<std::vector<double>(Problem const&)> all;
    std::function<PlanGradients(std::vector<double> const& dy)> backward;
};

/// Calls `check` with every pointwise plan of a shard; defined in plan/slope_shard.hpp.
template <int Shard, int Shards>
void for_each_chain(fk::host::Device& device, std::function<void(Problem const&, Chain const&)> const& check);

}  // namespace test
