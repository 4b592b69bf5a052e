// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mma/bf16x6.hpp"

#include <bit>
#include <catch2/catch_template_test_macros.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/hip/matrix_schedule.hpp"
#include "fusekit/backend/hip/dispatch/list.hpp"
#include "support/infinite_values.hpp"

using namespace test;
using fk::hip::MatrixGemm;

namespace {

using Relu = fk::Activation<fk::Relu>;

/// Checks real numbers: errors must be within the bound of a chain of float additions.
template <class Schedule>
void check_reals() {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<Schedule>();
    for (char const* text : matrix_problems)
        for (char const* seed : {"3", "6"})  // with seed 6, tensors are not aligned
            check_case(Case::parse(std::string(text) + "float CB ~" + seed),
                       run_conv<decltype(scheduled), float, fk::dynamic, fk::Bias>, scheduled);
}

}  // namespace

TEMPLATE_TEST_CASE("HIP: convolutions of float are as exact as a float on sm_90a's tensor cores", "",
                   (MatrixGemm<64, 64, 2>), (MatrixGemm<128, 64, 1>), (MatrixGemm<128, 128, 1>)) {
    check_matrix_schedule<float, TestType>("float");
    check_reals<TestType>();
}

TEST_CASE("HIP: bf16x6: infinite factors give NaN, and other sums are unaffected") {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<MatrixGemm<128, 64, 1>>();
    check_infinite_values<float, fk::Products<fk::bfloat16x3>>(scheduled, true);
}

#if defined(HIP_ON_CPU)  // on GPU builds these functions are __device__ only
TEST_CASE("HIP: bf16x6 splits a float into three bfloat16 terms exactly") {
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

TEST_CASE("HIP: the default choice uses bf16x6 for short GemmK only on request") {
    fk::hip::Device device = sm90a_device();
    auto const x = fk::random<float>(device, fk::row_major(40, 70)),
               w = fk::random<float>(device, fk::row_major(24, 70), 2);
    auto const bits = [](auto const& y) {
        std::vector<float> values(static_cast<std::size_t>(y.size()));
        y.copy_to(values.data());
        return values;
    };
    using Split = fk::Plan<fk::GemmWith<fk::Products<fk::bfloat16x3>>>;
    using Plain = fk::Plan<fk::GemmWith<fk::Products<float>>>;
    auto matrix = device.with<MatrixGemm<64, 64, 2>>();
    auto const split = bits(Split::bind({.weights = w})(matrix, x));
    CHECK(bits(Split::bind({.weights = w})(device, x)) == split);
    CHECK(bits(Plain::bind({.weights = w})(device, x)) != split);
}

TEST_CASE("HIP: the default choice multiplies floats with long GemmK on matrix units") {
    fk::hip::Device device = sm90a_device();
    auto matrix = device.with<fk::hip::Planes<240, 1>>();
    auto const w = fk::random<float>(device, fk::krsc(128, 3, 3, 64), 2);
    auto const x = fk::random<float>(device, fk::nhwc(device.processors() / 2, 16, 16, 64));  // one tile per SM
    auto const layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, Relu>::bind({.weights = w}, {});
    auto const own = layer(device, x), expected = layer(matrix, x);
    std::vector<float> of_own(static_cast<std::size_t>(own.size())), of_matrix(of_own.size());
    own.copy_to(of_own.data());
    expected.copy_to(of_matrix.data());
    CHECK(of_own == of_matrix);  // bitwise identical: SIMT arithmetic adds in another order
}
