// SPDX-License-Identifier: MIT
#include "support/float8_cases.hpp"

using namespace test;

TEST_CASE("plans on 8-bit floats compute what the oracle does") {
    fk::host::Device device(2);
    check_float8(device);
}
