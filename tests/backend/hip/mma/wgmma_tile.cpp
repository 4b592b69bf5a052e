// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mma/wgmma_tile.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/matrix_schedule.hpp"
#include "fusekit/backend/hip/dispatch/list.hpp"
#include "support/matrix_products.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fk::hip::MatrixGemm;

TEMPLATE_TEST_CASE("HIP: convolutions of any layout are exact on sm_90a's tensor cores", "", (MatrixGemm<64, 64, 4>),
                   (MatrixGemm<128, 64, 2>), (MatrixGemm<128, 128, 1>), (MatrixGemm<256, 64, 1>)) {
    check_matrix_schedule<fk::half, TestType>("half");
}

TEST_CASE("HIP: BatchedGemm is exact on sm_90a's tensor cores") {
    fk::hip::Device device = sm90a_device();
    check_batched_products<fk::half>(device);
    check_batched_products<fk::bfloat16>(device);
}

TEST_CASE("HIP: transposed convolutions are exact on sm_90a's tensor cores") {
    fk::hip::Device device = sm90a_device();
    auto units = device.with<MatrixGemm<64, 64, 4>>();
    check_transposed_convolutions<fk::half>(units);
    check_transposed<fk::bfloat16, fk::filter(4, 4).pad(1).stride(2), true>(units, {1, 72, 8, 6}, 70);
}

TEST_CASE("HIP: convolutions of bfloat16 in any layout are exact on sm_90a's tensor cores") {
    check_matrix_schedule<fk::bfloat16, MatrixGemm<128, 64, 2>>("bfloat16");
}
