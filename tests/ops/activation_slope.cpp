// SPDX-License-Identifier: MIT
#include "fusekit/ops/activation_slope.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cmath>

#include "fusekit/fusekit.hpp"
#include "support/finite_differences.hpp"
#include "support/refusal.hpp"

namespace fk = fusekit;
using namespace test;

namespace {

using Device = fk::host::Device;
using Doubles = fk::Tensor<double, Device>;

static_assert(fk::EpilogueOp<fk::ActivationSlope<fk::Relu>> && fk::Differentiable<fk::ActivationSlope<fk::Relu>>);

}  // namespace

TEST_CASE("ActivationSlope multiplies by the slope at any position of a plan and in any layout") {
    Device device(2);
    auto x = fk::random<float>(device, fk::nchw(2, 3, 5, 7), 1);
    auto z = fk::random<fk::half>(device, fk::nhwc(2, 5, 7, 3), 2);
    using Leaky = fk::ActivationSlope<fk::LeakyRelu>;
    auto y = fk::Plan<fk::Scale, Leaky>::bind({.factor = 2}, {.z = z, .of = {.alpha = 0.25f}})(device, x);
    auto relu = fk::Plan<fk::ActivationSlope<fk::Relu>>::bind({.z = z})(device, x);
    for (int n = 0; n < 2; ++n)
        for (int k = 0; k < 3; ++k)
            for (int p = 0; p < 5; ++p)
                for (int q = 0; q < 7; ++q) {
                    float const dy = x.view()(n, k, p, q);
                    bool const rises = float(z.view()(n, k, p, q)) > 0;
                    CHECK(y.view()(n, k, p, q) == (rises ? 2 * dy : 0.5f * dy));
                    CHECK(relu.view()(n, k, p, q) == (rises ? dy : 0));
                }
}

TEST_CASE("ActivationSlope's z has y's shape, or is refused") {
    Device device(1);
    auto const dy = fk::random<float>(device, fk::nchw(1, 2, 3, 4), 1);
    auto z = fk::random<float>(device, fk::nchw(1, 2, 3, 4), 2);
    using Layer = fk::Plan<fk::ActivationSlope<fk::Relu>>;
    auto const apart = Layer::bind({.z = z})(device, dy);
    Layer::bind({.z = z})(device, dy, z);
    for (int i = 0; i < 24; ++i) CHECK(z.data()[i] == apart.data()[i]);
    auto const other = fk::random<float>(device, fk::nchw(1, 2, 4, 3), 2);
    CHECK(refusal([&] { (void)Layer::bind({.z = other})(device, dy); }) ==
          "Plan<ActivationSlope<Relu>>: ActivationSlope<Relu>.z: expected 1 x 2 x 3 x 4 (N x K x P x Q), got 1 x 2 x 4 "
          "x 3");
}

// L = <g, y2>, y2 = f(conv(y1, w2) + b2), y1 = f(conv(x, w1)), where f = silu, whose slope is not constant anywhere.
// The input of each f is stored, and each gradient is one kernel.
TEST_CASE("gradients of layers with biases and activations are those of finite differences") {
    static constexpr auto f = fk::filter(3, 3).pad(1);
    Device device(1);
    auto w1 = fk::random<double>(device, fk::kcrs(3, 2, 3, 3), 2),
         w2 = fk::random<double>(device, fk::kcrs(4, 3, 3, 3), 3);
    auto b2 = fk::random<double>(device, fk::channels(4), 4);
    auto const x = fk::random<double>(device, fk::nchw(2, 2, 4, 5), 1),
               g = fk::random<double>(device, fk::nchw(2, 4, 4, 5), 5);
    Doubles z1(device, fk::nchw(2, 3, 4, 5)), z2(device, g.layout());
    using First = fk::Plan<fk::Conv<f>, fk::Store, fk::Activation<fk::Silu>>;
    using Second = fk::Plan<fk::Conv<f>, fk::Bias, fk::Store, fk::Activation<fk::Silu>>;
    auto const forward = [&] { return First::bind({.weights = w1}, {.values = z1}, {})(device, x); };
    auto const loss = [&](auto const& y1) {
        auto const y = Second::bind({.weights = w2}, {.bias = b2}, {.values = z2}, {})(device, y1);
        double sum = 0;
        for (int i = 0; i < y.size(); ++i) sum += g.data()[i] * y.data()[i];
        return sum;
    };
    auto const y1 = forward();
    (void)loss(y1);

    using Slope = fk::ActivationSlope<fk::Silu>;
    using ByWeights = fk::Plan<fk::ConvWeightGradient<f>>;
    auto const dz2 = fk::Plan<Slope>::bind({.z = z2})(device, g);
    fk::Tensor<float, Device, 1> db2(device, b2.layout());
    auto const dw2 = ByWeights::bind({.dy = dz2, .bias_gradient = db2})(device, y1);
    auto const dz1 = fk::Plan<fk::TransposedConv<f>, Slope>::bind({.weights = w2}, {.z = z1})(device, dz2);
    auto const dw1 = ByWeights::bind({.dy = dz1})(device, x);

    // Sums have at most 2^11 terms below 8, so their rounding error in double is below 2^-36, and that of differences
    // below 2^-30. The bias gradient, a sum of 40 terms below 8, is rounded to float.
    auto const check = [&](auto& parameter, auto const& gradient, double bound = 0x1p-30) {
        for (int i = 0; i < parameter.size(); i += 5) {
            double const at = parameter.data()[i];
            auto const estimate =
                derivative([&](double value) { return parameter.data()[i] = value, loss(forward()); }, at, 0x1p-8);
            parameter.data()[i] = at;
            CHECK(std::fabs(double{gradient.data()[i]} - estimate.value) <= bound + estimate.error);
        }
    };
    check(w2, dw2);
    check(b2, db2, 0x1p-15);
    check(w1, dw1);
}
