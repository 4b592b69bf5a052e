// SPDX-License-Identifier: MIT
#include "support/float8_cases.hpp"

#include "backend/hip/gpu.hpp"

using namespace test;

TEST_CASE("HIP: plans on 8-bit floats compute what the oracle does") {
    fk::hip::Device device = gpu();
    check_float8(device);
}
