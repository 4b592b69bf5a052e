// SPDX-License-Identifier: MIT
// Runs tests of tests/plan/backward.cpp and gradient.cpp on a GPU.
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/backward_outputs.hpp"
#include "support/backward_plans.hpp"

using namespace test;

TEST_CASE("HIP: gradients of pointwise plans in float agree with double") {
    fk::hip::Device device = gpu();
    check_gradients_of_pointwise_plans(device);
}

TEST_CASE("HIP: Backward writes a residual's gradient and does not repeat forward stores") {
    fk::hip::Device device = gpu();
    check_gradients_beside_outputs(device);
}
