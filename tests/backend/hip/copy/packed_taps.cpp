// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/packed_taps.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <limits>
#include <string>
#include <vector>

#include "backend/hip/one_kernel.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/run_case.hpp"

using namespace test;
using fusekit::hip::WarpSpecialized, fusekit::hip::Roles;

namespace {

using Relu = fk::Activation<fk::Relu>;

/// Channels that are multiples of 8: a k-tile has 8 taps or more, taps end in the middle of k-tiles; windows in the
/// padding and between images, strides beyond those of TMA's im2col mode, filters of one tap and of one row.
constexpr char const* few_channels[] = {
    "n2c8h9w11k40r3s3pt1l1b1r1u1v1d1e1g1",   "n3c24h13w7k66r3s3pt1l1b1r1u2v2d1e1g1",
    "n1c24h12w9k130r1s1pt0l0b0r0u1v1d1e1g1", "n2c40h11w9k64r3s3pt2l1b0r2u2v1d1e2g1",
    "n1c16h6w30k36r2s5pt0l2b1r2u1v3d2e1g1",  "n1c24h30w12k130r5s5pt2l2b1r2u11v3d2e1g1",
    "n4c72h5w6k24r3s3pt1l1b1r1u1v1d1e1g1",   "n2c80h6w9k56r1s7pt0l3b0r3u1v1d1e1g1",
    "n1c56h17w9k8r7s1pt3l0b3r0u1v1d1e1g1",   "n5c24h13w17k200r1s1pt0l0b0r0u1v1d1e1g1"};

/// A 3x3 convolution, padded by 1, of a view of 16 channels to 64, with WarpSpecialized and with the library's choice.
void check_view(fk::Index<4> const& shape, fk::Index<4> const& strides, std::int64_t first) {
    constexpr int filters = 64, taps = 9;
    fk::hip::Device device = sm90a_device();
    auto const number = [](std::int64_t i) { return static_cast<float>((i * 7 + i / 5) % 9 - 4); };
    std::vector<fk::half> values(4096), of_w(static_cast<std::size_t>(filters * taps * shape[1]));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = number(static_cast<std::int64_t>(i));
    for (std::size_t i = 0; i < of_w.size(); ++i) of_w[i] = number(static_cast<std::int64_t>(3 * i + 1));
    fk::Tensor<fk::half, fk::hip::Device> buffer(device, fk::nhwc(1, 1, 1, 4096)),
        w(device, fk::krsc(filters, 3, 3, shape[1])), y(device, fk::nhwc(shape[0], shape[2], shape[3], filters));
    buffer.copy_from(values.data()), w.copy_from(of_w.data());
    fk::TensorView<fk::half const> const x(buffer.data() + first, {shape, strides});
    auto const layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>::bind({.weights = w});
    auto const check = [&](auto& target) {
        std::vector<fk::half> got(static_cast<std::size_t>(y.size()), -7.0f);
        y.copy_from(got.data());
        layer(target, x, y);
        device.synchronize();
        y.copy_to(got.data());
        for (std::int64_t n = 0; n < shape[0]; ++n)
            for (std::int64_t p = 0; p < shape[2]; ++p)
                for (std::int64_t q = 0; q < shape[3]; ++q)
                    for (std::int64_t k = 0; k < filters; ++k) {
                        float sum = 0;
                        for (std::int64_t tap = 0; tap < taps; ++tap) {
                            std::int64_t const h = p + tap / 3 - 1, column = q + tap % 3 - 1;
                            if (h < 0 || h >= shape[2] || column < 0 || column >= shape[3]) continue;
                            for (std::int64_t c = 0; c < shape[1]; ++c)
                                sum +=
                                    static_cast<float>(
                                        values[static_cast<std::size_t>(first + n * strides[0] + c * strides[1] +
                                                                        h * strides[2] + column * strides[3])]) *
                                    static_cast<float>(of_w[static_cast<std::size_t>((k * taps + tap) * shape[1] + c)]);
                        }
                        CAPTURE(n, p, q, k);
                        REQUIRE(static_cast<float>(got[static_cast<std::size_t>(y.layout().offset({{n, k, p, q}}))]) ==
                                static_cast<float>(fk::half(sum)));
                    }
    };
    auto bulk = device.with<WarpSpecialized<64, 64, 2>>();
    check(bulk), check(device);
}

}  // namespace

TEST_CASE("HIP: k-tiles with several taps read single rows and columns of any stride, and views that TMA cannot load") {
    check_view({{3, 16, 1, 1}}, {{16, 1, 1, 1}}, 0);  // strides of an image of one pixel
    check_view({{2, 16, 6, 1}}, {{480, 1, 80, 20}}, 40);  // a column of a wider tensor
    check_view({{2, 16, 5, 4}}, {{0, 1, 64, 16}}, 0);  // one image as a batch
    check_view({{1, 16, 5, 4}}, {{320, 1, -64, 16}}, 256);  // rows in reverse order
}

TEMPLATE_TEST_CASE("HIP: convolutions of k-tiles with several taps on sm_90a's tensor cores are exact", "",
                   (General<64, 64, 2>), (General<192, 128, 4>), (General<64, 64, 8, Roles::ping_pong>),
                   (General<96, 128, 5, Roles::ping_pong>)) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<TestType>();
    using Scheduled = decltype(scheduled);
    for (std::string const sizes : few_channels)
        check_case(Case::parse(sizes + " nhwc krsc half CBA relu #3"),
                   run_conv<Scheduled, fk::half, fk::dynamic, fk::Bias, Relu>, scheduled);
    check_case(Case::parse("n2c24h9w8k40r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc half CRA relu #1"),
               run_conv<Scheduled, fk::half, fk::dynamic, fk::Residual, Relu>, scheduled);
    check_case(Case::parse("n2c24h9w8k16r3s1pt1l1b1r1u1v1d1e1g1 nhwc+8>nhwc krsc+8 bfloat16 C #3"),
               run_conv<Scheduled, fk::bfloat16, fk::dynamic>, scheduled);
}

TEST_CASE("HIP: no element beside slices of x is used by k-tiles with several taps") {
    fk::hip::Device device = sm90a_device();
    auto bulk = device.with<WarpSpecialized<64, 64, 5>>();
    constexpr int channels = 24, whole = 40, pixels = 7 * 10, filters = 16;
    std::vector<fk::half> values(pixels * whole, std::numeric_limits<float>::quiet_NaN());
    for (int pixel = 0; pixel < pixels; ++pixel)
        for (int c = 0; c < channels; ++c) values[static_cast<std::size_t>(pixel * whole + 8 + c)] = 1.0f;
    fk::Tensor<fk::half, fk::hip::Device> x(device, fk::nhwc(1, 7, 10, whole)),
        w(device, fk::krsc(filters, 3, 3, channels)), y(device, fk::nhwc(1, 7, 10, filters));
    x.copy_from(values.data());
    w.copy_from(std::vector<fk::half>(filters * 9 * channels, 1.0f).data());
    std::vector<fk::half> got(pixels * filters, -7.0f);
    y.copy_from(got.data());
    fk::TensorView<fk::half const> const slice(x.data() + 8, {{{1, channels, 7, 10}}, x.layout().stride});
    fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>::bind({.weights = w})(bulk, slice, y);
    device.synchronize();
    y.copy_to(got.data());
    for (int i = 0; i < pixels * filters; ++i) {
        int const row = i / filters / 10, column = i / filters % 10;
        int const taps = (row == 0 || row == 6 ? 2 : 3) * (column == 0 || column == 9 ? 2 : 3);
        REQUIRE(static_cast<float>(got[static_cast<std::size_t>(i)]) == static_cast<float>(channels * taps));
    }
}
