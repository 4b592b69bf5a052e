// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/fewer_kernels.hpp"
#include "backend/hip/gpu.hpp"
#include "support/flipped_outputs.hpp"
#include "support/in_place.hpp"

using namespace test;

TEST_CASE("HIP: a plan is bitwise identical in place, and if it adds to y") {
    fk::hip::Device device = gpu();
    auto&& on = fewer_kernels(device);
    check_in_place(device, on);
}

TEST_CASE("HIP: outputs with negative strides have the same values") {
    fk::hip::Device device = gpu();
    check_flipped_outputs<float>(device);
    check_flipped_outputs<fk::half>(device);
}
