// SPDX-License-Identifier: MIT
// Compiled for each of AMD's targets, as atom/native.cpp is.
#include "fusekit/backend/hip/mainloop/weight_gradient_packets.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "backend/hip/native.hpp"
#include "support/half_types.hpp"
#include "support/weight_gradients.hpp"

using namespace test;

namespace {

using Layer = fk::Plan<fk::ConvWeightGradient<fk::filter(1, 1)>>;

template <class T>
struct Gradient {
    oracle::Shape in, out;
    Filled<T, fk::hip::Device, 4> x, dy;
    Placed<fk::hip::Device, 4> dw;
    Placed<fk::hip::Device, 1> db;

    Gradient(fk::hip::Device& device, oracle::Shape const& of_x, std::int64_t channels, char const* layout = "nhwc")
        : in(of_x),
          out{in.n, channels, in.h, in.w},
          x(device, layout, in, integers(in.size(), -2, 3, 1)),
          dy(device, layout, out, integers(out.size(), -3, 2, 2)),
          dw(device, fk::DataType::float32, layout_of("nhwc", {channels, in.c, 1, 1}), 64),
          db(device, fk::DataType::float32, fk::channels(channels), 64) {}

    auto bound() { return Layer::bind({.dy = dy.view(), .bias_gradient = db.template view<float>()}); }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: weight gradients of few channels in packets are exact", "", HalfTypes) {
    fk::hip::Device device = native();
    // One pixel; tiles of 64 channels, and one packet; the column of ones in a tile's last packet, in its first, and
    // alone; pixels that end with, or within, a k-tile of 16 and a table of 64.
    check_weight_gradient<TestType, fk::filter(1, 1)>(device, {{1, 8, 1, 1}, 8, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<TestType, fk::filter(1, 1)>(device, {{1, 120, 4, 12}, 64, "nhwc", "nhwc", "nchw"});
    check_weight_gradient<TestType, fk::filter(1, 1)>(device, {{2, 128, 8, 16}, 40, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<TestType, fk::filter(3, 3).pad(1)>(device, {{2, 64, 5, 13}, 64, "nhwc", "nhwc", "nhwc"});
    // Several taps in a tile, up to one per packet; groups, strides, pixels with gaps or negative strides; slices.
    check_weight_gradient<TestType, fk::filter(2, 3).pad(1, 0, 2, 3).dilation(2, 1).groups(2)>(
        device, {{3, 48, 9, 11}, 96, "nhwc+8", "nhwc-hw", "nhwc"});
    check_weight_gradient<TestType, fk::filter(5, 7).pad(2).stride(1, 2)>(
        device, {{1, 8, 7, 12}, 24, "nhwc-hw", "nhwc+8", "nhwc"});
    check_weight_gradient<TestType, fk::filter(3, 2, 2).pad(1)>(device,
                                                                {{1, 16, 4, 5, 3}, 56, "ndhwc", "ndhwc", "ndhwc"});
}

TEST_CASE("HIP: weight gradients of 4097 pixels are exact with workspace for 0, 2 and 5 splits") {
    fk::hip::Device device = native();
    Gradient<fk::half> of(device, {1, 24, 17, 241}, 40, GENERATE("nhwc", "nchw"));
    auto const expected =
        oracle::weight_gradient({of.in, of.x.values}, {of.out, of.dy.values}, window_of(fk::filter(1, 1)));
    for (std::size_t const parts : {0, 2, 5}) {
        fk::Workspace<fk::hip::Memory> own(device, fk::hip::GroupWorkspace::state_bytes + parts * 128 * 64 * 4);
        fk::hip::Stream const stream(device, nullptr, parts ? own.view() : fk::WorkspaceView{});
        of.bound()(stream, of.x.view(), of.dw.view<float>());
        CHECK(difference(expected, of.dw.fetch()) == "");
        for (std::int64_t k = 0; k < of.out.c; ++k) {
            double sum = 0;
            for (std::size_t i = 0; i < of.dy.values.size(); ++i)
                if (static_cast<std::int64_t>(i) / (of.out.h * of.out.w) % of.out.c == k) sum += of.dy.values[i];
            CHECK(of.db.fetch().get(k) == sum);
        }
    }
}
