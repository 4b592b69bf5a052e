// SPDX-License-Identifier: MIT
// 8-bit floats on sm_90a's tensor cores.
#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/mainloop/warp_specialized.hpp"
#include "support/amax_values.hpp"
#include "support/check_case.hpp"
#include "support/random.hpp"
#include "support/run_case.hpp"

using namespace test;
using fusekit::hip::WarpSpecialized, fusekit::hip::Roles;

namespace {

using Relu = fk::Activation<fk::Relu>;

}  // namespace

TEMPLATE_TEST_CASE("HIP: convolutions of 8-bit floats on sm_90a's tensor cores are exact", "",
                   (WarpSpecialized<192, 64, 8>), (WarpSpecialized<192, 128, 4>),
                   (WarpSpecialized<128, 128, 4, Roles::ping_pong>)) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<TestType>();
    using Scheduled = decltype(scheduled);
    auto const parse = [](char const* sizes, char const* rest) {
        return Case::parse(sizes + std::string(" nhwc krsc ") + rest);
    };
    char const* const uneven = "n2c128h11w9k64r3s3pt2l1b0r2u2v1d1e2g1";  // padding, strides and dilations
    for (char const* sizes : {"n1c16h1w1k16r1s1pt0l0b0r0u1v1d1e1g1",  // one element
                              "n2c144h7w5k160r3s3pt1l1b1r1u1v1d1e1g1", uneven,
                              "n3c144h13w17k144r1s1pt0l0b0r0u1v1d1e1g1",  // a matrix of pixels
                              "n2c48h9w11k80r1s1pt0l0b0r0u1v1d1e1g1"})
        check_case(parse(sizes, "e4m3/float CBAS relu #2"),
                   run_conv<Scheduled, fk::e4m3, fk::dynamic, fk::Bias, Relu, fk::Scale>, scheduled);
    check_case(parse(uneven, "e5m2/float CBAS relu #2"),
               run_conv<Scheduled, fk::e5m2, fk::dynamic, fk::Bias, Relu, fk::Scale>, scheduled);
    check_case(parse(uneven, "e4m3/half CRB #3"),
               run_conv<Scheduled, Types<fk::e4m3, fk::half>, fk::dynamic, fk::Residual, fk::Bias>, scheduled);
}

TEST_CASE("HIP: Amax after convolutions on matrix units") {
    fk::hip::Device device = sm90a_device();
    auto on = device.channels_last();
    check_amax<fk::e4m3, fk::e4m3>(on, "nhwc", {2, 16, 7, 9}, 144, 0);
    check_amax<fk::half, fk::half>(on, "nhwc", {2, 16, 7, 9}, 24, 0);
}

// Error bound. An instruction adds an accumulator c and 32 products. It truncates each addend below 2^-13 of a power of
// two no larger than the largest addend's magnitude M, and the sum below 2^-13 of itself: its error is at most 33 2^-13
// M + 2^-13 (|c| + P), with P the sum of the products' magnitudes. In the four instructions of a k-tile, whose c starts
// at zero, M, |c| and P are at most A, the sum of the k-tile's magnitudes: 4 (33 + 2) 2^-13 A. For values of one sign,
// the A of all k-tiles add up to the result; each of the 32 float additions of k-tiles adds an error of at most 2^-24
// of it. Without promotion, c would be the whole sum, and each product would lose everything below 2^-13 of it.
TEST_CASE("HIP: long FP8 sums of one sign stay within the promotion error bound") {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<WarpSpecialized<64, 128, 3>>();
    constexpr std::int64_t rows = 4, columns = 16, k = 4096;
    Random random(8);
    auto const numbers = [&](std::int64_t size) {
        std::vector<double> values(static_cast<std::size_t>(size));
        for (double& value : values) value = float{fk::e4m3(static_cast<float>(0.25 + random.uniform()))};
        return values;
    };
    auto const of_x = numbers(rows * k), of_w = numbers(columns * k);
    Placed<fk::hip::Device, 4> x(device, fk::DataType::float8_e4m3, fk::nhwc(1, 1, rows, k), of_x),
        w(device, fk::DataType::float8_e4m3, fk::krsc(columns, 1, 1, k), of_w),
        y(device, fk::DataType::float16, fk::nhwc(1, 1, rows, columns), 64);
    fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = w.any()})(scheduled, x.view<fk::e4m3 const>(),
                                                                     y.view<fk::half>());
    // Canonical order: channels before pixels, filters before channels.
    auto const& found = y.fetch();
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
            double sum = 0;
            for (std::int64_t c = 0; c < k; ++c)
                sum += of_x[static_cast<std::size_t>(c * rows + i)] * of_w[static_cast<std::size_t>(j * k + c)];
            double const bound = (4 * 35 * 0x1p-13 + 32 * 0x1p-24 + 0x1p-11) * sum;
            CHECK(std::fabs(found.get(i * columns + j) - sum) <= bound);
        }
}
