// SPDX-License-Identifier: MIT
//
// The steps of docs/tutorial.md, from a convolution to an operator with its gradient. Each step checks its result.

#include <cmath>
#include <fusekit/fusekit.hpp>
#include <vector>

#include "../support.hpp"

namespace fk = fusekit;

constexpr int n = 2, c = 8, h = 7, w = 5;

/// Step 1: y = conv3x3(x, w).
bool convolution(fk::host::Device& device) {
    auto x = fk::random<float>(device, fk::nchw(n, c, h, w));
    fk::Tensor<float, fk::host::Device> weights(device, fk::kcrs(c, c, 3, 3));
    weights.copy_from(std::vector<float>(c * c * 3 * 3, 0.5f).data());

    using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>;
    auto layer = Layer::bind({.weights = weights});
    auto y = layer(device, x);

    double sum = 0;
    for (int k = 0; k < c; ++k)
        for (int row = 0; row < 2; ++row)
            for (int column = 0; column < 2; ++column)
                sum += 0.5 * double(values(x)[std::size_t((k * h + row) * w + column)]);
    return std::abs(double(values(y)[0]) - sum) < 1e-5;
}

/// Step 2: bias and activation in the same kernel.
using ConvBiasRelu = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>;

/// Step 3: the compiler evaluates the plan.
constexpr auto row = fk::literal<fk::nchw(1, 1, 1, 4)>(1, 4, 2, 9);
constexpr auto step = fk::literal<fk::kcrs(1, 1, 3, 3)>(0, 0, 0, -1, 1, 0, 0, 0, 0);
constexpr auto minus_two = fk::literal<fk::channels(1)>(-2);
static_assert(ConvBiasRelu::evaluate(row, {.weights = step}, {.bias = minus_two}, {}) ==
              fk::literal<fk::nchw(1, 1, 1, 4)>(0, 1, 0, 5));

bool fused(fk::host::Device& device) {
    auto x = fk::random<float>(device, fk::nchw(n, c, h, w), 1);
    auto weights = fk::random<float>(device, fk::kcrs(c, c, 3, 3), 2);
    auto bias = fk::random<float>(device, fk::channels(c), 3);

    auto layer = ConvBiasRelu::bind({.weights = weights}, {.bias = bias}, {});
    auto y = layer(device, x);

    auto const alone = values(fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>::bind({.weights = weights})(device, x));
    auto const shift = values(bias), out = values(y);
    for (std::size_t i = 0; i < alone.size(); ++i)
        if (!(std::abs(double(out[i]) - std::max(double(alone[i]) + double(shift[i / (h * w) % c]), 0.0)) < 1e-5))
            return false;
    return out.size() == alone.size();
}

/// Step 4: memory of the application, channels last.
bool memory(fk::host::Device& device) {
    std::vector<float> image(n * h * w * c, 1), filters(c * c * 9, 0.5f), shifts(c, -4), result(n * h * w * c, -1);
    auto layer = ConvBiasRelu::bind({.weights = fk::TensorView<float const>(filters.data(), fk::kcrs(c, c, 3, 3))},
                                    {.bias = fk::TensorView<float const, 1>(shifts.data(), fk::channels(c))}, {});
    layer(device, fk::TensorView<float const>(image.data(), fk::nhwc(n, h, w, c)),
          fk::TensorView<float>(result.data(), fk::nhwc(n, h, w, c)));
    return result[0] == 4 * c / 2 - 4 && result[(w + 1) * c] == 9 * c / 2 - 4;  // 4 taps of a corner, 9 inside
}

/// Step 5: an operator, y = x / (1 + exp(-beta x)).
struct Swish {
    static constexpr auto stage = fk::Stage::activation;
    static constexpr char const* equation = "y = x / (1 + exp(-beta * x))";
    struct Args {
        float beta = 1.0f;
    };

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return x / (1.0f + fk::math::exp(-args.beta * x));
    }

    // Step 6: its derivative, s + beta y (1 - s) with s = 1 / (1 + exp(-beta x)) and y = x s.
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        V const s = 1.0f / (1.0f + fk::math::exp(-args.beta * x));
        return s + args.beta * x * s * (1.0f - s);
    }
};
static_assert(fk::EpilogueOp<Swish>);

bool own_operator(fk::host::Device& device) {
    auto x = fk::random<float>(device, fk::nchw(n, c, h, w));
    using Layer = fk::Plan<Swish>;
    auto y = Layer::bind({.beta = 2})(device, x);

    auto const in = values(x);
    std::vector<double> expected;
    for (float v : in) expected.push_back(double(v) / (1 + std::exp(-2 * double(v))));
    auto const out = values(y);
    for (std::size_t i = 0; i < out.size(); ++i)
        if (!(std::abs(double(out[i]) - expected[i]) < 1e-6)) return false;
    return out.size() == expected.size();
}

/// Step 6: the gradient of the plan is a plan.
bool gradient(fk::host::Device& device) {
    using Layer = fk::Plan<fk::Bias, Swish>;
    auto x = fk::random<float>(device, fk::nchw(n, c, h, w), 1),
         dy = fk::random<float>(device, fk::nchw(n, c, h, w), 2);
    auto bias = fk::random<float>(device, fk::channels(c), 3);
    fk::Tensor<float, fk::host::Device, 1> bias_gradient(device, fk::channels(c));

    auto layer = Layer::bind({.bias = bias}, {.beta = 2});
    auto backward = fk::Backward<Layer>::bind(layer, x, {.bias = bias_gradient}, {});
    auto dx = backward(device, dy);

    auto const in = values(x), from = values(dy), shift = values(bias), out = values(dx), total = values(bias_gradient);
    std::vector<double> sums(c);
    auto const swish = [](double v) { return v / (1 + std::exp(-2 * v)); };
    for (std::size_t i = 0; i < in.size(); ++i) {
        std::size_t const k = i / (h * w) % c;
        double const at = double(in[i]) + double(shift[k]), eps = 1e-6;
        double const expected = double(from[i]) * (swish(at + eps) - swish(at - eps)) / (2 * eps);
        if (!(std::abs(double(out[i]) - expected) < 1e-5)) return false;
        sums[k] += expected;
    }
    for (std::size_t k = 0; k < sums.size(); ++k)
        if (!(std::abs(double(total[k]) - sums[k]) < 1e-4)) return false;
    return true;
}

/// Step 7: the gradients of a convolution, whose filter both plans share.
bool convolution_gradients(fk::host::Device& device) {
    constexpr auto filter = fk::filter(3, 3).pad(1);
    auto x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 3), {1, 2, 3});
    auto dz = fk::tensor<float>(device, fk::nchw(1, 1, 1, 3), {1, 0, 2});
    auto weights = fk::tensor<float>(device, fk::kcrs(1, 1, 3, 3), {0, 0, 0, 4, 5, 6, 0, 0, 0});
    fk::Tensor<float, fk::host::Device, 1> dbias(device, fk::channels(1));

    auto dx = fk::Plan<fk::TransposedConv<filter>>::bind({.weights = weights})(device, dz);
    auto dweights = fk::Plan<fk::ConvWeightGradient<filter>>::bind({.dy = dz, .bias_gradient = dbias})(device, x);

    auto const by_weights = values(dweights);
    return values(dx) == std::vector<float>{5, 14, 10} && values(dbias) == std::vector<float>{3} &&
           std::vector<float>(by_weights.begin() + 3, by_weights.begin() + 6) == std::vector<float>{4, 7, 2};
}

int main() {
    fk::host::Device device;
    int done = 1;  // step 3, which the compiler checked
    for (bool good : {convolution(device), fused(device), memory(device), own_operator(device), gradient(device),
                      convolution_gradients(device)}) {
        if (!good) {
            std::printf("WRONG: step %d\n", done);
            return 1;
        }
        ++done;
    }
    std::printf("ok: %d steps\n", done);
}
