// SPDX-License-Identifier: MIT
// Compiled for each of AMD's targets, as atom/native.cpp is.
#include "fusekit/backend/hip/copy/amd/transposed_filters.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/native.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fk::hip::NativeGemm;

namespace {

using Tiles = LoaderTiles<NativeGemm<128, 128, 2>, NativeGemm<64, 64, 6>, NativeGemm<64, 128, 2>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: AMD transposes contiguous filters on the way to LDS", "", Tiles) {
    fk::hip::Device device = native();
    auto scheduled = device.with<TestType>();
    // Tiles that end between filters; channels that end within a k-tile, which then has two taps; strides; groups;
    // slices.
    check_transposed<fk::half, fk::filter(3, 3).pad(1)>(scheduled, {2, 72, 5, 7}, 40);
    check_transposed<fk::bfloat16, fk::filter(3, 3).pad(1).stride(2)>(scheduled, {1, 136, 9, 8}, 24);
    check_transposed<fk::half, fk::filter(2, 3).pad(0, 1).groups(2)>(scheduled, {1, 48, 6, 5}, 32);
    check_transposed<fk::half, fk::filter(2, 3, 3).pad(1, 0, 1).stride(2, 1, 3)>(scheduled, {1, 16, 5, 7, 4}, 8);
    check_transposed<float, fk::filter(3, 3).pad(1)>(scheduled, {1, 68, 5, 6}, 12);
}
