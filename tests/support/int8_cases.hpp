// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "support/forms.hpp"
#include "support/static_geometries.hpp"

namespace test {

/// int8 plans of every form, with random shapes, geometries and layouts, also signals and volumes. device(threads)
/// returns the device of a case.
inline void check_int8(auto device, int cases_a_form, double multiplications) {
    using Device = std::remove_reference_t<decltype(device(1))>;
    Random random(20261121);
    int ran = 0, saturated[2] = {}, halves = 0;
    auto const& all = forms<Device, fk::int8>();
    for (Form<Device> const& form : all)
        for (int number = 0; number < cases_a_form; ++number) {
            Case about = random_case(random, {{form.letters, form.mode}}, multiplications);
            about.type = fk::DataType::int8;
            about.parameters = random.pick({fk::DataType::float32, fk::DataType::float16, fk::DataType::int8});
            about.real = number % 4 == 0;
            Problem const problem(about);
            oracle::Tensor const expected = problem.expected();
            if (unfit(expected) != "") continue;
            INFO(about.print());
            CHECK(form.run(problem, expected, device(about.threads)) == "");
            for (Bounded y : expected.at) {
                saturated[0] += y.value < -128.5, saturated[1] += y.value > 127.5;
                halves += y.error == 0 && std::fabs(y.value) < 127 && y.value - std::floor(y.value) == 0.5;
            }
            ++ran;
        }
    CHECK(ran * 10 > cases_a_form * static_cast<int>(all.size()) * 8);
    CHECK(saturated[0] > 100);
    CHECK(saturated[1] > 100);
    CHECK(halves > 100);

    constexpr auto volume = fk::filter(3, 2, 3).pad(1, 0, 1).stride(2, 1, 1);
    for (char const* layouts : {"ncdhw kctrs", "ndhwc ktrsc", "ncdhw+1>ndhwc kctrs"})
        check_case(Case::parse("n2c9h6w5k21r2s3pt0l1b0r1u1v1d1e1g1D5T3F1B1U2E1 " + std::string(layouts) +
                               " int8/float CBQ #3"),
                   run_conv<Device, fk::int8, volume, fk::Bias, fk::Requantize>, device(2));
    check_case(Case::parse("n2c12h1w37k12r1s3pt0l2b0r1u1v1d1e1g12 nwc>ncw ksc int8 CQ #4"),
               run_conv<Device, fk::int8, fk::filter(3).pad(2, 1).groups(12), fk::Requantize>, device(1));
}

/// Sums beyond 2^24, which float accumulation would round: minus their exact value, they leave 5.
inline void check_large_sums(auto& device) {
    constexpr int c = 512, h = 5, w = 6, k = 3;
    using Device = std::remove_reference_t<decltype(device)>;
    for (bool const last : {false, true}) {
        fk::Tensor<fk::int8, Device> x(device, last ? fk::nhwc(1, h, w, c) : fk::nchw(1, c, h, w));
        fk::Tensor<fk::int8, Device> weights(device, fk::kcrs(k, c, h, w));
        std::vector<fk::int8> in(static_cast<std::size_t>(x.size())), taps(static_cast<std::size_t>(weights.size()));
        Random random(7);
        for (auto& value : in) value.value = static_cast<std::int8_t>(random.range(64, 127));
        for (auto& value : taps) value.value = static_cast<std::int8_t>(random.range(64, 127));
        x.copy_from(in.data()), weights.copy_from(taps.data());
        std::vector<float> less(k);
        bool floats_round = false;
        for (int i = 0; i < k; ++i) {
            std::int64_t sum = 0;
            float rounded = 0;
            for (int j = 0; j < c * h * w; ++j) {
                std::int64_t const at = last ? j % (h * w) * c + j / (h * w) : j;
                std::int64_t const product = std::int64_t{in[static_cast<std::size_t>(at)].value} *
                                             taps[static_cast<std::size_t>(i * c * h * w + j)].value;
                sum += product;
                rounded += static_cast<float>(product);
            }
            less[static_cast<std::size_t>(i)] = -static_cast<float>(sum);
            floats_round = floats_round || rounded != static_cast<float>(sum);
        }
        REQUIRE(floats_round);
        fk::Tensor<float, Device, 1> bias(device, fk::channels(k));
        bias.copy_from(less.data());
        auto const ones = fk::tensor<float>(device, fk::channels(k), {1, 1, 1});
        auto const layer = fk::Plan<fk::Conv<fk::filter(h, w)>, fk::Bias, fk::Requantize>::bind(
            {.weights = weights}, {.bias = bias}, {.scale = ones, .zero_point = 5});
        auto const y = layer(device, x);
        fk::int8 out[k];
        y.copy_to(out);
        for (fk::int8 value : out) CHECK(value.value == 5);
    }
}

}  // namespace test
