// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <vector>

#include "fusekit/hip.hpp"

namespace test {

/// Values of a y of half after a launch; y is NaN before it.
inline std::vector<float> launch_results(auto const& launch, fusekit::Tensor<fusekit::half, fusekit::hip::Device>& y,
                                         fusekit::hip::Device& device) {
    std::vector<fusekit::half> values(static_cast<std::size_t>(y.size()),
                                      fusekit::half(std::numeric_limits<float>::quiet_NaN()));
    y.copy_from(values.data());
    REQUIRE(!launch.start(device));
    device.synchronize();
    y.copy_to(values.data());
    std::vector<float> floats;
    for (fusekit::half const value : values) floats.push_back(static_cast<float>(value));
    return floats;
}

}  // namespace test
