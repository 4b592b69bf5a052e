// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/tall_planes.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/refusal.hpp"
#include "support/run_case.hpp"

using namespace test;
using fusekit::hip::TallPlanes;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;

template <class T>
std::string name_of() {
    return fk::name(fk::data_type<T>);
}

/// 1x1 filters: planes of even and odd numbers of pixels that fill no tile; channels of one to several steps, and of
/// several panels; filters of one to three tiles; several rounds of tiles.
constexpr char const* images[] = {"n2c24h7w9k40r1s1pt0l0b0r0u1v1d1e1g1",  "n1c4h4w37k1r1s1pt0l0b0r0u1v1d1e1g1",
                                  "n3c68h5w8k130r1s1pt0l0b0r0u1v1d1e1g1", "n4c16h6w11k64r1s1pt0l0b0r0u1v1d1e1g1",
                                  "n2c300h7w7k20r1s1pt0l0b0r0u1v1d1e1g1", "n5c32h31w28k20r1s1pt0l0b0r0u1v1d1e1g1",
                                  "n4c19h3w4k65r1s1pt0l0b0r0u1v1d1e1g1"};

/// Windows: strides, dilations, padding, planes of which rows and images start at any address, groups.
constexpr char const* windows[] = {"n3c3h19w23k24r3s3pt0l0b0r0u2v2d1e1g1", "n2c5h9w11k7r3s3pt1l1b1r1u1v1d1e1g1",
                                   "n1c20h8w9k70r5s3pt2l0b1r3u1v2d1e2g1",  "n2c24h10w10k48r3s3pt1l1b1r1u1v1d1e1g6",
                                   "n2c6h7w5k66r1s1pt0l0b0r0u2v2d1e1g1",   "n2c4h9w7k8r1s1pt1l1b1r1u1v1d1e1g2",
                                   "n1c64h6w6k20r2s2pt0l0b0r0u2v2d2e2g1"};

}  // namespace

TEMPLATE_TEST_CASE("TallPlanes computes convolutions of windows exactly", "", float, fk::half, fk::bfloat16) {
    fk::hip::Device device = sm90a_device();
    auto tall = device.with<TallPlanes<>>();
    using Scheduled = decltype(tall);
    for (char const* sizes : windows) {
        std::string const text = std::string(sizes) + " nchw kcrs " + name_of<TestType>();
        check_case(Case::parse(text + " CB #64"), run_conv<Scheduled, TestType, fk::dynamic, fk::Bias>, tall);
    }
}

TEMPLATE_TEST_CASE("TallPlanes computes 1x1 convolutions of planes exactly", "", float, fk::half) {
    fk::hip::Device device = sm90a_device();
    auto tall = device.with<TallPlanes<>>();
    using Scheduled = decltype(tall);
    for (char const* sizes : images) {
        std::string const text = std::string(sizes) + " nchw kcrs " + name_of<TestType>();
        check_case(Case::parse(text + " CB #64"), run_conv<Scheduled, TestType, fk::dynamic, fk::Bias>, tall);
        check_case(Case::parse(text + " CA relu #64"), run_conv<Scheduled, TestType, fk::filter(1, 1), Relu>, tall);
        check_case(Case::parse(text + " CN #64"), run_conv<Scheduled, TestType, fk::filter(1, 1), Norm>, tall);
    }
}

TEST_CASE("infinities and NaN in x and in the weights reach only TallPlanes' outputs of their pixel and filter") {
    fk::hip::Device device = sm90a_device();
    auto tall = device.with<TallPlanes<>>();
    constexpr std::int64_t c = 20, pixels = 12, filters = 67, images = 3;
    std::vector<float> x(static_cast<std::size_t>(images * c * pixels), 1.0f),
        w(static_cast<std::size_t>(filters * c), 1.0f);
    x[static_cast<std::size_t>((1 * c + c - 1) * pixels + pixels - 1)] = std::numeric_limits<float>::infinity();
    w[static_cast<std::size_t>(17 * c + c - 1)] = std::numeric_limits<float>::quiet_NaN();
    fk::Tensor<float, fk::hip::Device> of_x(device, fk::nchw(images, c, 3, 4)),
        of_w(device, fk::kcrs(filters, c, 1, 1)), y(device, fk::nchw(images, filters, 3, 4));
    of_x.copy_from(x.data()), of_w.copy_from(w.data());
    fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = of_w})(tall, of_x, y);
    std::vector<float> got(static_cast<std::size_t>(images * filters * pixels));
    y.copy_to(got.data());
    int wrong = 0;
    for (std::int64_t n = 0; n < images; ++n)
        for (std::int64_t k = 0; k < filters; ++k)
            for (std::int64_t p = 0; p < pixels; ++p) {
                float const value = got[static_cast<std::size_t>((n * filters + k) * pixels + p)];
                bool const is_finite = k != 17 && (n != 1 || p != pixels - 1);
                wrong += is_finite ? value != static_cast<float>(c) : std::isfinite(value);
            }
    CHECK(wrong == 0);
}

TEST_CASE("a prepared run of TallPlanes computes other tensors than those it was prepared for") {
    fk::hip::Device device = sm90a_device();
    auto tall = device.with<TallPlanes<>>();
    using Tensor = fk::Tensor<float, fk::hip::Device>;
    auto const of_x = fk::nchw(3, 72, 4, 18), of_y = fk::nchw(3, 66, 4, 18);
    Tensor const w = fk::random<float>(device, fk::kcrs(66, 72, 1, 1)), first = fk::random<float>(device, of_x, 1),
                 second = fk::random<float>(device, of_x, 2);
    Tensor expected(device, of_y), y(device, of_y);
    auto const layer = fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = w});
    layer(tall, second, expected);
    auto const run = layer.prepare(tall, first, y);
    run(device, first, y);
    run(device, second, y);
    std::vector<float> all(static_cast<std::size_t>(of_y.size())), got = all;
    expected.copy_to(all.data()), y.copy_to(got.data());
    CHECK(std::memcmp(all.data(), got.data(), all.size() * sizeof(float)) == 0);
}

TEST_CASE("TallPlanes refuses many channels and channels-last tensors") {
    fk::hip::Device device = sm90a_device();
    auto tall = device.with<TallPlanes<>>();
    using Tensor = fk::Tensor<float, fk::hip::Device>;
    auto const sentence = [&](fk::Layout<4> const& of_x, fk::Layout<4> const& of_w, fk::Filter<2> const& filter) {
        Tensor x(device, of_x), w(device, of_w);
        auto const layer = fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = filter});
        return refusal([&] { static_cast<void>(layer(tall, x)); });
    };
    std::string const plan = "Plan<Conv<dynamic>>: TallPlanes: ";
    CHECK(sentence(fk::nchw(1, 128, 4, 4), fk::kcrs(8, 128, 3, 3), fk::filter(3, 3)) ==
          plan + "C * R * S = 1152 exceeds 1024: use Planes");
    CHECK(sentence(fk::nchw(1, 8, 4, 4), fk::krsc(8, 3, 3, 8), fk::filter(3, 3)) ==
          plan + "weights are not dense, in KCRS order: use MatrixGemm");
    CHECK(sentence(fk::nhwc(1, 4, 4, 8), fk::krsc(8, 1, 1, 8), fk::filter(1, 1)) ==
          plan + "x's or y's planes are not dense: pass them dense");
}

TEST_CASE("TallPlanes reads no pixel past the last one of images that are 2^29 elements apart") {
    fk::hip::Device device = sm90a_device();
    using Plan = fk::Plan<fk::Conv<fk::dynamic>>;
    fk::Layout<4> apart = fk::nchw(5, 2, 3, 3);  // an odd number of pixels
    apart.stride[0] = std::int64_t{1} << 29;
    fk::Tensor<fk::half, fk::hip::Device> x(device, fk::nchw(5, 2, 3, 3)), y(device, fk::nchw(5, 8, 3, 3)),
        w(device, fk::kcrs(8, 2, 1, 1)), x_apart(device, apart), y_apart(device, fk::nchw(5, 8, 3, 3));
    auto const number = [](std::size_t i) { return fk::half(static_cast<float>(i % 7) - 3); };
    std::vector<fk::half> images(static_cast<std::size_t>(x.size())), filters(static_cast<std::size_t>(w.size()));
    for (std::size_t i = 0; i < images.size(); ++i) images[i] = number(i);
    for (std::size_t i = 0; i < filters.size(); ++i) filters[i] = number(3 * i);
    x.copy_from(images.data()), w.copy_from(filters.data());
    for (int n = 0; n < 5; ++n) device.copy_in(x_apart.data() + n * apart.stride[0], images.data() + n * 18, 36);
    auto const layer = Plan::bind({.weights = w, .filter = fk::filter(1, 1)});
    auto const tall = device.with<TallPlanes<>>();
    auto const values_of = [&](auto const& from, auto& to) {
        std::vector<fk::half> values(static_cast<std::size_t>(to.size()), fk::half(777.0f));
        to.copy_from(values.data());
        layer(tall, from, to);
        to.copy_to(values.data());
        return std::vector<float>(values.begin(), values.end());
    };
    std::vector<float> const expected = values_of(x, y);
    CHECK(expected[0] != 777.0f);
    CHECK(values_of(x_apart, y_apart) == expected);
}
