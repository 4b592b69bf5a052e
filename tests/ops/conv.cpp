// SPDX-License-Identifier: MIT
#include "fusekit/ops/conv.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/run_case.hpp"

using namespace test;

namespace {

/// Geometry as a template argument: a case whose window is the plan's, in both layouts, on 1 and 2 threads.
template <class T, auto Geometry>
void check(oracle::Shape x, std::int64_t k) {
    static fk::host::Device one(1), two(2);
    Case about;
    about.x = x, about.k = k;
    about.type = about.parameters = fk::data_type<T>;
    about.form = "CBA", about.mode = "relu";
    about.window = {Geometry.size[0], Geometry.size[1], Geometry.before[0], Geometry.before[1], Geometry.after[0], Geometry.after[1],
                    Geometry.step[0], Geometry.step[1], Geometry.spread[0], Geometry.spread[1], Geometry.group_count};
    for (char const* layouts : {"nchw kcrs", "nhwc krsc", "nhwc kcrs", "nchw+1 krsc*2"}) {
        about.x_layout = about.y_layout = std::string(layouts).substr(0, std::string(layouts).find(' '));
        about.w_layout = std::string(layouts).substr(std::string(layouts).find(' ') + 1);
        about.seed += 1;
        INFO(Geometry.to_string() << ": " << about.print());
        Problem const problem(about);
        oracle::Tensor const expected = problem.expected();
        REQUIRE(unfit(expected) == "");
        auto const run = run_conv<T, Geometry, fk::Bias, fk::Activation<fk::Relu>>;
        CHECK(run(problem, expected, about.seed % 2 ? one : two) == "");
    }
}

}  // namespace

TEST_CASE("convolutions of geometries known at compile time compute what the oracle does") {
    check<float, fk::filter(1, 1)>({2, 19, 5, 7}, 33);
    check<float, fk::filter(3, 3).pad(1)>({1, 16, 9, 9}, 24);
    check<float, fk::filter(3, 3).pad(1).stride(2)>({2, 5, 10, 11}, 9);
    check<float, fk::filter(1, 1).stride(2)>({1, 8, 7, 7}, 16);
    check<float, fk::filter(7, 7).pad(3).stride(2)>({1, 3, 23, 21}, 12);
    check<float, fk::filter(1, 5).pad(0, 2)>({1, 4, 6, 13}, 7);
    check<float, fk::filter(5, 2).pad(1, 0, 2, 1).stride(1, 2).dilation(2, 3)>({2, 3, 14, 17}, 5);
    check<float, fk::filter(3, 3).pad(2).dilation(2).groups(2)>({1, 6, 8, 9}, 10);
    check<float, fk::filter(3, 3).pad(1).groups(12)>({2, 12, 7, 6}, 12);
    check<float, fk::filter(3, 3).pad(1).groups(5)>({1, 5, 7, 9}, 15);
    check<float, fk::filter(12, 11).pad(5)>({1, 2, 15, 16}, 3);
    check<fk::half, fk::filter(3, 3).pad(1)>({2, 17, 6, 9}, 20);
    check<fk::bfloat16, fk::filter(3, 3).pad(1).stride(2)>({1, 33, 9, 8}, 11);
}

TEST_CASE("a convolution's name is its geometry") {
    CHECK(fk::type_name<fk::Conv<fk::filter(3, 3).pad(1)>>() == "Conv<filter(3, 3).pad(1)>");
    CHECK(fk::type_name<fk::Conv<fk::dynamic>>() == "Conv<dynamic>");
}

TEST_CASE("views may run backwards and repeat elements") {
    fk::host::Device device(2);
    float numbers[] = {1, 2, 3, 4, 5, 6};
    float const ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    fk::TensorView<float const> const backwards(numbers + 5, {{{1, 1, 2, 3}}, {{-6, -6, -3, -1}}});
    fk::TensorView<float const> const repeated(numbers, {{{2, 3, 2, 3}}, {{0, 0, 3, 1}}});
    fk::TensorView<float const> const one_weight(ones, {{{4, 3, 1, 1}}, {{0, 0, 0, 0}}});
    fk::TensorView<float const> const nine(ones, fk::kcrs(1, 1, 3, 3));
    auto const sum = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>::bind({.weights = nine})(device, backwards);
    float const sums[] = {16, 21, 12, 16, 21, 12};  // of 6 5 4 / 3 2 1
    for (int i = 0; i < 6; ++i) CHECK(sum.data()[i] == sums[i]);
    auto const mix = fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = one_weight})(device, repeated);
    for (int i = 0; i < 48; ++i) CHECK(mix.const_view()(i / 24, i / 6 % 4, i / 3 % 2, i % 3) == 3 * numbers[i % 6]);
}
