// SPDX-License-Identifier: MIT
#include "fusekit/ops/conv/weight_gradient.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cmath>

#include "support/half_types.hpp"
#include "support/weight_gradients.hpp"

using namespace test;

static_assert(fk::WeightGradientOp<fk::ConvWeightGradient<fk::filter(3, 3)>>);
static_assert(!fk::WeightGradientOp<fk::Conv<fk::filter(3, 3)>>);

using Elements = AndBfloat16<float, fk::half, double, Types<fk::half, float>>;

TEMPLATE_LIST_TEST_CASE("weight gradients agree with the oracle", "", Elements) {
    fk::host::Device device(2);
    check_weight_gradients<TestType>(device);
}

TEST_CASE("weight gradients are the adjoint: <dw, w> equals <dy, conv(x, w)>") {
    fk::host::Device device(1);
    check_adjoint(device);
}

TEST_CASE("weight gradients are summed in chunks of pixels, bitwise identical for any number of threads") {
    fk::host::Device one(1), three(3);
    check_weight_gradient<float, fk::filter(1, 1)>(three, {{1, 3, 150, 231}, 2, "nhwc", "nchw", "nchw"});
    auto const x = fk::random<float>(one, fk::nhwc(2, 90, 91, 8), 1),
               dy = fk::random<float>(one, fk::nchw(2, 5, 90, 91), 2);
    auto const layer = fk::Plan<fk::ConvWeightGradient<fk::filter(3, 3).pad(1)>>::bind({.dy = dy});
    auto const a = layer(one, x), b = layer(three, x);
    REQUIRE(a.layout() == fk::krsc(5, 3, 3, 8));
    CHECK(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(float)) == 0);
    CHECK(layer.as<fk::half>(one, x).layout() == a.layout());
}

TEST_CASE("errors of weight gradients do not grow with the number of pixels") {
    fk::host::Device device(2);
    auto const ones = fk::tensor<float>(device, fk::nchw(1, 1, 1, 1), {1}),
               tenth = fk::tensor<float>(device, fk::nchw(1, 1, 1, 1), {0.1f});
    auto const x = fk::broadcast(ones, 1, 1, 1024, 1024), dy = fk::broadcast(tenth, 1, 1, 1024, 1024);
    auto const dw = fk::Plan<fk::ConvWeightGradient<fk::filter(1, 1)>>::bind({.dy = dy})(device, x);
    double const exact = 1024.0 * 1024.0 * static_cast<double>(0.1f);
    // 256 pixels are accumulated sequentially, then at most 64 such sums, then at most 64 of those pairwise.
    CHECK(std::fabs(static_cast<double>(dw.data()[0]) - exact) <= (256 + 64 + 6) * Bounded::unit * exact);
}

TEST_CASE("a bias gradient is computed without weight gradients") {
    fk::host::Device device(1);
    auto const x = fk::random<fk::half>(device, fk::nchw(1, 2, 3, 3));
    auto const dy =
        fk::tensor<fk::half>(device, fk::nchw(1, 2, 3, 3), {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 1, 1, 1, 1, 1, 2});
    fk::Tensor<float, fk::host::Device, 1> db(device, fk::channels(2));
    fk::Plan<fk::ConvWeightGradient<fk::filter(1, 1)>>::bind({.dy = dy, .bias_gradient = db})(device, x, fk::no_output);
    CHECK(db.data()[0] == 45);
    CHECK(db.data()[1] == 10);
}

TEST_CASE("evaluate() and describe() of a weight gradient follow its definition") {
    static constexpr auto x = fk::literal<fk::nchw(1, 1, 2, 3)>(1, 2, 3, 4, 5, 6);
    static constexpr auto dy = fk::literal<fk::nchw(1, 1, 2, 3)>(1, 10, 100, 1000, 10000, 100000);
    using ByWeights = fk::Plan<fk::ConvWeightGradient<fk::filter(1, 3).pad(0, 1)>>;
    STATIC_CHECK(ByWeights::evaluate(x, {.dy = dy}) == fk::literal<fk::nchw(1, 1, 1, 3)>(540210, 654321, 65032));
    fk::host::Device device(1);
    auto const image = fk::random<float>(device, fk::nchw(2, 3, 4, 5)),
               out = fk::random<float>(device, fk::nchw(2, 7, 4, 5));
    auto const about = fk::describe(ByWeights::bind({.dy = out}), image);
    CHECK(about.flops() == 2.0 * 7 * 3 * 3 * 2 * 4 * 5);
    CHECK(about.fused_bytes() == 4.0 * (2 * 3 * 4 * 5 + 2 * 7 * 4 * 5 + 7 * 3 * 3));
    CHECK(std::string(about.plan.c_str()) == "Plan<ConvWeightGradient<filter(1, 3).pad(0, 1)>>");
}

TEST_CASE("wrong arguments of ConvWeightGradient are refused") {
    fk::host::Device device(1);
    auto const x = fk::random<float>(device, fk::nchw(2, 6, 5, 4));
    auto const dy = fk::random<float>(device, fk::nchw(2, 4, 5, 4)),
               few = fk::random<float>(device, fk::nchw(2, 4, 5, 3));
    auto const halves = fk::random<fk::half>(device, fk::nchw(2, 4, 5, 4));
    auto const five = fk::random<float>(device, fk::nchw(2, 5, 5, 4));
    fk::Tensor<float, fk::host::Device> dw(device, fk::kcrs(4, 6, 3, 2)), right(device, fk::kcrs(4, 6, 3, 3));
    fk::Tensor<float, fk::host::Device, 1> db(device, fk::channels(3));
    using ByWeights = fk::Plan<fk::ConvWeightGradient<fk::filter(3, 3).pad(1)>>;
    using Grouped = fk::Plan<fk::ConvWeightGradient<fk::filter(3, 3).pad(1).groups(2)>>;
    using Large = fk::Plan<fk::ConvWeightGradient<fk::filter(6, 6)>>;
    auto const got = [&](auto const& bound, auto& to) { return refusal([&] { bound(device, x, to); }); };
    std::string const head = "ConvWeightGradient<filter(3, 3).pad(1)>", in = "Plan<" + head + ">: ";
    CHECK(got(ByWeights::bind({.dy = few}), right) ==
          in + head + ".dy: expected 2 x 4 x 5 x 4 (N x K x P x Q), got 2 x 4 x 5 x 3");
    CHECK(got(ByWeights::bind({.dy = halves}), right) == in + head + ".dy: expected float, as the input, got half");
    CHECK(got(ByWeights::bind({.dy = dy}), dw) ==
          in + "y: expected 4 x 6 x 3 x 3 (K x C/groups x R x S) for x of 2 x 6 x 5 x 4, got 4 x 6 x 3 x 2");
    CHECK(got(ByWeights::bind({.dy = dy, .bias_gradient = db}), right) ==
          in + head + ".bias_gradient: expected 4 (K), got 3");
    CHECK(got(ByWeights::bind({.dy = dy}), right) == "accepted");
    CHECK(refusal([&] {
              static_cast<void>(fk::describe(ByWeights::bind({.dy = dy}), x.layout(), fk::DataType::int8));
          }) == in + head + ".x: expected float, half, bfloat16 or double, got int8");
    CHECK(got(Grouped::bind({.dy = five}), right).find("dy: expected K divisible by the 2 groups") !=
          std::string::npos);
    CHECK(got(Large::bind({.dy = dy}), right).find("an output of at least 1 x 1, got filter(6, 6) on 2 x 6 x 5 x 4") !=
          std::string::npos);
}
