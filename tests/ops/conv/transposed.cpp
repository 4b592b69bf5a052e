// SPDX-License-Identifier: MIT
#include "fusekit/ops/conv/transposed.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "support/refusal.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;

TEMPLATE_TEST_CASE("transposed convolutions compute what the oracle does", "", float, fk::half, fk::bfloat16, fk::int8,
                   double) {
    fk::host::Device one(1), two(2);
    check_transposed_convolutions<TestType>(one);
    check_transposed_convolutions<TestType>(two);
}

TEMPLATE_TEST_CASE("transposed convolutions of every window compute what the oracle does", "", float, double) {
    fk::host::Device device(2);
    check_transposed_windows<TestType>(device);
}

TEST_CASE("a transposed convolution is the adjoint of the convolution") {
    fk::host::Device device(2);
    check_adjoints(device);
}
