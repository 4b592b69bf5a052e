// SPDX-License-Identifier: MIT
// Sums over more steps or pixels than 32-bit counts, with limits lowered to dozens.
#include "backend/hip/lowered_limits.hpp"
#include "support/collected_channels.hpp"
#include "support/training_cases.hpp"
#include "support/weight_gradients.hpp"

using namespace test;

TEST_CASE("HIP: batch norm of several slabs has the statistics of all images") {
    fk::hip::Device device = gpu();
    LoweredLimits lowered(device, {.steps = 100});
    for (char const* layouts : {"nchw", "nhwc", "nhwc>nchw"})
        for (oracle::Shape const& shape : {oracle::Shape{13, 5, 7, 7}, {150, 4, 2, 1}, {5, 2, 9, 9}})
            detail::check_training_of<float>(detail::training_case(shape, layouts, true), lowered);
    CHECK(lowered.slabs() >= 8);
    check_statistics<float, 4>(lowered, "nhwc", "nchw", {9, 64, 6, 6});  // fewer threads without slabs
    check_statistics<fk::half, 4>(lowered, "nhwc", "nhwc", {9, 8, 6, 6});
}

TEST_CASE("HIP: pointwise gradients of several slabs compute every element") {
    fk::hip::Device device = gpu();
    LoweredLimits const lowered(device, {.steps = 100});
    using Layer = fk::Plan<fk::Activation<fk::Relu>>;
    for (char const* layout : {"nchw", "nhwc", "nchw+1"}) {
        oracle::Shape const shape{13, 5, 7, 7};
        Filled<float, fk::hip::Device, 4> x(device, layout, shape, integers(shape.size(), -9, 9, 1)),
            dy(device, layout, shape, integers(shape.size(), -9, 9, 2));
        Placed<fk::hip::Device, 4> dx(device, fk::DataType::float32, layout_of<4>(layout, shape), 64);
        fk::Backward<Layer>::bind(Layer::bind({}), x.view())(lowered, dy.view(), dx.view<float>());
        oracle::Tensor expected(shape, dy.values);
        for (std::size_t i = 0; i < expected.at.size(); ++i)
            if (x.values[i] <= 0) expected.at[i] = {};
        CHECK(difference(expected, dx.fetch()) == "");
    }
    CHECK(lowered.slabs() >= 8);
}

TEST_CASE("HIP: weight gradients count pixels from their first image") {
    fk::hip::Device device = gpu();
    LoweredLimits everywhere(device, {.pixels = 30});
    check_weight_gradients<float>(everywhere);
    check_weight_gradient<float, fk::filter(3, 3).pad(1)>(everywhere, {{40, 5, 4, 5}, 7, "nchw", "nchw", "nchw"});
    check_weight_gradient<fk::half, fk::filter(3, 3).pad(1)>(everywhere, {{90, 8, 4, 5}, 24, "nhwc", "nhwc", "nhwc"});
    CHECK(everywhere.slabs() > 1);
    fk::hip::Stream const bare(device, nullptr, fk::WorkspaceView{});
    LoweredLimits const lowered(bare, {.pixels = 30, .block_pixels = 30});
    fk::Tensor<float, fk::hip::Device> x(device, fk::nhwc(5, 4, 4, 2)), dy(device, fk::nhwc(5, 4, 4, 3)),
        dw(device, fk::krsc(3, 1, 1, 2));
    std::string const text =
        refusal([&] { fk::Plan<fk::ConvWeightGradient<fk::filter(1, 1)>>::bind({.dy = dy})(lowered, x, dw); });
    CHECK((text == "accepted" ||  // clusters share pixels without workspace
           text ==
               "Plan<ConvWeightGradient<filter(1, 1)>>: ConvWeightGradient.workspace: expected more bytes for partial "
               "sums, as a CTA reduces at most 2^30 pixels, got 0 bytes for 80 pixels of dy"));
}
