// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/col2im.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <string>
#include <vector>

#include "backend/hip/sm90a_device.hpp"
#include "fusekit/hip.hpp"
#include "support/half_types.hpp"
#include "support/refusal.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::Col2im;

namespace {

/// x with channels last, any weights and y.
struct AnyWeights {
    static constexpr char const* all[3][3] = {
        {"nhwc", "krsc", "nhwc"}, {"nhwc", "crsk", "nchw"}, {"nhwc+8", "krsc+3", "nhwc+1"}};
};

}  // namespace

// Tiles that end past y, several of an image; one channel of y to 8; x of less and more than 64 channels, and channels
// that fill no MMA; filters of even and odd sizes, padding wider than the taps reach, dilation.
TEMPLATE_LIST_TEST_CASE("Col2im computes gradients by images of few channels exactly", "", HalfTypes) {
    fk::hip::Device device = sm90a_device();
    auto const of = [&]<auto Geometry>(oracle::Shape const& x, std::int64_t k) {
        auto col2im = device.with<Col2im<>>();
        check_transposed<TestType, Geometry, false, AnyWeights>(col2im, x, k);
    };
    of.template operator()<fk::filter(3, 3).pad(1)>({2, 3, 21, 55}, 64);
    of.template operator()<fk::filter(3, 3)>({3, 1, 17, 19}, 136);
    of.template operator()<fk::filter(5, 3).pad(3, 1).dilation(2, 3)>({1, 4, 27, 21}, 72);
    of.template operator()<fk::filter(1, 2).pad(0, 3, 0, 1)>({300, 2, 5, 7}, 8);
}

TEST_CASE("Col2im's product may have many columns, and its CTAs be alone on an SM") {
    fk::hip::Device device = sm90a_device();
    auto col2im = device.with<Col2im<1>>();
    check_transposed<fk::half, fk::filter(3, 3).pad(1), false, AnyWeights>(col2im, {1, 8, 17, 19}, 40);
    check_transposed<fk::half, fk::filter(6, 5).pad(2), false, AnyWeights>(col2im, {2, 3, 9, 11}, 16);
}

TEST_CASE("infinities and NaN reach only the outputs of Col2im that read them") {
    fk::hip::Device device = sm90a_device();
    auto col2im = device.with<Col2im<>>();
    check_transposed_infinities<fk::half, fk::filter(3, 3)>(col2im, {2, 3, 19, 23}, 64);
    check_transposed_infinities<fk::half, fk::filter(3, 3)>(col2im, {2, 5, 19, 23}, 8);
}

TEST_CASE("Col2im's prepared run takes other tensors") {
    fk::hip::Device device = sm90a_device();
    auto col2im = device.with<Col2im<>>();
    using Tensor = fk::Tensor<fk::half, fk::hip::Device>;
    auto const x = fk::random<fk::half>(device, fk::nhwc(2, 9, 11, 16)),
               w = fk::random<fk::half>(device, fk::krsc(16, 3, 3, 3));
    Tensor y(device, fk::nhwc(2, 9, 11, 3)), again(device, y.layout()), other(device, x.layout());
    auto const layer = fk::Plan<fk::TransposedConv<fk::filter(3, 3).pad(1)>>::bind({.weights = w});
    auto const run = layer.prepare(col2im, other, again);
    layer(col2im, x, y), run(device, x, again);
    std::vector<fk::half> expected(594), got(594);
    y.copy_to(expected.data()), again.copy_to(got.data());
    for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(static_cast<float>(got[i]) == static_cast<float>(expected[i]));
}

TEST_CASE("Col2im refuses many channels, strides, and tiles that exceed shared memory") {
    fk::hip::Device device = sm90a_device();
    auto col2im = device.with<Col2im<>>();
    auto const sentence = [&]<auto Geometry>(fk::Layout<4> const& of_x, fk::Layout<4> const& of_w) {
        fk::Tensor<fk::half, fk::hip::Device> x(device, of_x), w(device, of_w);
        auto const layer = fk::Plan<fk::TransposedConv<Geometry>>::bind({.weights = w});
        return refusal([&] { static_cast<void>(layer(col2im, x)); });
    };
    constexpr auto three = fk::filter(3, 3);
    std::string const plan = "Plan<TransposedConv<filter(3, 3)>>: Col2im: ";
    CHECK(sentence.operator()<three>(fk::nhwc(1, 4, 4, 8), fk::krsc(8, 3, 3, 9)) ==
          plan + "K = 9 exceeds 8: use WarpSpecialized");
    CHECK(sentence.operator()<three>(fk::nchw(1, 8, 4, 4), fk::krsc(8, 3, 3, 3)) ==
          plan + "x's channel stride = 16 is not 1: use MatrixGemm");
    CHECK(sentence.operator()<three>(fk::nhwc(1, 4, 4, 1024), fk::krsc(1024, 3, 3, 3)) ==
          plan + "rows of y in a tile that fits shared memory = 0 is below 1: use WarpSpecialized");
}
