// SPDX-License-Identifier: MIT
// Runs tests of tests/ops/conv/transposed.cpp on a GPU.
#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/sm90a_device.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fk::hip::MatrixGemm, fk::hip::NativeGemm, fk::hip::Split;

TEMPLATE_TEST_CASE("HIP: phases of a transposed convolution agree with the oracle on matrix units and with split-K", "",
                   (MatrixGemm<128, 64, 2>), (Split<MatrixGemm<64, 64, 4>, 2>), (NativeGemm<64, 64, 6>)) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<TestType>();
    check_transposed<fk::half, fk::filter(3, 3).pad(1).stride(2)>(scheduled, {2, 20, 9, 8}, 70);
    check_transposed<fk::half, fk::filter(1, 1).stride(2)>(scheduled, {1, 20, 5, 6}, 9);  // three phases without a tap
}

TEST_CASE("HIP: Store, statistics and Pool after a transposed convolution get its values") {
    fk::hip::Device device = gpu();
    check_operators_after_transposed(device);
}
