// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/atom/wgmma_tile.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/schedule.hpp"
#include "support/check_case.hpp"
#include "support/matrix_products.hpp"
#include "support/run_case.hpp"

using namespace test;
using fk::hip::MatrixGemm;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;

/// What bulk copies cannot load: planes of any size, channels that fill no 16 bytes, gaps, tensors that begin anywhere,
/// groups, and values that pass operators first.
template <class T, class Schedule>
void check_schedule(std::string const& type) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<Schedule>();
    using Scheduled = decltype(scheduled);
    for (char const* text :
         {"n1c1h1w1k1r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs ", "n2c72h7w5k136r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs ",
          "n3c5h9w8k67r2s3pt1l0b0r2u1v2d1e1g1 nchw+1 kcrs+1 ", "n2c40h8w8k24r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs ",
          "n2c3h13w17k20r5s5pt2l2b2r2u2v2d1e1g1 nhwc krsc ", "n2c24h6w7k48r3s1pt1l0b1r0u1v1d2e1g2 nhwc>nchw krsc "})
        for (char const* seed : {"#3", "#6"})  // of the others, tensors are not aligned
            check_case(Case::parse(text + type + " CBA relu " + seed),
                       run_conv<Scheduled, T, fk::dynamic, fk::Bias, Relu>, scheduled);
    check_case(Case::parse("n2c24h7w9k40r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs " + type + " CRN #4"),
               run_conv<Scheduled, T, fk::dynamic, fk::Residual, Norm>, scheduled);
}

}  // namespace

TEMPLATE_TEST_CASE("HIP: convolutions of any layout are exact on sm_90a's matrix units", "", (MatrixGemm<64, 64, 4>),
                   (MatrixGemm<128, 64, 2>), (MatrixGemm<128, 128, 1>), (MatrixGemm<256, 64, 1>)) {
    check_schedule<fk::half, TestType>("half");
}

TEST_CASE("HIP: products of matrices with weights of their own are exact on sm_90a's matrix units") {
    fk::hip::Device device = sm90a_device();
    check_batched_products<fk::half>(device);
    check_batched_products<fk::bfloat16>(device);
}

TEST_CASE("HIP: so are those of bfloat16, of any layout") {
    check_schedule<fk::bfloat16, MatrixGemm<128, 64, 2>>("bfloat16");
}
