// SPDX-License-Identifier: MIT
// Runs tests of tests/ops/batch_norm/synchronized.cpp on a GPU.
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/synchronized_parts.hpp"

using namespace test;

TEST_CASE("HIP: ranks' batch norm in training and its gradients are those of the whole batch") {
    fk::hip::Device device = gpu();
    check_synchronized<float>(device);
}
