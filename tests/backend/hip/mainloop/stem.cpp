// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/stem.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <string>

#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/run_case.hpp"

using namespace test;
using fusekit::hip::Stem, fusekit::hip::StemShape;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;
using PerActivation = fk::BatchNormInference<fk::PerActivation>;

}  // namespace

TEMPLATE_TEST_CASE("HIP: convolutions of few channels on sm_90a's matrix units are exact", "", fk::half, fk::bfloat16) {
    fk::hip::Device device = sm90a_device();
    auto stem = device.with<Stem<>>();
    using Scheduled = decltype(stem);
    std::string const type = std::is_same_v<TestType, fk::half> ? " half" : " bfloat16";
    for (char const* sizes : {"n1c1h3w8k8r3s3pt0l0b0r0u1v1d1e1g1",       // one channel, windows at odd elements
                              "n2c3h19w24k64r7s7pt3l3b3r3u2v2d1e1g1",    // a network's first; a zero before each row
                              "n3c3h7w32k72r3s3pt1l1b1r1u1v1d1e1g1",  // windows at odd elements, two tiles of channels
                              "n5c4h33w10k16r3s3pt1l0b0r2u2v2d1e1g1",  // more tiles than the warpgroups of a GPU
                              "n2c2h9w20k40r2s5pt0l4b1r1u3v1d2e1g1",  // an even filter, rows of x apart
                              "n1c3h17w40k24r4s4pt0l1b3r0u4v4d1e1g1",  // windows that do not overlap
                              "n1c20h5w6k24r5s3pt2l1b2r1u1v1d1e1g1",  // five panels of 64
                              "n2c5h1w48k16r1s9pt0l4b0r4u1v3d1e1g1"}) {  // a signal, windows at odd elements
        std::string const text = sizes + std::string(" nhwc krsc") + type;
        check_case(Case::parse(text + " CBA relu #3"), run_conv<Scheduled, TestType, fk::dynamic, fk::Bias, Relu>,
                   stem);
    }
    std::string const size = "n3c3h9w16k24r3s3pt1l1b1r1u2v2d1e1g1 ";
    check_case(Case::parse(size + "nhwc krsc" + type + " CN #1"), run_conv<Scheduled, TestType, fk::dynamic, Norm>,
               stem);
    check_case(Case::parse(size + "nhwc krsc" + type + " CRA relu #1"),
               run_conv<Scheduled, TestType, fk::dynamic, fk::Residual, Relu>, stem);
    check_case(Case::parse(size + "nhwc krsc" + type + " CM #2"),
               run_conv<Scheduled, TestType, fk::dynamic, PerActivation>, stem);
}

TEST_CASE("HIP: first layers need neither weights nor y without gaps, and are the library's choice for them") {
    fk::hip::Device device = sm90a_device();
    using Run = Run<fk::hip::Device>;
    Run const run = run_conv<fk::hip::Device, fk::half, fk::filter(7, 7).stride(2).pad(3), fk::Bias>;
    check_case(Case::parse("n1c3h14w16k20r7s7pt3l3b3r3u2v2d1e1g1 nhwc>nhwc+4 kcrs half CB #3"), run, device);
    check_case(Case::parse("n1c3h14w15k20r7s7pt3l3b3r3u2v2d1e1g1 nhwc krsc half CB #3"), run, device);
}

TEST_CASE("HIP: a tile of a convolution of few channels is as wide as leaves few pixels empty") {
    using fk::Index;
    StemShape const shape = StemShape::of(Index<4>{{64, 64, 112, 112}}, 3, fk::filter(7, 7).stride(2).pad(3), 12288);
    CHECK(shape.columns() == 8);
    CHECK(shape.rows_of_x == 21);
    CHECK(shape.lead == 1);
    CHECK(shape.chunks == 3);
    CHECK(shape.panels == 3);
    CHECK(shape.tiles({{64, 64, 112, 112}}) == 64 * 14 * 14);
    CHECK(StemShape::of({{1, 64, 1, 500}}, 3, fk::filter(1, 7), 12288).rows() == 1);
    CHECK(StemShape::of({{1, 64, 16, 16}}, 300, fk::filter(3, 3), 12288).panels == 0);
}

TEST_CASE("HIP: a convolution of x whose rows lie otherwise is refused to the schedule, and y is as it was") {
    fk::hip::Device device = sm90a_device();
    auto stem = device.with<Stem<>>();
    auto const w = fk::random<fk::half>(device, fk::krsc(8, 3, 3, 3), 1),
               x = fk::random<fk::half>(device, fk::nhwc(1, 3, 3, 3), 2);
    auto y = fk::tensor<fk::half>(device, fk::nhwc(1, 1, 1, 8), {1, 2, 3, 4, 5, 6, 7, 8});
    auto const layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>::bind({.weights = w});
    CHECK(refusal([&] { layer(stem, x, y); }).find("rows that lie at multiples of 16 bytes") != std::string::npos);
    fk::half got[8];
    device.synchronize();
    y.copy_to(got);
    for (int i = 0; i < 8; ++i) CHECK(static_cast<float>(got[i]) == static_cast<float>(i + 1));
}
