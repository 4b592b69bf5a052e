// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "fusekit/hip.hpp"
#include "support/refusal.hpp"

namespace test {

namespace fk = fusekit;

/// GPU `index`; if there is none, skips the test case and reports what is missing.
inline fk::hip::Device gpu(int index = 0) {
    if (fk::hip::device_count() <= index) try {
            fk::hip::Device{index};
        } catch (fk::Error const& error) {
            SKIP("this needs " << index + 1 << " GPU(s). " << error.what());
        }
    return fk::hip::Device(index);
}

using Floats = fk::Tensor<float, fk::hip::Device>;
using Abs = fk::Plan<fk::Activation<fk::Abs>>;

inline std::vector<float> numbers(Floats const& tensor) {
    std::vector<float> values(static_cast<std::size_t>(tensor.size()));
    tensor.copy_to(values.data());
    return values;
}

/// True if the device still computes and HIP has no pending error.
inline bool works(fk::hip::Device& device) {
    using namespace fk::hip;
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 3), {1, -2, -3});
    return numbers(test::Abs::bind({})(device, x)) == std::vector<float>{1, 2, 3} && hipGetLastError() == hipSuccess;
}

}  // namespace test
