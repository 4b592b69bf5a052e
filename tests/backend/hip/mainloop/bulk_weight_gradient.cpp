// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/bulk_weight_gradient.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/sm90a_device.hpp"
#include "support/weight_gradients.hpp"

using namespace test;

// Tiles that channels do not fill, with a column of ones in the first block of a tile and in the second; strides,
// dilations and uneven padding; and pixels of several blocks, of which the last has the least.
TEMPLATE_TEST_CASE("HIP: gradients by the weights on sm_90a's matrix units are what the oracle computes", "", fk::half,
                   (Types<fk::bfloat16, float>)) {
    fk::hip::Device device = sm90a_device();
    check_weight_gradient<TestType, fk::filter(1, 1)>(device, {{3, 72, 7, 9}, 136, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<TestType, fk::filter(3, 3).pad(1)>(device, {{2, 8, 13, 11}, 72, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<TestType, fk::filter(3, 2).pad(2, 0, 1, 1).stride(2, 1).dilation(1, 2)>(
        device, {{3, 16, 8, 9}, 8, "nhwc", "nhwc", "nchw*2"});
    check_weight_gradient<TestType, fk::filter(1, 1).stride(2)>(device, {{9, 24, 23, 19}, 40, "nhwc", "nhwc", "nchw"});
}

// Three blocks of a cluster, of which each has 64 channels of x in either half of its tile, and two clusters.
TEST_CASE("HIP: clusters share the pixels of a gradient by the weights on matrix units") {
    using Plan = fk::Plan<fk::ConvWeightGradient<fk::filter(3, 3).pad(1)>>;
    fk::hip::Device device = sm90a_device();
    fk::hip::Stream const stream(device);
    oracle::Shape const in{5, 72, 13, 11}, out{5, 136, 13, 11};
    Filled<fk::half, fk::hip::Device, 4> x(device, "nhwc", in, integers(in.size(), -2, 3, 1)),
        dy(device, "nhwc", out, integers(out.size(), -3, 2, 2));
    auto const expected = oracle::weight_gradient({in, x.values}, {out, dy.values}, window_of(fk::filter(3, 3).pad(1)));
    Placed<fk::hip::Device, 4> dw(device, fk::DataType::float32, layout_of("nhwc", expected.shape), 64);
    fk::hip::WeightGradientParams<Plan, fk::half, float> const params{Plan::bind({.dy = dy.view()}), x.view(),
                                                                      dw.view<float>()};
    auto launch = fk::hip::prepare_bulk_weight_gradient(stream.gpu(), params, stream.own_workspace_bytes(), 1);
    REQUIRE(launch);
    using Mainloop = fk::hip::BulkWeightGradient<Plan, fk::half, float>;
    auto const tiles = static_cast<unsigned>(Mainloop::tiles(params.y.layout.shape, false));
    launch->params.parts.cluster = launch->cluster = 3;
    launch->params.parts.groups = 2;
    launch->params.part_pixels = Mainloop::step_pixels;
    launch->blocks = tiles * 6;
    launch->mode = fk::hip::LaunchMode::clusters;
    launch->workspace_bytes = std::size_t{1} << 24;
    fk::Workspace<fk::hip::Memory> const workspace(device, std::size_t{1} << 24);
    REQUIRE(!launch->start(stream, x.view().data, dw.view<float>().data, workspace.view()));
    device.synchronize();
    CHECK(difference(expected, dw.fetch()) == "");
}

TEST_CASE("HIP: blocks share the pixels of a gradient on matrix units as long as tiles do not fill the processors") {
    using fusekit::hip::detail::choose_bulk_parts;
    auto const parts = [](std::int64_t tiles, std::int64_t steps, std::int64_t room, unsigned most_cluster = 8) {
        auto const chosen = choose_bulk_parts(tiles, steps, 132, room, most_cluster);
        return std::pair(chosen.cluster, chosen.groups);
    };
    CHECK(parts(132, 100, 1000) == std::pair(1u, 1u));
    CHECK(parts(36, 98, 0) == std::pair(3u, 1u));
    CHECK(parts(5, 1513, 0) == std::pair(8u, 1u));
    CHECK(parts(5, 1513, 15) == std::pair(8u, 3u));
    CHECK(parts(1, 2, 15) == std::pair(1u, 1u));
    CHECK(parts(5, 1513, 15, 1) == std::pair(1u, 3u));
}
