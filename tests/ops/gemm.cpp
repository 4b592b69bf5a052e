// SPDX-License-Identifier: MIT
#include "fusekit/ops/gemm.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "support/matrix_products.hpp"

using namespace test;

TEMPLATE_TEST_CASE("products of matrices compute what the oracle does, and the bits of a 1x1 convolution", "", float,
                   fk::half, fk::bfloat16, fk::int8, double) {
    fk::host::Device one(1), two(2);
    check_products<TestType>(one);
    check_products<TestType>(two);
}

TEST_CASE("statistics after a Gemm are of its columns") {
    fk::host::Device device(2);
    check_column_statistics(device);
}
