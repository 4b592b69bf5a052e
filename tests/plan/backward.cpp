// SPDX-License-Identifier: MIT
#include "fusekit/plan/backward.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/backward_outputs.hpp"
#include "support/backward_plans.hpp"
#include "support/memory.hpp"
#include "support/refusal.hpp"

using namespace test;

namespace {

/// Message of a refused bind or run, without the plan's name.
std::string refused(auto const& call) {
    std::string const text = refusal(call);
    auto const name = text.find(": ");
    return name == text.npos ? text : text.substr(name + 2);
}

}  // namespace

TEST_CASE("Backward refuses missing inputs and writes nothing") {
    fk::host::Device device(1);
    fk::Layout<4> const layout = fk::nchw(2, 3, 4, 5);
    auto const x = fk::random<float>(device, layout), dy = fk::random<float>(device, layout, 2);
    auto const parameter = fk::tensor<float>(device, fk::channels(3), {1, 2, 3});
    auto map = fk::random<float>(device, fk::chw(3, 4, 5));
    auto saved = fk::tensor<float>(device, fk::channels(3), {1, 2, 3}),
         inverse = fk::tensor<float>(device, fk::channels(3), {1, 2, 3});
    Memory<4> dx(fk::DataType::float32, layout, 16);
    Memory<1> dscale(fk::DataType::float32, fk::channels(3), 16), dshift = dscale;
    auto const untouched = [&] { return dx.untouched(true) && dscale.untouched(true) && dshift.untouched(true); };

    using Train = fk::Plan<fk::BatchNormTraining<fk::Spatial>, fk::Activation<fk::Relu>>;
    auto const run_from = [&](auto const& layer, fk::AnyActivations const& from, fk::TensorView<float, 1> scale) {
        return refused([&] {
            fk::Backward<Train>::bind(layer, from, {.scale = scale, .shift = dshift.view<float>()}, {})(
                device, dy, dx.view<float>());
        });
    };
    auto const layer = Train::bind(
        {.scale = parameter, .shift = parameter, .saved_mean = saved, .saved_inverse_deviation = inverse}, {});
    std::string const norm = "BatchNormTraining<Spatial>.";
    CHECK(run_from(Train::bind({.scale = parameter, .shift = parameter}, {}), x, dscale.view<float>()) ==
          norm + "saved_mean: expected the tensor that the forward run saved, got nothing");
    CHECK(run_from(Train::bind({.scale = parameter, .shift = parameter, .saved_mean = saved}, {}), x,
                   dscale.view<float>()) ==
          norm + "saved_inverse_deviation: expected the tensor that the forward run saved, got nothing");
    CHECK(run_from(layer, x, dshift.view<float>()) == norm + "gradients.shift: expected memory apart from that of " +
                                                          norm + "gradients.scale, got memory that overlaps it");
    CHECK(run_from(layer, x, saved.view()) == norm + "gradients.scale: expected memory apart from that of " + norm +
                                                  "saved_mean, got memory that overlaps it");
    auto const other = fk::random<float>(device, fk::nchw(2, 3, 4, 4));
    auto const halves = fk::random<fk::half>(device, layout);
    std::string const gradient = "Gradient<BatchNormTraining<Spatial>, Activation<Relu>>.";
    CHECK(run_from(layer, other, dscale.view<float>()) ==
          gradient + "x: expected 2 x 3 x 4 x 5 (N x C x H x W), got 2 x 3 x 4 x 4");
    CHECK(run_from(layer, halves, dscale.view<float>()) == gradient + "x: expected float, as dy, got half");

    using PerPixel = fk::Plan<fk::Bias, fk::BatchNormInference<fk::PerActivation>>;
    auto const per_pixel =
        PerPixel::bind({.bias = parameter}, {.mean = map, .variance = map, .scale = map, .shift = map});
    CHECK(
        refused([&] {
            fk::Backward<PerPixel>::bind(per_pixel, x, {.bias = dshift.view<float>()}, {})(device, dy,
                                                                                           dx.view<float>());
        }) ==
        "Bias.gradients: expected none: this plan sums over the batch for each pixel; sum dx over the pixels instead, "
        "got a view of K");
    CHECK(untouched());
}

TEST_CASE("a residual's gradient of a wrong shape or with overlap is refused") {
    fk::host::Device device(1);
    fk::Layout<4> const layout = fk::nchw(2, 3, 4, 5);
    auto x = fk::random<float>(device, layout), dy = fk::random<float>(device, layout, 2),
         z = fk::random<float>(device, layout, 3);
    Memory<4> dx(fk::DataType::float32, layout, 16), dz(fk::DataType::float32, layout, 16),
        wide(fk::DataType::float64, layout, 16), narrow(fk::DataType::float32, fk::nchw(2, 3, 4, 4), 16);
    using Layer = fk::Plan<fk::Residual, fk::Activation<fk::Relu>>;
    auto const layer = Layer::bind({.z = z}, {});
    auto const run_into = [&](fk::AnyOutput to) {
        return refused([&] { fk::Backward<Layer>::bind(layer, x, {.z = to}, {})(device, dy, dx.view<float>()); });
    };
    std::string const own = "Residual.gradients.z: expected ", got = ", got memory that overlaps it";
    CHECK(run_into(z) == own + "memory apart from that of Residual.z" + got);
    CHECK(run_into(x) == own + "memory apart from that of Gradient<Residual, Activation<Relu>>.x" + got);
    CHECK(run_into(dy) == own + "memory apart from the input's" + got);
    CHECK(run_into(dx.view<float>()) == own + "memory apart from the output's" + got);
    CHECK(run_into(narrow.view<float>()) == own + "2 x 3 x 4 x 5 (N x K x P x Q), got 2 x 3 x 4 x 4");
    CHECK(run_into(wide.view<double>()) == own + "float, half or bfloat16, as the input is float, got double");
    CHECK(run_into(fk::TensorView<float>(dz.view<float>().data, {{{2, 3, 4, 5}}, {{60, 20, 0, 1}}})) ==
          own + "strides that each exceed the reach of all smaller ones, in either direction, got 60 x 20 x 0 x 1");
    CHECK((dx.untouched(true) && dz.untouched(true) && wide.untouched(true) && narrow.untouched(true)));
}

TEST_CASE("gradients of pointwise plans in float agree with double") {
    for (int const threads : {1, 3}) {
        fk::host::Device device(threads);
        check_gradients_of_pointwise_plans(device);
    }
}

TEST_CASE("Backward writes a residual's gradient and does not repeat forward stores") {
    for (int const threads : {1, 3}) {
        fk::host::Device device(threads);
        check_gradients_beside_outputs(device);
    }
}
