// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/problem.hpp"

namespace test {

/// A plan with its arguments: what it makes of a value in the place of one element of its input, and what its chain's
/// slope is there.
struct Chain {
    std::function<double(std::size_t element, double value)> run, slope;
};

/// Calls `check` with every pointwise plan of a shard; plan/slope_shard.hpp has the definition.
template <int Shard, int Shards>
void for_each_chain(fk::host::Device& device, std::function<void(Problem const&, Chain const&)> const& check);

}  // namespace test
