// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <tuple>

#include "support/collected_channels.hpp"
#include "support/element_types.hpp"
#include "support/letters.hpp"
#include "support/matrix_products.hpp"
#include "support/pooled_windows.hpp"
#include "support/random_case.hpp"
#include "support/training_cases.hpp"

/// y with another element type than x, after every kind of head.
namespace test {

namespace detail {

/// Plans on different paths of a backend: tiles, thin groups, a prologue; without state, with per-channel and with
/// per-pixel state.
template <class Device, class T>
std::vector<Form<Device>> mixed_convs() {
    using namespace letters;
    std::vector<Form<Device>> forms = {{"CBA", "relu", run_conv<Device, T, fk::dynamic, B, A<fk::Relu>>}};
    if constexpr (std::is_same_v<XOf<T>, fk::int8>) forms.push_back({"CQ", "", run_conv<Device, T, fk::dynamic, Q>});
    else forms.push_back({"BC", "", WithPrologue<B>::template run<Device, T, fk::dynamic>});
    return forms;
}
template <class Device, class T>
std::vector<Form<Device>> mixed_pointwise() {
    using namespace letters;
    return {{"S", "", run_pointwise<Device, T, S>},
            {"BA", "clamp", run_pointwise<Device, T, B, A<fk::Clamp>>},
            {"RM", "", run_pointwise<Device, T, R, M>}};
}

/// Random cases of every form; device(threads) returns the device of a case.
template <class T, class Device>
void check_mixed_forms(std::vector<Form<Device>> const& all, auto device, int cases_a_form, double multiplications) {
    Random random(20261122);
    int ran = 0;
    for (Form<Device> const& form : all)
        for (int number = 0; number < cases_a_form; ++number) {
            Case about = random_case(random, {{form.letters, form.mode}}, multiplications);
            about.type = fk::data_type<XOf<T>>;
            if constexpr (!std::is_same_v<WOf<T>, XOf<T>>) about.real = false;  // integers, which all types represent
            about.parameters = random.pick({fk::DataType::float32, fk::DataType::float16, about.type});
            Problem const problem(about);
            oracle::Tensor const expected = problem.expected();
            if (unfit(expected) != "") continue;
            INFO(about.print() << ' ' << name_of_types<T>());
            CHECK(form.run(problem, expected, device(about.threads)) == "");
            ++ran;
        }
    CHECK(ran * 10 > cases_a_form * static_cast<int>(all.size()) * 5);
}

}  // namespace detail

/// Pointwise plans of every pair of different types among float, half, bfloat16 and int8; convolutions of four pairs,
/// in which each type is x's once and y's once. The grammar tests the other plans.
inline void check_mixed_types(auto device, int cases_a_form, double multiplications) {
    using Device = std::remove_reference_t<decltype(device(1))>;
    using All = std::tuple<float, fk::half, fk::bfloat16, fk::int8>;
    auto const check_pair = [&]<int X, int Y>() {
        using T = Types<std::tuple_element_t<X, All>, std::tuple_element_t<Y, All>>;
        if constexpr (X != Y)
            detail::check_mixed_forms<T>(detail::mixed_pointwise<Device, T>(), device, cases_a_form, multiplications);
        if constexpr (Y == (X + 1) % 4)
            detail::check_mixed_forms<T>(detail::mixed_convs<Device, T>(), device, 2 * cases_a_form, multiplications);
    };
    [&]<int... I>(std::integer_sequence<int, I...>) {
        (check_pair.template operator()<I / 4, I % 4>(), ...);
    }(std::make_integer_sequence<int, 16>{});
}

/// Checks Gemm, reductions, pools and statistics with y of another type than x.
template <class Device>
void check_mixed_heads(Device& device) {
    using Wider = Types<fk::half, float>;
    using Narrower = Types<float, fk::half>;
    using Quantized = Types<float, fk::int8>;
    for (Product const& product : {Product{0, 5, 7, 3, "mk", "mk", "mk", "mk"},
                                   {0, 70, 65, 34, "mk+3", "km", "km*2", "mk"},
                                   {0, 72, 40, 48, "mk", "mk", "mk", "mk"}}) {
        check_product<Wider, 2>(device, product);
        check_product<Quantized, 2>(device, product);
        check_product<Types<fk::int8, float>, 2>(device, product);
    }

    for (oracle::Shape const& shape :
         {oracle::Shape{2, 5, 7, 7}, {3, 6, 7, 9}, {2, 8, 4, 8}, {300, 3, 1, 2}, {1, 3, 1, 1}})
        for (char const* layouts : {"nchw", "nhwc", "nchw+1", "nhwc>nchw"}) {
            detail::check_training_of<Wider>(detail::training_case(shape, layouts, true), device);
            detail::check_training_of<Quantized>(detail::training_case(shape, layouts, true), device);
        }
    for (char const* layouts : {"nchw", "nhwc", "nchw>nhwc"}) {
        detail::check_training_of<Wider>(detail::training_case({4, 5, 8, 8}, layouts, false), device);
        detail::check_training_of<Narrower>(detail::training_case({4, 5, 8, 8}, layouts, false), device);
    }

    char const* const all_layouts[][2] = {{"nchw", "nchw"}, {"nhwc", "nhwc"}, {"nhwc", "nchw"}, {"nchw+1", "nchw*2"}};
    for (auto const& [x, y] : all_layouts) {
        for (oracle::Shape const& shape : {oracle::Shape{2, 8, 4, 8}, {3, 5, 6, 10}, {1, 37, 2, 2}}) {
            PooledLayouts const layouts{x, y};
            check_pooled_pointwise<fk::Pool<fk::Max, 2, 2>, Wider, 4>(device, layouts, shape);
            check_pooled_pointwise<fk::Pool<fk::Average, 2, 2>, Quantized, 4>(device, layouts, shape);
            check_pooled_pointwise<fk::GlobalAverage, Wider, 4>(device, layouts, shape);
            check_pooled_pointwise<fk::GlobalAverage, Quantized, 4>(device, layouts, shape);
            check_pooled_conv<fk::Pool<fk::Max, 2, 2>, Wider>(device, layouts, shape, 19, {.r = 1, .s = 1});
            check_pooled_conv<fk::Pool<fk::Average, 2, 2>, Quantized>(
                device, layouts, {2, 9, 4, 12}, 9,
                {.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .groups = 9});
            check_statistics<Wider, 4>(device, x, y, shape);
            check_statistics<Quantized, 4>(device, x, y, shape);
        }
        using Conv = fk::Conv<fk::dynamic>;
        oracle::Window const same{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1};
        oracle::Window deep = same;
        deep.groups = 9;
        check_conv_statistics<Conv, Wider, 4>(device, x, y, {{2, 5, 9, 7}, 37, same});
        check_conv_statistics<Conv, Quantized, 4>(device, x, y, {{2, 5, 9, 7}, 37, same});
        check_conv_statistics<Conv, Wider, 4>(device, x, y, {{2, 9, 5, 11}, 9, deep});
    }
}

/// Weights of another type than x on every path: tiles, thin groups, a prologue, products, statistics and pools.
template <class T>
void check_mixed_weights_of(auto device, int cases_a_form, double multiplications) {
    using Device = std::remove_reference_t<decltype(device(1))>;
    detail::check_mixed_forms<T>(detail::mixed_convs<Device, T>(), device, cases_a_form, multiplications);
}
inline void check_mixed_weights(auto device, int cases_a_form, double multiplications) {
    check_mixed_weights_of<Types<fk::half, fk::half, fk::int8>>(device, cases_a_form, multiplications);
    check_mixed_weights_of<Types<float, float, fk::half>>(device, cases_a_form, multiplications);
    check_mixed_weights_of<Types<fk::bfloat16, float, float>>(device, cases_a_form, multiplications);
    check_mixed_weights_of<Types<float, fk::half, fk::int8>>(device, cases_a_form, multiplications);
}
template <class Device>
void check_mixed_weights_of_products(Device& device) {
    for (Product const& product : {Product{0, 5, 7, 3, "mk", "mk", "mk", "mk"},
                                   {0, 70, 65, 34, "mk+3", "km", "km*2", "mk"},
                                   {0, 72, 40, 48, "mk", "mk", "mk", "mk"}}) {
        check_product<Types<fk::half, fk::half, fk::int8>, 2>(device, product);
        check_product<Types<fk::half, float, float>, 2>(device, product);
    }
}

/// All int8 values as weights, followed by a per-channel scale: sums are exact, and so is scaling by powers of two.
template <class X, class Device>
void check_scaled_int8_weights(Device& device) {
    oracle::Shape const shape{2, 6, 7, 9}, filter{19, 6, 3, 3};
    oracle::Window const same{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1};
    std::vector<double> scales;
    for (int k = 0; k < 19; ++k) scales.push_back(std::exp2(-k % 5));
    Placed<Device, 1> scale(device, fk::DataType::float32, fk::channels(19), scales);
    for (char const* layout : {"nchw", "nhwc"})
        for (char const* order : {"nchw", "nhwc"}) {
            Filled<X, Device, 4> x(device, layout, shape, integers(shape.size(), -3, 4, 1));
            Filled<fk::int8, Device, 4> w(device, order, filter, integers(filter.size(), -128, 127, 2));
            Placed<Device, 4> y(device, fk::DataType::float32, layout_of<4>(layout, {2, 19, 7, 9}), 64);
            using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1), fk::Weights<fk::int8>>, fk::Requantize>;
            Layer::bind({.weights = w.view()}, {.scale = scale.template view<float const>()})(device, x.view(),
                                                                                              y.template view<float>());
            auto const sums = oracle::conv(oracle::Tensor(shape, x.values), w.values, 19, same);
            CHECK(difference(oracle::requantize(sums, scales, 0), y.fetch()) == "");
        }
}

}  // namespace test
