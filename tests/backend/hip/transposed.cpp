// SPDX-License-Identifier: MIT
#include "fusekit/ops/conv/transposed.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;

TEMPLATE_TEST_CASE("HIP: transposed convolutions compute what the oracle does", "", float, fk::half, fk::bfloat16,
                   fk::int8) {
    fk::hip::Device device = gpu();
    check_transposed_convolutions<TestType>(device);
}

TEST_CASE("HIP: transposed convolutions of every window compute what the oracle does") {
    fk::hip::Device device = gpu();
    check_transposed_windows<float>(device);
}

TEST_CASE("HIP: a transposed convolution is the adjoint of the convolution") {
    fk::hip::Device device = gpu();
    check_adjoints(device);
}
