// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/tall_gemm.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/half_types.hpp"
#include "support/matrix_products.hpp"
#include "support/refusal.hpp"
#include "support/run_case.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::TallGemm;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;
using Map = fk::BatchNormInference<fk::PerActivation>;

/// Orders of a TransposedConv's weights.
struct FilterOrders {
    static constexpr char const* all[3][3] = {
        {"nhwc", "krsc", "nhwc"}, {"nhwc", "crsk", "nhwc"}, {"nhwc", "krsc+3", "nhwc"}};
};

std::string type_of(auto element) { return " " + std::string(fk::name(fk::data_type<decltype(element)>)); }

/// Images of 1x1 filters: rows that fill no tile, no warp, no 16 bytes; channels and filters of one block to the most;
/// more tiles than the emulated GPU has CTAs.
constexpr char const* images[] = {"n2c24h7w9k40r1s1pt0l0b0r0u1v1d1e1g1",   "n1c2h1w37k1r1s1pt0l0b0r0u1v1d1e1g1",
                                  "n3c58h5w7k58r1s1pt0l0b0r0u1v1d1e1g1",   "n2c116h6w11k116r1s1pt0l0b0r0u1v1d1e1g1",
                                  "n1c256h9w5k64r1s1pt0l0b0r0u1v1d1e1g1",  "n1c64h8w8k256r1s1pt0l0b0r0u1v1d1e1g1",
                                  "n5c16h31w29k19r1s1pt0l0b0r0u1v1d1e1g1", "n2c72h40w41k24r1s1pt0l0b0r0u1v1d1e1g1",
                                  "n1c30h3w3k33r1s1pt0l0b0r0u1v1d1e1g1"};

}  // namespace

TEMPLATE_LIST_TEST_CASE("TallGemm computes 1x1 convolutions of few channels exactly", "", HalfTypes) {
    fk::hip::Device device = sm90a_device();
    auto tall = device.with<TallGemm<>>();
    using Scheduled = decltype(tall);
    for (char const* sizes : images) {
        std::string const text = std::string(sizes) + " nhwc krsc" + type_of(TestType());
        // seeds whose tensors are aligned to 16 bytes
        check_case(Case::parse(text + " CB #64"), run_conv<Scheduled, TestType, fk::dynamic, fk::Bias>, tall);
        check_case(Case::parse(text + " CRA relu #64"),
                   run_conv<Scheduled, TestType, fk::filter(1, 1), fk::Residual, Relu>, tall);
        check_case(Case::parse(text + " CN #64"), run_conv<Scheduled, TestType, fk::filter(1, 1), Norm>, tall);
    }
    std::string const text = std::string(images[0]) + " nhwc krsc" + type_of(TestType());
    check_case(Case::parse(text + " CM #64"), run_conv<Scheduled, TestType, fk::filter(1, 1), Map>, tall);
}

TEST_CASE("TallGemm computes products of matrices") {
    fk::hip::Device device = sm90a_device();
    auto tall = device.with<TallGemm<>>();
    for (Product const& product : {Product{0, 1, 8, 16, "mk", "mk", "mk", "mk"},
                                   {0, 333, 40, 72, "mk", "mk", "mk", "mk"},
                                   {0, 97, 64, 250, "mk", "mk", "mk", "mk"},
                                   {0, 4100, 5, 6, "mk", "mk", "mk", "mk"}}) {
        Factors<fk::half, 2, decltype(tall)> of_half(tall, product);
        of_half.check(fk::Plan<fk::Gemm>::bind(of_half.gemm()), of_half.sums());
        {
            Factors<Types<fk::half, float>, 2, decltype(tall)> to_float(tall, product);
            to_float.check(fk::Plan<fk::Gemm>::bind(to_float.gemm()), to_float.sums());
        }
    }
}

// Filters whose pairs, fours or eights threads load at once, or one by one; odd channels of x; filters in both orders.
TEST_CASE("TallGemm computes gradients of 1x1 convolutions by x exactly") {
    fk::hip::Device device = sm90a_device();
    auto tall = device.with<TallGemm<>>();
    constexpr auto one = fk::filter(1, 1);
    for (auto const& [c, k] : {std::pair{64, 2},
                               {24, 40},
                               {58, 58},
                               {116, 116},
                               {3, 30},
                               {256, 21},
                               {64, 256},
                               {19, 16},
                               {36, 6},
                               {17, 1},
                               {8, 33}})
        check_transposed<fk::half, one, false, FilterOrders>(tall, {2, c, 7, 13}, k);
    check_transposed<fk::bfloat16, one, false, ChannelsLastLayouts>(tall, {2, 24, 41, 40}, 72);
    for (int const k : {64, 38, 21}) check_transposed_infinities<fk::half, one>(tall, {2, 20, 5, 7}, k);
}

TEST_CASE("infinities and NaN in x and in the weights reach only TallGemm's outputs of their row") {
    fk::hip::Device device = sm90a_device();
    auto tall = device.with<TallGemm<>>();
    for (std::int64_t const c : {64, 38}) {
        constexpr std::int64_t rows = 70, filters = 21, in_row = 40, in_filter = 17;
        std::vector<fk::half> x(static_cast<std::size_t>(rows * c), fk::half(1.0f)),
            w(static_cast<std::size_t>(filters * c), fk::half(1.0f));
        // at the ends of rows, beside those that follow
        x[static_cast<std::size_t>(in_row * c + c - 1)] = fk::half(std::numeric_limits<float>::infinity());
        x[static_cast<std::size_t>((in_row + 2) * c)] = fk::half(std::numeric_limits<float>::infinity());
        w[static_cast<std::size_t>(in_filter * c)] = fk::half(std::numeric_limits<float>::quiet_NaN());
        fk::Tensor<fk::half, fk::hip::Device, 2> of_x(device, fk::row_major(rows, c)),
            of_w(device, fk::row_major(filters, c)), y(device, fk::row_major(rows, filters));
        of_x.copy_from(x.data()), of_w.copy_from(w.data());
        fk::Plan<fk::Gemm>::bind({.weights = of_w})(tall, of_x, y);
        std::vector<fk::half> got(static_cast<std::size_t>(rows * filters));
        y.copy_to(got.data());
        int wrong = 0;
        for (std::int64_t m = 0; m < rows; ++m)
            for (std::int64_t k = 0; k < filters; ++k) {
                auto const value = static_cast<float>(got[static_cast<std::size_t>(m * filters + k)]);
                wrong += k == in_filter                   ? !std::isnan(value)
                         : m == in_row || m == in_row + 2 ? !(std::isinf(value) && value > 0)
                                                          : value != static_cast<float>(c);
            }
        CHECK(wrong == 0);
    }
}

TEST_CASE("TallGemm refuses odd and many channels, strides, and tensors with gaps") {
    fk::hip::Device device = sm90a_device();
    auto tall = device.with<TallGemm<>>();
    using Tensor = fk::Tensor<fk::half, fk::hip::Device>;
    auto const sentence = [&](fk::Layout<4> const& of_x, fk::Layout<4> const& of_w, fk::Filter<2> const& filter) {
        Tensor x(device, of_x), w(device, of_w);
        auto const layer = fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = filter});
        return refusal([&] { static_cast<void>(layer(tall, x)); });
    };
    auto const one = fk::filter(1, 1);
    std::string const plan = "Plan<Conv<dynamic>>: TallGemm: ";
    CHECK(sentence(fk::nhwc(1, 4, 4, 7), fk::krsc(8, 1, 1, 7), one) ==
          plan + "C = 7 is not a multiple of 2: use MatrixGemm");
    CHECK(sentence(fk::nhwc(1, 4, 4, 264), fk::krsc(8, 1, 1, 264), one) ==
          plan + "C = 264 exceeds 256: use WarpSpecialized");
    CHECK(sentence(fk::nhwc(1, 4, 4, 128), fk::krsc(136, 1, 1, 128), one) ==
          plan + "bytes of the filters = 34816 exceeds 32768: use WarpSpecialized");
    CHECK(sentence(fk::nhwc(1, 4, 4, 8), fk::krsc(8, 1, 1, 8), fk::filter(1, 1).stride(2)) ==
          plan + "the filter has padding or strides: use WarpSpecialized");
    CHECK(sentence(fk::nchw(1, 8, 4, 4), fk::krsc(8, 1, 1, 8), one) ==
          plan + "x or y is not dense, with channels last, at a multiple of 16 bytes: use WarpSpecialized");
}
