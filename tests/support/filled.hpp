// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "support/case.hpp"
#include "support/placed.hpp"
#include "support/random.hpp"

namespace test {

/// Integers from low to high.
inline std::vector<double> integers(std::int64_t size, std::int64_t low, std::int64_t high, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> values(static_cast<std::size_t>(size));
    for (double& value : values) value = static_cast<double>(random.range(low, high));
    return values;
}

/// A tensor of T with its values, in the layout that a word names.
template <class T, class Device, int Rank>
struct Filled {
    std::vector<double> values;
    Placed<Device, Rank> memory;

    Filled(Device& device, std::string const& layout, oracle::Shape shape, std::vector<double> const& values)
        : values(values), memory(device, fk::data_type<T>, layout_of<Rank>(layout, shape), values) {}

    fk::TensorView<T const, Rank> view() { return memory.template view<T const>(); }
};

}  // namespace test
