// SPDX-License-Identifier: MIT
// Compiled for each of AMD's targets, as atom/native.cpp is.
#include "fusekit/backend/hip/collective/tap_operands.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/native.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fk::hip::NativeGemm;

TEMPLATE_TEST_CASE("HIP: quads of pixels and filters' taps are loaded for the matrix units of each target", "",
                   (NativeGemm<128, 128, 2>), (NativeGemm<64, 64, 6>), (NativeGemm<64, 128, 2>)) {
    fk::hip::Device device = native();
    auto scheduled = device.with<TestType>();
    // Eight taps together and one apart; tiles that end between filters and between images; steps that end early.
    check_transposed<fk::half, fk::filter(3, 3).pad(1)>(scheduled, {2, 72, 5, 8}, 40);
    check_transposed<fk::bfloat16, fk::filter(3, 3).pad(2).dilation(2)>(scheduled, {1, 136, 3, 12}, 24);
    check_transposed<fk::half, fk::filter(3, 3).pad(1, 0, 1, 0)>(scheduled, {3, 8, 6, 12}, 8);
    check_transposed<fk::half, fk::filter(3, 3).pad(1, 2, 0, 0).groups(2)>(scheduled, {1, 36, 4, 8}, 48);
    check_transposed<fk::half, fk::filter(2, 3, 3).pad(1, 0, 1)>(scheduled, {1, 16, 3, 5, 8}, 8);
    // All taps together, of any number of channels; all apart.
    check_transposed<fk::half, fk::filter(4, 4).pad(1, 2, 2, 1)>(scheduled, {1, 19, 4, 8}, 5);
    check_transposed<fk::half, fk::filter(2, 3).pad(0, 1).groups(2)>(scheduled, {1, 48, 6, 8}, 32);
    check_transposed<fk::half, fk::filter(1, 1)>(scheduled, {2, 40, 3, 4}, 24);
    check_transposed<fk::bfloat16, fk::filter(3).pad(1)>(scheduled, {2, 20, 1, 36}, 16);
    // What is loaded one by one: rows that are no multiple of four, packets of channels that do not end with them,
    // strides.
    check_transposed<fk::half, fk::filter(3, 3).pad(1)>(scheduled, {2, 24, 5, 7}, 16);
    check_transposed<fk::half, fk::filter(3, 3).pad(1)>(scheduled, {1, 24, 5, 8}, 12);
    check_transposed<fk::half, fk::filter(3, 3).pad(1).stride(2)>(scheduled, {1, 24, 6, 8}, 16);
}
