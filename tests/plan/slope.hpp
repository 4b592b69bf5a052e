// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/problem.hpp"

namespace test {

/// What Backward makes of dy: dx, and for each operator the gradients of its parameters, in the order in which it has
/// them; none where the plan refuses to give them.
struct PlanGradients {
    std::vector<double> dx;
    std::vector<std::vector<std::vector<float>>> parameters;
};

/// A plan with its arguments: what it makes of a value in the place of one element of its input, and what its chain's
/// slope is there; what it makes of the numbers of another problem; its gradients.
struct Chain {
    std::function<double(std::size_t element, double value)> run, slope;
    std::function<std::vector<double>(Problem const&)> all;
    std::function<PlanGradients(std::vector<double> const& dy)> backward;
};

/// Calls `check` with every pointwise plan of a shard; plan/slope_shard.hpp has the definition.
template <int Shard, int Shards>
void for_each_chain(fk::host::Device& device, std::function<void(Problem const&, Chain const&)> const& check);

}  // namespace test
