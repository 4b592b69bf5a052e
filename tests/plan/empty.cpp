// SPDX-License-Identifier: MIT
// Plans of every kind on tensors without elements: a run that writes nothing, or sums of nothing.
#include "fusekit/plan/empty.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/empty_pointwise.hpp"
#include "support/empty_tensors.hpp"

using namespace test;

TEST_CASE("a convolution of no elements writes nothing, or what follows a sum of nothing") {
    fk::host::Device device(2);
    check_empty_conv<float, fk::filter(3, 3).pad(1)>(device);
    check_empty_conv<fk::half, fk::filter(1, 1).pad(1).stride(2)>(device);  // y has elements, but its windows none
    check_empty_conv<double, fk::filter(3, 3).pad(1)>(device);
    check_empty_conv<float, fk::filter(3, 3).pad(1).groups(3)>(device);
    check_empty_conv<float, fk::filter(3).pad(1)>(device);
    check_empty_conv<float, fk::filter(3, 3, 3).pad(1)>(device);
    check_empty_conv<float, fk::filter(1, 1, 1).pad(1)>(device);
    check_around_empty_conv(device);
    check_empty_transposed(device);
    check_empty_gemm(device);
}

TEST_CASE("gradients by weights and bias over no pixels are 0") {
    fk::host::Device device(2);
    check_empty_weight_gradient<fk::filter(3, 3).pad(1)>(device);
    check_empty_weight_gradient<fk::filter(3, 2).stride(2).groups(2)>(device);
    check_empty_weight_gradient<fk::filter(1, 3, 3).pad(0, 1, 1)>(device);
}

TEST_CASE("pointwise plans, pools, statistics and gradients of no elements") {
    fk::host::Device device(2);
    check_empty_pointwise(device);
    check_empty_pools(device);
    check_empty_statistics(device);
    check_empty_gradients(device);
}
