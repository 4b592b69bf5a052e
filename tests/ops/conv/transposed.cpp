// SPDX-License-Identifier: MIT
#include "fusekit/ops/conv/transposed.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "support/half_types.hpp"
#include "support/refusal.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;

using Elements = AndBfloat16<float, fk::half, fk::int8, double>;

TEMPLATE_LIST_TEST_CASE("transposed convolutions compute what the oracle does", "", Elements) {
    fk::host::Device one(1), two(2);
    // The loops of double are slow without optimisation; the number of threads does not depend on the type.
    if constexpr (!std::is_same_v<TestType, double>) check_transposed_convolutions<TestType>(one);
    check_transposed_convolutions<TestType>(two);
}

TEMPLATE_TEST_CASE("transposed convolutions of every window compute what the oracle does", "", float, double) {
    fk::host::Device device(2);
    check_transposed_windows<TestType>(device);
}

TEST_CASE("Store, statistics and Pool after a transposed convolution get its values") {
    fk::host::Device device(2);
    check_operators_after_transposed(device);
}

TEST_CASE("a transposed convolution is the adjoint of the convolution") {
    fk::host::Device device(2);
    check_adjoints(device);
}

TEST_CASE("Plan::evaluate of a transposed convolution follows the definition") {
    static constexpr auto x = fk::literal<fk::nchw(1, 1, 2, 2)>(1, 2, 3, 4);
    static constexpr auto w = fk::literal<fk::kcrs(1, 1, 2, 2)>(1, 10, 100, 1000);
    STATIC_CHECK(fk::Plan<fk::TransposedConv<fk::filter(2, 2)>>::evaluate(x, {.weights = w}) ==
                 fk::literal<fk::nchw(1, 1, 3, 3)>(1, 12, 20, 103, 1234, 2040, 300, 3400, 4000));
    STATIC_CHECK(
        fk::Plan<fk::TransposedConv<fk::filter(2, 2).stride(2)>>::evaluate(x, {.weights = w}) ==
        fk::literal<fk::nchw(1, 1, 4, 4)>(1, 10, 2, 20, 100, 1000, 200, 2000, 3, 30, 4, 40, 300, 3000, 400, 4000));
    static constexpr auto two = fk::literal<fk::nchw(1, 2, 1, 1)>(2, 3);
    static constexpr auto of_groups = fk::literal<fk::kcrs(2, 2, 1, 1)>(1, 10, 100, 1000);
    STATIC_CHECK(fk::Plan<fk::TransposedConv<fk::filter(1, 1).groups(2)>>::evaluate(two, {.weights = of_groups}) ==
                 fk::literal<fk::nchw(1, 4, 1, 1)>(2, 20, 300, 3000));
}

TEST_CASE("a new y of a transposed convolution has the least extents, a given y any that its filter maps to x") {
    using Layer = fk::Plan<fk::TransposedConv<fk::filter(3, 3).pad(1).stride(3, 1)>, fk::Store>;
    fk::host::Device device(1);
    auto const x = fk::random<float>(device, fk::nchw(2, 4, 5, 6)), w = fk::random<float>(device, fk::kcrs(4, 7, 3, 3));
    fk::Tensor<float, fk::host::Device> values(device, fk::nchw(2, 7, 13, 6)), higher(device, fk::nchw(2, 7, 15, 6)),
        higher_values(device, fk::nchw(2, 7, 15, 6));
    auto const layer = Layer::bind({.weights = w}, {.values = values});
    CHECK(layer.output_shape(x.layout().shape) == fk::Index<4>{{2, 7, 13, 6}});
    CHECK(layer(device, x).layout() == fk::nchw(2, 7, 13, 6));
    layer(device, x, fk::no_output);
    auto const prepared = Layer::bind({.weights = w}, {.values = higher_values}).prepare(device, x, higher);
    prepared(device, x, higher);
    for (std::int64_t row = 0; row < 13; ++row)
        CHECK(values.const_view()(1, 6, row, 5) == higher.const_view()(1, 6, row, 5));
    CHECK(higher_values.const_view()(0, 3, 14, 2) == higher.const_view()(0, 3, 14, 2));

    auto const got = [&](fk::Layout<4> const& layout) {
        fk::Tensor<float, fk::host::Device> y(device, layout);
        return refusal([&] { layer(device, x, y); });
    };
    std::string const plan = "Plan<TransposedConv<filter(3, 3).pad(1).stride(3, 1)>, Store>: ";
    CHECK(got(fk::nchw(2, 7, 13, 6)) == "accepted");
    CHECK(got(fk::nchw(2, 7, 14, 6)) ==
          plan + "Store.values: expected 2 x 7 x 14 x 6 (N x K x P x Q), got 2 x 7 x 13 x 6");
    std::string const outputs = plan + "y: expected 2 x 7 x 13 x 6 to 2 x 7 x 15 x 6, got ";
    CHECK(got(fk::nchw(2, 7, 12, 6)) == outputs + "2 x 7 x 12 x 6");
    CHECK(got(fk::nchw(2, 7, 16, 6)) == outputs + "2 x 7 x 16 x 6");
    CHECK(got(fk::nchw(2, 7, 13, 7)) == outputs + "2 x 7 x 13 x 7");
    CHECK(got(fk::nchw(2, 8, 13, 6)) == outputs + "2 x 8 x 13 x 6");
}

TEST_CASE("wrong arguments of a transposed convolution are refused") {
    fk::host::Device device(1);
    auto const x = fk::random<float>(device, fk::nchw(2, 4, 5, 6)),
               small = fk::random<float>(device, fk::nchw(1, 4, 1, 1)),
               w = fk::random<float>(device, fk::kcrs(4, 7, 3, 3)),
               few = fk::random<float>(device, fk::kcrs(3, 7, 3, 3)),
               five = fk::random<float>(device, fk::kcrs(4, 7, 5, 3));
    auto const halves = fk::random<fk::half>(device, fk::kcrs(4, 7, 3, 3));
    auto const got = [&]<fk::Filter<2> filter = fk::filter(3, 3)>(auto const& input, auto const& weights) {
        return refusal([&] {
            static_cast<void>(fk::Plan<fk::TransposedConv<filter>>::bind({.weights = weights})(device, input));
        });
    };
    std::string const head = "Plan<TransposedConv<filter(3, 3)>>: TransposedConv<filter(3, 3)>.weights: expected ";
    CHECK(got(x, w) == "accepted");
    CHECK(got(x, few) == head + "4 x 7 x 3 x 3 (K x C/groups x R x S) for x of 2 x 4 x 5 x 6, got 3 x 7 x 3 x 3");
    CHECK(got(x, five) == head + "4 x 7 x 3 x 3 (K x C/groups x R x S) for x of 2 x 4 x 5 x 6, got 4 x 7 x 5 x 3");
    CHECK(got(x, halves) ==
          head + "float, as the input, got half: for weights of another type add the option Weights<half>");
    CHECK(
        got.template operator()<fk::filter(3, 3).pad(2)>(small, w) ==
        "Plan<TransposedConv<filter(3, 3).pad(2)>>: TransposedConv<filter(3, 3).pad(2)>.filter: expected an output of "
        "at least 1 x 1 that the filter maps to x, got filter(3, 3).pad(2) to 1 x 4 x 1 x 1");
    CHECK(
        got.template operator()<fk::filter(3, 3).groups(3)>(x, w) ==
        "Plan<TransposedConv<filter(3, 3).groups(3)>>: TransposedConv<filter(3, 3).groups(3)>.filter: expected groups "
        "that divide K, got filter(3, 3).groups(3) with K = 4");

    fk::int8 const byte[1] = {};
    fk::TensorView<fk::int8 const> const channels(byte, {{{1, 131072, 1, 1}}, {{0, 0, 0, 0}}}),
        many(byte, {{{131072, 1, 1, 1}}, {{0, 0, 0, 0}}});
    CHECK(
        got.template operator()<fk::filter(1, 1)>(channels, many) ==
        "Plan<TransposedConv<filter(1, 1)>>: TransposedConv<filter(1, 1)>.weights: expected at most 131071 products an "
        "output, whose sum fits 32 bits, got 131072");
}

TEST_CASE("transposed extents stay valid with padding beyond the window and with strides") {
    using fk::detail::min_input, fk::detail::max_input;
    for (int size : {1, 2, 5})
        for (int stride : {1, 2, 3, 7})
            for (int dilation : {1, 3})
                for (int pad : {0, 1, 4, 9}) {
                    auto const f = fk::filter(size).stride(stride).dilation(dilation).pad(pad, pad / 2);
                    for (std::int64_t out = 1; out < 12; ++out) {
                        std::int64_t least = 0, most = 0;
                        for (std::int64_t in = 1; in < 120; ++in)
                            if (f.output(0, in) == out) most = in, least = least ? least : in;
                        CHECK((min_input(f, 0, out) == least && max_input(f, 0, out) == most));
                    }
                }
    constexpr std::int64_t all = std::int64_t{1} << 62;
    static_assert(min_input(fk::filter(1).stride(3), 0, all) == 0 && max_input(fk::filter(1), 0, all) == all);
}

TEST_CASE("a transposed convolution costs what its convolution does") {
    fk::host::Device device(1);
    constexpr auto f = fk::filter(3, 3).pad(1).stride(2).groups(2);
    auto const x = fk::random<float>(device, fk::nchw(2, 6, 10, 9)),
               w = fk::random<float>(device, fk::kcrs(8, 3, 3, 3)), y = fk::random<float>(device, fk::nchw(2, 8, 5, 5));
    auto const forward = fk::describe(fk::Plan<fk::Conv<f>>::bind({.weights = w}), x),
               back = fk::describe(fk::Plan<fk::TransposedConv<f>>::bind({.weights = w}), y);
    CHECK(back.flops() == forward.flops());
    CHECK(back.steps[0].name == "TransposedConv<filter(3, 3).pad(1).stride(2).groups(2)>");
    CHECK(back.steps[0].equation == "y[n,c,h,w] = sum of x[n,k,p,q] * weights[k,c,r,s] over k, r, s");
    CHECK(back.steps[0].output == fk::Index<4>{{2, 6, 9, 9}});
}
