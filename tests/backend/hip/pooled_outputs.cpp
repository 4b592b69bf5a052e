// SPDX-License-Identifier: MIT
// Runs tests of tests/ops/pool.cpp on a GPU.
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/pooled_windows.hpp"

using namespace test;

TEST_CASE("HIP: Pool reads the values at its position, in every layout and type") {
    fk::hip::Device device = gpu();
    check_pooled_windows(device);
    check_pooled_convs(device);
}
