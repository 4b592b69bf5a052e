// SPDX-License-Identifier: MIT
// Runs the tests of tests/plan/element_types.cpp on a GPU.
#include "backend/hip/gpu.hpp"
#include "backend/hip/runner.hpp"
#include "support/mixed_types.hpp"

using namespace test;

TEST_CASE("HIP: plans compute what the oracle does into y of every other element type") {
    fk::hip::Device device = gpu();
    Runner runner(device);
    check_mixed_types([one = &runner](int) -> Runner& { return *one; }, 10, 1e6);
}
