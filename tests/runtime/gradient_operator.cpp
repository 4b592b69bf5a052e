// SPDX-License-Identifier: MIT
#include "fusekit/runtime/gradient_operator.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "fusekit/runtime.hpp"

namespace fk = fusekit;
namespace rt = fk::runtime;

namespace {

constexpr auto window = fk::filter(3, 3).pad(1).stride(2);
using Set =
    rt::PlanSet<fk::host::Device, fk::Plan<fk::TransposedConv<window>>, fk::Plan<fk::ConvWeightGradient<window>>,
                fk::Backward<fk::Plan<fk::Residual, fk::Activation<fk::Relu>>>>;

/// A contiguous tensor of small integers, N x C x H x W.
struct Values {
    fk::Index<4> shape;
    std::vector<float> all;

    Values(fk::Index<4> const& the_shape, int seed) : shape(the_shape) {
        std::int64_t const count = shape[0] * shape[1] * shape[2] * shape[3];
        for (std::int64_t i = 0; i < count; ++i) all.push_back(static_cast<float>((i * 7 + seed) % 5 - 2));
    }
    float at(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
        bool const is_out = h < 0 || w < 0 || h >= shape[2] || w >= shape[3];
        return is_out ? 0 : all[static_cast<std::size_t>(((n * shape[1] + c) * shape[2] + h) * shape[3] + w)];
    }
    rt::View view() { return {fk::DataType::float32, fk::nchw(shape[0], shape[1], shape[2], shape[3]), all.data()}; }
};

void run(std::vector<rt::Descriptor> const& descriptors, std::vector<rt::Arguments> const& arguments, rt::View const& x,
         rt::View const& y) {
    fk::host::Device device(1);
    auto const plan = Set::find(descriptors, fk::DataType::float32);
    REQUIRE(plan);
    fk::Refusal const refusal = plan->run(device, arguments, x, y);
    INFO((refusal ? refusal->what() : ""));
    REQUIRE(!refusal);
}

}  // namespace

// a convolution of 2 channels to 3, 6 x 5 pixels to 3 x 3: sums of integers are exact
TEST_CASE("gradient_operator: the gradients of a convolution") {
    Values x({{2, 2, 6, 5}}, 1), dy({{2, 3, 3, 3}}, 2), weights({{3, 2, 3, 3}}, 3), dx({{2, 2, 6, 5}}, 0),
        dw({{3, 2, 3, 3}}, 0);
    std::vector<float> bias(3, -1000);
    std::vector<rt::Arguments> by_x(1), by_weights(1);
    by_x[0][rt::Role::weights] = weights.view();
    by_weights[0][rt::Role::z] = dy.view();
    by_weights[0][rt::Role::bias] = rt::View(fk::DataType::float32, fk::channels(3), bias.data());
    dx.all.assign(dx.all.size(), -1000), dw.all.assign(dw.all.size(), -1000);
    run({rt::transposed_conv(window)}, by_x, dy.view(), dx.view());
    run({rt::conv_weight_gradient(window)}, by_weights, x.view(), dw.view());

    std::vector<float> dx_by_definition(dx.all.size()), dw_by_definition(dw.all.size()), bias_by_definition(3);
    for (int n = 0; n < 2; ++n)
        for (int k = 0; k < 3; ++k)
            for (int p = 0; p < 3; ++p)
                for (int q = 0; q < 3; ++q) {
                    bias_by_definition[static_cast<std::size_t>(k)] += dy.at(n, k, p, q);
                    for (int c = 0; c < 2; ++c)
                        for (int r = 0; r < 3; ++r)
                            for (int s = 0; s < 3; ++s) {
                                int const h = 2 * p - 1 + r, w = 2 * q - 1 + s;
                                dw_by_definition[static_cast<std::size_t>(((k * 2 + c) * 3 + r) * 3 + s)] +=
                                    dy.at(n, k, p, q) * x.at(n, c, h, w);
                                if (h >= 0 && w >= 0 && h < 6 && w < 5)
                                    dx_by_definition[static_cast<std::size_t>(((n * 2 + c) * 6 + h) * 5 + w)] +=
                                        dy.at(n, k, p, q) * weights.at(k, c, r, s);
                            }
                }
    REQUIRE(dx.all == dx_by_definition);
    REQUIRE(dw.all == dw_by_definition);
    REQUIRE(bias == bias_by_definition);
}

TEST_CASE("gradient_operator: the gradient of a residual") {
    Values x({{2, 3, 4, 5}}, 1), z({{2, 3, 4, 5}}, 2), dy({{2, 3, 4, 5}}, 3), dx({{2, 3, 4, 5}}, 0),
        dz({{2, 3, 4, 5}}, 0);
    std::vector<rt::Arguments> arguments(2);
    arguments[0][rt::Role::x] = x.view();
    arguments[0][rt::Role::z] = z.view();
    arguments[0].factor = 0.5;
    dx.all.assign(dx.all.size(), -1000), dz.all.assign(dz.all.size(), -1000);
    run({rt::residual(), rt::activation_backward(rt::ActivationMode::relu)}, arguments, dy.view(), dx.view());
    arguments[0][rt::Role::output] = dz.view();
    run({rt::residual(), rt::activation_backward(rt::ActivationMode::relu)}, arguments, dy.view(), dx.view());
    for (std::size_t i = 0; i < dx.all.size(); ++i) {
        float const expected = x.all[i] + 0.5f * z.all[i] > 0 ? dy.all[i] : 0;
        REQUIRE((dx.all[i] == expected && dz.all[i] == 0.5f * expected));
    }
}

TEST_CASE("gradient_operator: names of descriptors") {
    rt::detail::FormList const none{nullptr, 0};
    rt::Descriptor const all[] = {rt::transposed_conv(window), rt::conv_weight_gradient(window),
                                  rt::residual_backward()};
    REQUIRE(rt::detail::written(none, rt::Descriptors(all)).c_str() ==
            std::string("Plan<TransposedConv<filter(3, 3).pad(1).stride(2)>, ConvWeightGradient<filter(3, "
                        "3).pad(1).stride(2)>, ResidualBackward>"));
}
