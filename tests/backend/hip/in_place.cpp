// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/flipped_outputs.hpp"
#include "support/in_place.hpp"

using namespace test;

TEST_CASE("HIP: a plan gives the same bits where it runs in place, and where it adds to y") {
    fk::hip::Device device = gpu();
    check_in_place(device);
}

TEST_CASE("HIP: outputs whose modes run backwards have the values of others") {
    fk::hip::Device device = gpu();
    check_flipped_outputs<float>(device);
    check_flipped_outputs<fk::half>(device);
}
