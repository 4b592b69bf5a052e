// SPDX-License-Identifier: MIT
// Runs tests of tests/plan/element_types.cpp on a GPU.
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "backend/hip/runner.hpp"
#include "support/mixed_types.hpp"

using namespace test;

TEST_CASE("HIP: products, reductions, pools and statistics write y of other element types") {
    fk::hip::Device device = gpu();
    check_mixed_heads(device);
}

TEST_CASE("HIP: weights may have another element type than x") {
    fk::hip::Device device = gpu();
    Runner runner(device);
    check_mixed_weights([one = &runner](int) -> Runner& { return *one; }, 10, 1e6);
    check_mixed_weights_of_products(device);
    check_scaled_int8_weights<fk::half>(device);
    check_scaled_int8_weights<float>(device);
}
