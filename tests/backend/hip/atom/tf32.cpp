// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/arch/tf32.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/matrix_schedule.hpp"
#include "support/float_products.hpp"

using namespace test;
using fk::hip::MatrixGemm;

TEMPLATE_TEST_CASE("HIP: convolutions of TF32 are exact on sm_90a's tensor cores", "", (MatrixGemm<128, 64, 2>),
                   (MatrixGemm<128, 128, 1>)) {
    check_matrix_schedule<FloatsAs<fk::tf32>, TestType>("float");
}

TEST_CASE("HIP: sm_90a's tensor cores multiply floats as Products requests") {
    fk::hip::Device device = sm90a_device();
    auto units = device.with<MatrixGemm<128, 64, 2>>();
    check_float_products<fk::tf32>(units, true);
    check_float_products<fk::bfloat16x3>(units, false);
    check_float_products<void>(units, false);
    check_float_products<fk::bfloat16x3>(device, false);
    check_float_products<float>(device, false);
    check_float_products<void>(device, false);
}

#if defined(HIP_ON_CPU)  // on GPU builds this function is __device__ only
TEST_CASE("HIP: a float is rounded to the nearest TF32") {
    auto const rounded = [](float value) { return std::bit_cast<float>(fk::hip::rounded_to_tf32(value).bits); };
    CHECK(rounded(1.5f) == 1.5f);
    CHECK(rounded(1 + 0x1p-12f) == 1);
    CHECK(rounded(1 + 0x1.8p-11f) == 1 + 0x1p-10f);
    CHECK(rounded(-1 - 0x1p-11f) == -1 - 0x1p-10f);
    CHECK(rounded(0x1.fffffep0f) == 2);
    CHECK(rounded(0x1.fffffep127f) == HUGE_VALF);
    CHECK(rounded(-HUGE_VALF) == -HUGE_VALF);
    CHECK(std::isnan(rounded(std::bit_cast<float>(0x7f800001u))));
    CHECK(std::isnan(rounded(std::bit_cast<float>(0xffffffffu))));
}
#endif
