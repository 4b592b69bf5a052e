// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/tma_planes.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/half_types.hpp"
#include "support/refusal.hpp"
#include "support/run_case.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::TmaPlanes;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;

constexpr char const* several_rounds = "n9c840h16w16k136r1s1pt0l0b0r0u1v1d1e1g1";
/// 1x1 filters: planes of one to several groups of 64 pixels, partly filled; channels of one to several k-tiles, partly
/// filled, and more than stages; few filters, and tiles of 64 and 128; several rounds.
constexpr char const* images[] = {"n2c24h8w10k40r1s1pt0l0b0r0u1v1d1e1g1",
                                  "n8c64h4w4k2r1s1pt0l0b0r0u1v1d1e1g1",
                                  "n3c136h14w12k130r1s1pt0l0b0r0u1v1d1e1g1",
                                  "n4c16h6w12k64r1s1pt0l0b0r0u1v1d1e1g1",
                                  "n6c304h4w18k24r1s1pt0l0b0r0u1v1d1e1g1",
                                  "n2c200h8w8k200r1s1pt0l0b0r0u1v1d1e1g1",
                                  "n5c32h32w28k20r1s1pt0l0b0r0u1v1d1e1g1",
                                  "n9c72h1w8k65r1s1pt0l0b0r0u1v1d1e1g1",
                                  "n33c40h8w8k72r1s1pt0l0b0r0u1v1d1e1g1",
                                  "n5c1096h8w8k72r1s1pt0l0b0r0u1v1d1e1g1",
                                  several_rounds};

}  // namespace

TEMPLATE_LIST_TEST_CASE("TmaPlanes computes 1x1 convolutions of planes exactly", "", HalfTypes) {
    fk::hip::Device device = sm90a_device();
    auto planes = device.with<TmaPlanes<>>();
    using Scheduled = decltype(planes);
    for (char const* sizes : images) {
        std::string const text = std::string(sizes) + " nchw kcrs " + std::string(fk::name(fk::data_type<TestType>));
        check_case(Case::parse(text + " CB #64"), run_conv<Scheduled, TestType, fk::dynamic, fk::Bias>, planes);
        if (sizes == several_rounds) break;
        check_case(Case::parse(text + " CA relu #64"), run_conv<Scheduled, TestType, fk::filter(1, 1), Relu>, planes);
        check_case(Case::parse(text + " CN #64"), run_conv<Scheduled, TestType, fk::filter(1, 1), Norm>, planes);
    }
}

/// Planes and contiguous filters.
struct PlaneLayouts {
    static constexpr char const* all[1][3] = {{"nchw", "kcrs", "nchw"}};
};

// Channels of x and of y of one to several tiles, partly filled.
TEMPLATE_LIST_TEST_CASE("TmaPlanes computes gradients of 1x1 convolutions by x exactly", "", HalfTypes) {
    fk::hip::Device device = sm90a_device();
    auto planes = device.with<TmaPlanes<>>();
    constexpr auto one = fk::filter(1, 1);
    for (auto const& [c, k] : {std::pair{8, 8}, {24, 72}, {40, 136}, {136, 64}, {200, 304}})
        check_transposed<TestType, one, false, PlaneLayouts>(planes, {3, c, 9, 8}, k);
}

TEST_CASE("infinities and NaN in x and in the weights reach only TmaPlanes' outputs of their pixel and filter") {
    fk::hip::Device device = sm90a_device();
    auto planes = device.with<TmaPlanes<>>();
    constexpr std::int64_t c = 24, height = 5, width = 16, pixels = height * width, filters = 72, images = 3;
    std::vector<fk::half> x(static_cast<std::size_t>(images * c * pixels), fk::half(1.0f)),
        w(static_cast<std::size_t>(filters * c), fk::half(1.0f));
    x[static_cast<std::size_t>((1 * c + c - 1) * pixels + pixels - 1)] =
        fk::half(std::numeric_limits<float>::infinity());
    w[static_cast<std::size_t>(17 * c + c - 1)] = fk::half(std::numeric_limits<float>::quiet_NaN());
    fk::Tensor<fk::half, fk::hip::Device> of_x(device, fk::nchw(images, c, height, width)),
        of_w(device, fk::kcrs(filters, c, 1, 1)), y(device, fk::nchw(images, filters, height, width));
    of_x.copy_from(x.data()), of_w.copy_from(w.data());
    fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = of_w})(planes, of_x, y);
    std::vector<fk::half> got(static_cast<std::size_t>(images * filters * pixels));
    y.copy_to(got.data());
    int wrong = 0;
    for (std::int64_t n = 0; n < images; ++n)
        for (std::int64_t k = 0; k < filters; ++k)
            for (std::int64_t p = 0; p < pixels; ++p) {
                auto const value = static_cast<float>(got[static_cast<std::size_t>((n * filters + k) * pixels + p)]);
                bool const is_finite = k != 17 && (n != 1 || p != pixels - 1);
                wrong += is_finite ? value != static_cast<float>(c) : std::isfinite(value);
            }
    CHECK(wrong == 0);
}

TEST_CASE("a prepared run of TmaPlanes computes other tensors than those it was prepared for") {
    fk::hip::Device device = sm90a_device();
    auto planes = device.with<TmaPlanes<>>();
    using Tensor = fk::Tensor<fk::half, fk::hip::Device>;
    auto const of_x = fk::nchw(3, 72, 4, 18), of_y = fk::nchw(3, 66, 4, 18);
    Tensor const w = fk::random<fk::half>(device, fk::kcrs(66, 72, 1, 1)),
                 first = fk::random<fk::half>(device, of_x, 1), second = fk::random<fk::half>(device, of_x, 2);
    Tensor expected(device, of_y), y(device, of_y);
    auto const layer = fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = w});
    layer(planes, second, expected);
    auto const run = layer.prepare(planes, first, y);
    run(device, first, y);
    run(device, second, y);
    std::vector<fk::half> all(static_cast<std::size_t>(of_y.size())), got = all;
    expected.copy_to(all.data()), y.copy_to(got.data());
    CHECK(std::memcmp(all.data(), got.data(), all.size() * sizeof(fk::half)) == 0);
}

TEST_CASE("TmaPlanes refuses several taps, padding, strides and channels-last tensors") {
    fk::hip::Device device = sm90a_device();
    auto planes = device.with<TmaPlanes<>>();
    using Tensor = fk::Tensor<fk::half, fk::hip::Device>;
    auto const sentence = [&](fk::Layout<4> const& of_x, fk::Layout<4> const& of_w, fk::Filter<2> const& filter) {
        Tensor x(device, of_x), w(device, of_w);
        auto const layer = fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = filter});
        return refusal([&] { static_cast<void>(layer(planes, x)); });
    };
    std::string const plan = "Plan<Conv<dynamic>>: TmaPlanes: ";
    CHECK(sentence(fk::nchw(1, 8, 4, 4), fk::kcrs(8, 8, 3, 3), fk::filter(3, 3)) ==
          plan + "R * S = 9 is not 1: use Planes");
    CHECK(sentence(fk::nchw(1, 8, 4, 4), fk::kcrs(8, 8, 1, 1), fk::filter(1, 1).stride(2)) ==
          plan + "the filter has padding or strides: use MatrixGemm");
    CHECK(sentence(fk::nchw(2, 8, 7, 7), fk::kcrs(8, 8, 1, 1), fk::filter(1, 1)) ==
          plan + "pixels of a plane = 49 is not a multiple of 8: use Planes");
    CHECK(sentence(fk::nhwc(1, 4, 4, 8), fk::krsc(8, 1, 1, 8), fk::filter(1, 1)) ==
          plan +
              "x's or y's planes are not contiguous at multiples of 16 bytes: pass them dense, of planes of a "
              "multiple of 16 bytes");
}
