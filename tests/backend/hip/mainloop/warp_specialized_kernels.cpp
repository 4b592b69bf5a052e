// SPDX-License-Identifier: MIT
#include <catch2/catch_template_test_macros.hpp>
#include <string>
#include <vector>

#include "backend/hip/one_kernel.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/mainloop/warp_specialized.hpp"
#include "support/check_case.hpp"
#include "support/run_case.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::Kernels, fusekit::hip::Roles, fusekit::hip::Split, fusekit::hip::WarpSpecialized,
    fusekit::hip::WithKernels;

namespace {

using Relu = fk::Activation<fk::Relu>;

using Tile = WarpSpecialized<64, 64, 2>;
// A plan of this unit alone: nvcc gives each unit a host function of its own for a kernel.
using Plan = fk::Plan<fk::Conv<fk::dynamic>, fk::Scale, fk::Scale>;

/// Kernels that launches of a schedule select, or the first unmet condition.
template <class Schedule>
std::string selected(fk::hip::Device& device, std::int64_t channels, std::int64_t filters, int offset = 0,
                     int groups = 1) {
    fk::Tensor<fk::half, fk::hip::Device> x(device, fk::nhwc(1, 3, 7, channels + offset)),
        w(device, fk::krsc(filters, 1, 1, channels / groups)), y(device, fk::nhwc(1, 3, 7, filters));
    fk::TensorView<fk::half const> const from(x.data(), {{{1, channels, 3, 7}}, x.layout().stride});
    auto const launch = prepare_conv_with<Schedule>(
        device.gpu(), Plan::bind({.weights = w, .filter = fk::filter(1, 1).groups(groups)}, {2}, {3}),
        Plan::collapse(from), Plan::collapse(y.view()));
    if (!launch) return launch.error().what();
    auto const is = [&]<bool plain>(std::bool_constant<plain>) {
        using Mainloop = fk::hip::WarpSpecializedGemm<Plan, Tile, fk::half, fk::half, plain>;
        return launch.value().kernel == fk::hip::kernel_of<Plan, Mainloop>().function;
    };
    return is(std::true_type{}) ? "plain" : is(std::false_type{}) ? "general" : "another";
}

}  // namespace

// Channels that are whole k-tiles, and that are not; filters that fill no tile; padding, strides and dilations.
TEMPLATE_TEST_CASE("HIP: plain kernels of WarpSpecialized are exact for all channels that TMA loads", "",
                   (Plain<192, 128, 4>), (Plain<64, 128, 8>), (Plain<96, 128, 5, Roles::ping_pong>),
                   (Plain<64, 64, 8, Roles::ping_pong>), (Plain<96, 64, 8, Roles::ping_pong>), (Plain<96, 128, 6>),
                   (Plain<128, 128, 5>), (Plain<144, 128, 5>), (Plain<144, 192, 4>), (Split<Plain<64, 64, 8>, 2>)) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<TestType>();
    using Scheduled = decltype(scheduled);
    for (char const* sizes : {"n1c8h1w1k8r1s1pt0l0b0r0u1v1d1e1g1", "n2c128h9w7k72r1s1pt0l0b0r0u1v1d1e1g1",
                              "n2c72h7w5k136r3s3pt1l1b1r1u1v1d1e1g1", "n2c64h11w9k200r3s3pt2l1b0r2u2v1d1e2g1"})
        check_case(Case::parse(std::string(sizes) + " nhwc krsc half CBA relu #4"),
                   run_conv<Scheduled, fk::half, fk::dynamic, fk::Bias, Relu>, scheduled);
}

TEST_CASE("HIP: plain kernels of transposed convolutions are exact, and read no NaN past y's last channel") {
    fk::hip::Device device = sm90a_device();
    auto wide = device.with<Plain<96, 128, 3>>();
    auto turns = device.with<Plain<64, 64, 4, Roles::ping_pong>>();
    check_transposed<fk::half, fk::filter(3, 3).pad(1), false, ChannelsLastLayouts>(wide, {2, 136, 9, 7}, 72);
    check_transposed<fk::half, fk::filter(3, 3).pad(1).stride(2), false, ChannelsLastLayouts>(turns, {2, 72, 9, 8},
                                                                                              136);
    check_transposed_infinities<fk::half, fk::filter(1, 1)>(wide, {2, 40, 5, 7}, 136);
    check_transposed_infinities<fk::half, fk::filter(3, 3).pad(1).stride(2)>(turns, {2, 40, 6, 7}, 72);
}

TEST_CASE(
    "HIP: a launch of WarpSpecialized selects the general kernel where the plain one does not compute it, or has more "
    "MMAs") {
    fk::hip::Device device = sm90a_device();
    CHECK(selected<Tile>(device, 64, 64) == "plain");
    CHECK(selected<Tile>(device, 120, 24) == "plain");  // all k-blocks of the last k-tile have channels
    CHECK(selected<Tile>(device, 112, 24) == "general");
    CHECK(selected<Tile>(device, 64, 20) == "general");  // threads store y
    CHECK(selected<Tile>(device, 64, 64, 4) == "general");  // threads load x
    CHECK(selected<Tile>(device, 128, 64, 0, 2) == "general");
    CHECK(selected<WithKernels<Tile, Kernels::general>>(device, 64, 64) == "general");
    CHECK(selected<WithKernels<Tile, Kernels::plain>>(device, 112, 24) == "plain");
    auto const refused = [](std::string const& got, char const* expected) {
        INFO(got);
        CHECK(got.find(expected) != std::string::npos);
    };
    using PlainTile = WithKernels<Tile, Kernels::plain>;
    refused(selected<PlainTile>(device, 64, 20), "bytes of a pixel of y = 40 is not a multiple of 16");
    refused(selected<PlainTile>(device, 64, 64, 4),
            "bytes from one row of x to the next = 952 is not a multiple of 16");
    refused(selected<PlainTile>(device, 128, 64, 0, 2), "the schedule's kernel is for one group of channels");
}
