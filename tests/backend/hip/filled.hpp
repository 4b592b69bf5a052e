// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fusekit/hip.hpp"

namespace test {

namespace fk = fusekit;

/// Element i of filled(): an integer from -`most` to `most`.
inline float small(std::int64_t i, int most) { return static_cast<float>(i * 7 % (2 * most + 1) - most); }

/// Tensor of small integers in memory order, with sums that are exact in any order.
template <class T, int Rank>
fk::Tensor<T, fk::hip::Device, Rank> filled(fk::hip::Device& device, fk::Layout<Rank> const& layout, int most) {
    fk::Tensor<T, fk::hip::Device, Rank> tensor(device, layout);
    std::vector<T> values(static_cast<std::size_t>(tensor.size()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = T(small(static_cast<std::int64_t>(i), most));
    tensor.copy_from(values.data());
    return tensor;
}

}  // namespace test
