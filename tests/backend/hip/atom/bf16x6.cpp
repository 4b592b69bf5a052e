// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/atom/bf16x6.hpp"

#include <bit>
#include <catch2/catch_template_test_macros.hpp>
#include <cstdint>
#include <vector>

#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/schedule.hpp"
#include "support/check_case.hpp"
#include "support/run_case.hpp"

using namespace test;
using fk::hip::MatrixGemm;

namespace {

using Relu = fk::Activation<fk::Relu>;

/// Integers (#), which must be exact, and reals (~), whose errors must be within those of a chain of float additions.
template <class Schedule>
void check_schedule() {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<Schedule>();
    using Scheduled = decltype(scheduled);
    for (char const* text :
         {"n1c1h1w1k1r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs ", "n2c72h7w5k136r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs ",
          "n3c5h9w8k67r2s3pt1l0b0r2u1v2d1e1g1 nchw+1 kcrs+1 ", "n2c40h8w8k24r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs ",
          "n2c3h13w17k20r5s5pt2l2b2r2u2v2d1e1g1 nhwc krsc ", "n2c24h6w7k48r3s1pt1l0b1r0u1v1d2e1g2 nhwc>nchw krsc ",
          "n2c136h5w6k40r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc "})
        for (char const* seed : {"3", "6"}) {  // of the others, tensors are not aligned
            check_case(Case::parse(std::string(text) + "float CBA relu #" + seed),
                       run_conv<Scheduled, float, fk::dynamic, fk::Bias, Relu>, scheduled);
            check_case(Case::parse(std::string(text) + "float CB ~" + seed),
                       run_conv<Scheduled, float, fk::dynamic, fk::Bias>, scheduled);
        }
    check_case(Case::parse("n2c24h7w9k40r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs float CRN #4"),
               run_conv<Scheduled, float, fk::dynamic, fk::Residual, fk::BatchNormInference<fk::Spatial>>, scheduled);
}

}  // namespace

TEMPLATE_TEST_CASE("HIP: convolutions of float are as exact as a float on sm_90a's matrix units", "",
                   (MatrixGemm<64, 64, 2>), (MatrixGemm<128, 64, 1>), (MatrixGemm<128, 128, 1>)) {
    check_schedule<TestType>();
}

#if defined(HIP_ON_CPU)  // elsewhere these functions are for devices alone
TEST_CASE("HIP: floats are three bfloat16 each, exactly") {
    fk::hip::Bf16x3Tile<8> tile;
    std::uint32_t bits = 1;
    for (int i = 0; i < 4000; ++i) {
        float values[4];
        for (float& value : values) {
            bits = bits * 1664525 + 1013904223;
            std::uint32_t const exponent = 24 + bits % 200;  // from 2^-103 to 2^96
            value = std::bit_cast<float>((bits & 0x807fffffu) | exponent << 23);
        }
        tile.put_along_k<4>(8, 3, [&](int j) { return values[j]; });
        for (unsigned j = 0; j < 4; ++j) {
            double sum = 0;
            for (int term = 0; term < 3; ++term)
                sum += static_cast<double>(static_cast<float>(*tile.term(term).at(8 + j, 3)));
            REQUIRE(sum == static_cast<double>(values[j]));
        }
    }
}
#endif

TEST_CASE("HIP: the library multiplies floats of long products on matrix units") {
    fk::hip::Device device = sm90a_device();
    auto matrix = device.with<MatrixGemm<128, 128, 1>>();
    auto const w = fk::random<float>(device, fk::krsc(128, 3, 3, 64), 2);
    auto const x = fk::random<float>(device, fk::nhwc(device.processors() / 2, 16, 16, 64));  // a tile a processor
    auto const layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, Relu>::bind({.weights = w}, {});
    auto const own = layer(device, x), expected = layer(matrix, x);
    std::vector<float> of_own(static_cast<std::size_t>(own.size())), of_matrix(of_own.size());
    own.copy_to(of_own.data());
    expected.copy_to(of_matrix.data());
    CHECK(of_own == of_matrix);  // bit for bit: plain arithmetic adds up in another order
}
