// SPDX-License-Identifier: MIT
// Compiled for each of AMD's targets, as atom/native.cpp is.
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/mainloop/native_weight_gradients.hpp"

using namespace test;

TEST_CASE("HIP: weight gradients of bfloat16, loaded as half is, are exact on the matrix units of each target") {
    fk::hip::Device device = native();
    check_stage<fk::bfloat16>();
    check_each_loader<fk::bfloat16>(device);
    check_weight_gradient<fk::bfloat16, fk::filter(2, 2).stride(2).groups(3)>(
        device, {{2, 12, 6, 7}, 6, "nhwc", "nhwc", "nchw"});
}

TEST_CASE("HIP: weight gradients of float are exact on the matrix units of targets that have them") {
    fk::hip::Device device = native();
    check_all_gradients<float>(device);
}
