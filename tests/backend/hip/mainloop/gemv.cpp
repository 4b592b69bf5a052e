// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/gemv.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "backend/hip/gpu.hpp"
#include "support/check_case.hpp"
#include "support/half_types.hpp"
#include "support/matrix_products.hpp"
#include "support/refusal.hpp"
#include "support/run_case.hpp"
#include "support/static_geometries.hpp"
#include "support/stored_values.hpp"

using namespace test;
using fusekit::hip::Gemv;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;
using Map = fk::BatchNormInference<fk::PerActivation>;
using Elements = HalvesAnd<float, fk::int8>;

/// Checks a product alone, and followed by a bias, a residual, a Store, an activation and a scale.
template <class T, int Rank, class Device>
void check_gemv(Device& device, Product const& product) {
    Factors<T, Rank, Device> factors(device, product);
    using Gemm = typename decltype(factors)::Gemm;
    oracle::Tensor const sums = factors.sums();
    factors.check(fk::Plan<Gemm>::bind(factors.gemm()), sums);

    auto const bias = integers(product.n, -3, 3, 13), z = integers(product.rows() * product.n, -5, 5, 14);
    Placed<Device, 1> b(device, fk::DataType::float32, fk::channels(product.n), bias);
    Placed<Device, Rank> placed_z(device, fk::data_type<XOf<T>>, factors.layout(product.z), z),
        values(device, fk::data_type<XOf<T>>, factors.layout(product.y), 64);
    oracle::Tensor const before = oracle::residual(oracle::bias(sums, bias), z, 2);
    using All = fk::Plan<Gemm, fk::Bias, fk::Residual, fk::Store, Relu, fk::Scale>;
    factors.check(All::bind(factors.gemm(), {.bias = b.any()}, {.z = placed_z.any(), .alpha2 = 2},
                            {.values = values.template view<XOf<T>>()}, {}, {.factor = 0.5f}),
                  oracle::scale(oracle::activation(before, {"relu"}), 0.5));
    CHECK(difference(before, values.fetch()) == "");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: Gemv's products of 1 to 32 rows are exact", "", Elements) {
    fk::hip::Device device = gpu();
    auto gemv = device.with<Gemv<>>();
    for (Product const& product : {Product{0, 1, 1, 1, "mk", "mk", "mk", "mk"},
                                   {0, 1, 17, 2048, "mk", "mk", "mk", "mk"},
                                   {0, 2, 300, 70, "mk+2", "mk+2", "mk", "mk"},
                                   {0, 5, 7, 3, "mk", "mk", "km", "mk"},
                                   {0, 7, 33, 1001, "mk", "mk", "mk", "mk"},
                                   {0, 8, 64, 96, "mk", "mk+8", "mk*2", "km"},
                                   {0, 9, 20, 264, "mk+8", "mk", "mk", "mk"},
                                   {0, 13, 9, 130, "mk-m", "mk-m", "km", "mk-mk"},
                                   {0, 17, 40, 36, "mk", "mk", "mk", "mk"},
                                   {0, 32, 1000, 24, "mk", "mk", "mk", "mk"},
                                   {0, 31, 5, 1152, "mk+8", "mk+4", "mk", "mk"}})
        check_gemv<TestType, 2>(gemv, product);
    check_gemv<TestType, 3>(gemv, {3, 5, 7, 9, "bmk", "mk", "mbk", "bmk"});
    check_gemv<TestType, 3>(gemv, {5, 6, 40, 64, "mbk+16", "mk", "bkm", "kbm"});
}

TEST_CASE("HIP: Gemv's x, weights and y may have different element types") {
    fk::hip::Device device = gpu();
    auto gemv = device.with<Gemv<>>();
    for (Product const& product : {Product{0, 1, 33, 80, "mk", "mk", "mk", "mk"},
                                   {0, 6, 20, 39, "mk", "mk", "mk", "mk"},
                                   {0, 19, 7, 520, "mk", "mk", "mk", "mk"}}) {
        check_gemv<Types<fk::half, float, fk::int8>, 2>(gemv, product);
        check_gemv<Types<float, fk::half, fk::int8>, 2>(gemv, product);
        check_gemv<Types<fk::int8, float>, 2>(gemv, product);
        check_gemv<Types<fk::half, fk::bfloat16>, 2>(gemv, product);
        Factors<Types<fk::e4m3, fk::half>, 2, decltype(gemv)> float8(gemv, product);
        float8.check(fk::Plan<fk::Gemm>::bind(float8.gemm()), float8.sums());
        check_gemv<FloatsAs<fk::tf32>, 2>(gemv, product);
    }
}

TEMPLATE_TEST_CASE("HIP: Gemv computes convolutions of few pixels with a filter of one tap", "", float, fk::half,
                   fk::int8) {
    fk::hip::Device device = gpu();
    auto gemv = device.with<Gemv<>>();
    using Scheduled = decltype(gemv);
    std::string const type = " " + std::string(fk::name(fk::data_type<TestType>));
    int number = 0;
    for (char const* sizes : {"n1c96h1w1k24r1s1pt0l0b0r0u1v1d1e1g1", "n32c6h1w1k144r1s1pt0l0b0r0u1v1d1e1g1",
                              "n2c35h3w5k9r1s1pt0l0b0r0u1v1d1e1g1", "n3c40h4w5k33r1s1pt0l0b0r0u2v3d1e1g1",
                              "n9c480h1w1k20r1s1pt0l0b0r0u1v1d3e2g1"})
        for (char const* layouts :
             {" nhwc krsc", " nhwc+8 kcrs", " nhwc+1>nchw kcrs", " nhwc>nhwc*2 krsc+3", " nhwc-hw krsc"}) {
            std::string const text = sizes + (layouts + type), seed = " #" + std::to_string(++number % 11 + 1);
            check_case(Case::parse(text + " CB" + seed), run_conv<Scheduled, TestType, fk::dynamic, fk::Bias>, gemv);
        }
    constexpr auto filter = fk::filter(1, 1);
    for (char const* layouts : {" nhwc krsc", " nhwc+1 kcrs"}) {
        std::string const text = "n5c40h2w3k18r1s1pt0l0b0r0u1v1d1e1g1" + (layouts + type);
        if constexpr (!std::is_same_v<TestType, fk::int8>) {
            check_case(Case::parse(text + " CRA relu #3"), run_conv<Scheduled, TestType, filter, fk::Residual, Relu>,
                       gemv);
            check_case(Case::parse(text + " CN #1"), run_conv<Scheduled, TestType, filter, Norm>, gemv);
            check_case(Case::parse(text + " CM #2"), run_conv<Scheduled, TestType, filter, Map>, gemv);
        }
    }
    if constexpr (!std::is_same_v<TestType, fk::int8>)
        check_stored_conv<TestType, fk::half>(gemv, {"nhwc", "nhwc", "nhwc", "nchw"}, {2, 6, 3, 5}, 6,
                                              {.r = 1, .s = 1});
}

TEST_CASE("HIP: the library chooses Gemv for 1x1 images, whose results are bitwise identical to a Gemm's") {
    fk::hip::Device device = gpu();
    fk::TensorView<fk::half const> const x(nullptr, fk::nhwc(32, 1, 1, 672)), w(nullptr, fk::kcrs(28, 672, 1, 1));
    fk::TensorView<fk::half> const y(nullptr, fk::nhwc(32, 1, 1, 28));
    auto const layer = fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = fk::filter(1, 1)});
    auto const best = fk::hip::predict_run(fk::hip::Architecture::sm(90), layer, x, y);
    CHECK(best.schedule.kind == fk::hip::ScheduleKind::gemv);
    auto gemv = device.with<Gemv<>>();
    CHECK(same_bits_as_conv<fk::half>(gemv, 1, 9, 28, 672, true));
    CHECK(same_bits_as_conv<float>(gemv, 1, 9, 28, 67, true));
}

TEMPLATE_TEST_CASE("HIP: infinities and NaN in x and in the weights reach only Gemv's outputs of their row", "", float,
                   fk::half, fk::bfloat16) {
    fk::hip::Device device = gpu();
    auto gemv = device.with<Gemv<>>();
    for (std::int64_t const c : {64, 37})
        for (std::int64_t const rows : {3, 32}) {
            constexpr std::int64_t filters = 21, in_row = 2, in_filter = 17;
            std::vector<TestType> x(static_cast<std::size_t>(rows * c), TestType(1.0f)),
                w(static_cast<std::size_t>(filters * c), TestType(1.0f));
            x[static_cast<std::size_t>(in_row * c + c - 1)] = TestType(std::numeric_limits<float>::infinity());
            w[static_cast<std::size_t>(in_filter * c + 5)] = TestType(std::numeric_limits<float>::quiet_NaN());
            fk::Tensor<TestType, fk::hip::Device, 2> of_x(device, fk::row_major(rows, c)),
                of_w(device, fk::row_major(filters, c)), y(device, fk::row_major(rows, filters));
            of_x.copy_from(x.data()), of_w.copy_from(w.data());
            fk::Plan<fk::Gemm>::bind({.weights = of_w})(gemv, of_x, y);
            std::vector<TestType> got(static_cast<std::size_t>(rows * filters));
            y.copy_to(got.data());
            int wrong = 0;
            for (std::int64_t m = 0; m < rows; ++m)
                for (std::int64_t k = 0; k < filters; ++k) {
                    auto const value = static_cast<float>(got[static_cast<std::size_t>(m * filters + k)]);
                    wrong += k == in_filter ? !std::isnan(value)
                             : m == in_row  ? !(std::isinf(value) && value > 0)
                                            : value != static_cast<float>(c);
                }
            CHECK(wrong == 0);
        }
}

TEST_CASE("HIP: Gemv's sums of floats are within the bound of a chain of additions") {
    fk::hip::Device device = gpu();
    auto gemv = device.with<Gemv<>>();
    constexpr std::int64_t rows = 3, filters = 10, c = 1500;
    auto const x = fk::random<float>(device, fk::row_major(rows, c), 1);
    auto const w = fk::random<float>(device, fk::row_major(filters, c), 2);
    fk::Tensor<float, fk::hip::Device, 2> y(device, fk::row_major(rows, filters));
    fk::Plan<fk::Gemm>::bind({.weights = w})(gemv, x, y);
    std::vector<float> of_x(rows * c), of_w(filters * c), got(rows * filters);
    x.copy_to(of_x.data()), w.copy_to(of_w.data()), y.copy_to(got.data());
    for (std::size_t m = 0; m < rows; ++m)
        for (std::size_t k = 0; k < filters; ++k) {
            double sum = 0, magnitudes = 0;
            for (std::size_t i = 0; i < c; ++i) {
                double const product = static_cast<double>(of_x[m * c + i]) * of_w[k * c + i];
                sum += product, magnitudes += std::fabs(product);
            }
            CHECK(std::fabs(got[m * filters + k] - sum) <= c * 0x1p-24 * magnitudes);
        }
}

TEST_CASE("HIP: Gemv refuses many rows, groups, taps and other orders of channels") {
    fk::hip::Device device = gpu();
    auto gemv = device.with<Gemv<>>();
    using Tensor = fk::Tensor<float, fk::hip::Device>;
    auto const sentence = [&](fk::Layout<4> const& of_x, fk::Layout<4> const& of_w, fk::Filter<2> const& filter) {
        Tensor x(device, of_x), w(device, of_w);
        auto const layer = fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = filter});
        return refusal([&] { static_cast<void>(layer(gemv, x)); });
    };
    auto const one = fk::filter(1, 1);
    CHECK(sentence(fk::nhwc(1, 3, 11, 8), fk::kcrs(4, 8, 1, 1), one) ==
          "Plan<Conv<dynamic>>: Gemv: rows of x = 33 exceeds 32: use NativeGemm");
    CHECK(sentence(fk::nhwc(1, 1, 1, 8), fk::kcrs(4, 4, 1, 1), fk::filter(1, 1).groups(2)) ==
          "Plan<Conv<dynamic>>: Gemv: groups = 2 is not 1: use NativeGemm");
    CHECK(sentence(fk::nhwc(1, 3, 3, 8), fk::kcrs(4, 8, 3, 3), fk::filter(3, 3)) ==
          "Plan<Conv<dynamic>>: Gemv: R * S = 9 is not 1: use NativeGemm");
    CHECK(sentence(fk::nhwc(1, 1, 1, 8), fk::kcrs(4, 8, 1, 1), fk::filter(1, 1).pad(1)) ==
          "Plan<Conv<dynamic>>: Gemv: the filter has padding: use NativeGemm");
    CHECK(sentence(fk::nchw(1, 8, 2, 2), fk::kcrs(4, 8, 1, 1), one) ==
          "Plan<Conv<dynamic>>: Gemv: x's channel stride = 4 is not 1: use NativeGemm");
    fk::Layout<4> apart = fk::kcrs(4, 8, 1, 1);
    apart.stride = {{1, 4, 1, 1}};
    CHECK(sentence(fk::nhwc(1, 1, 1, 8), apart, one) ==
          "Plan<Conv<dynamic>>: Gemv: the channels of a filter are not contiguous: use NativeGemm");
}
