// SPDX-License-Identifier: MIT
// Runs the tests of tests/ops/requantize.cpp on a GPU.
#include "backend/hip/gpu.hpp"
#include "backend/hip/runner.hpp"
#include "support/int8_cases.hpp"

using namespace test;

TEST_CASE("HIP: plans on int8 compute what the oracle does") {
    fk::hip::Device device = gpu();
    Runner runner(device);
    check_int8([one = &runner](int) -> Runner& { return *one; }, 20, 1e6);
}

TEST_CASE("HIP: int8 accumulates in int32") {
    fk::hip::Device device = gpu();
    check_large_sums(device);
}
