// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/strip_halo.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <string>

#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/half_types.hpp"
#include "support/run_case.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::StripHalo;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: StripHalo convolutions are exact", "", HalfTypes) {
    fk::hip::Device device = sm90a_device();
    auto strips = device.with<StripHalo<>>();
    using Scheduled = decltype(strips);
    std::string const type = std::is_same_v<TestType, fk::half> ? " half" : " bfloat16";
    for (char const* sizes : {"n1c64h34w10k128r3s3pt0l0b0r0u1v1d1e1g1",   // one tile
                              "n2c72h70w20k128r3s3pt1l1b1r1u1v1d1e1g1",   // tiles of one image and of two
                              "n9c24h3w9k200r3s3pt1l1b1r1u1v1d1e1g1",  // of more than two images; a second warpgroup
                              // without filters
                              "n5c72h13w9k264r2s2pt0l1b1r0u1v1d1e1g1",  // 16 columns; one warpgroup without columns
                              "n19c16h40w17k136r3s3pt1l0b1r0u1v1d1e1g1",  // more tiles than the GPU has SMs
                              "n2c136h9w21k40r3s3pt1l1b1r1u1v1d1e1g1",  // fewer filters than a tile
                              "n1c200h34w33k64r2s4pt1l2b0r1u1v1d1e1g1",  // an even filter, uneven padding
                              "n1c24h5w12k128r5s5pt2l2b2r2u1v1d1e1g1",  // five stages of filters
                              "n1c72h5w18k16r1s7pt0l3b0r3u1v1d1e1g1",  // 16 channels, in tiles of 128
                              "n35c16h1w9k72r1s3pt0l1b0r1u1v1d1e1g1",     // tiles of 32 images of one row
                              "n2c520h5w7k96r3s1pt1l0b1r0u1v1d1e1g1"}) {  // nine tiles of x, fewest taps
        std::string const text = sizes + std::string(" nhwc krsc") + type;
        check_case(Case::parse(text + " CBA relu #3"), run_conv<Scheduled, TestType, fk::dynamic, fk::Bias, Relu>,
                   strips);
    }
    std::string const size = "n3c16h9w8k72r3s3pt1l1b1r1u1v1d1e1g1 ";
    check_case(Case::parse(size + "nhwc krsc" + type + " CN #1"), run_conv<Scheduled, TestType, fk::dynamic, Norm>,
               strips);
    check_case(Case::parse(size + "nhwc+8>nhwc krsc+8" + type + " C #3"), run_conv<Scheduled, TestType, fk::dynamic>,
               strips);
}

TEST_CASE("HIP: StripHalo transposed convolutions of stride 1 are exact") {
    fk::hip::Device device = sm90a_device();
    auto strips = device.with<StripHalo<>>();
    check_transposed<fk::half, fk::filter(3, 3).pad(1), false, ChannelsLastLayouts>(strips, {2, 64, 11, 35}, 40);
    check_transposed<fk::half, fk::filter(2, 3).pad(0, 3, 2, 1), false, ChannelsLastLayouts>(strips, {2, 136, 8, 9},
                                                                                             72);
    check_transposed<fk::bfloat16, fk::filter(3, 1), false, ChannelsLastLayouts>(strips, {3, 56, 37, 20}, 144);
}

TEST_CASE("HIP: StripHalo refuses unsupported convolutions and leaves y untouched") {
    fk::hip::Device device = sm90a_device();
    auto strips = device.with<StripHalo<>>();
    auto const refused = [&](int r, int s) {
        auto const w = fk::random<fk::half>(device, fk::krsc(8, r, s, 8), 1),
                   x = fk::random<fk::half>(device, fk::nhwc(1, r, s, 8), 2);
        auto y = fk::tensor<fk::half>(device, fk::nhwc(1, 1, 1, 8), {1, 2, 3, 4, 5, 6, 7, 8});
        auto const layer = fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = fk::filter(r, s)});
        std::string const result = refusal([&] { layer(strips, x, y); });
        fk::half got[8];
        device.synchronize();
        y.copy_to(got);
        for (int i = 0; i < 8; ++i) CHECK(static_cast<float>(got[i]) == static_cast<float>(i + 1));
        return result;
    };
    CHECK(refused(7, 7).find("StripHalo: stages of filters = 3 is below 4: use WarpSpecialized") != std::string::npos);
    CHECK(refused(1, 2).find("StripHalo: R * S = 2 is below 3: use WarpSpecialized") != std::string::npos);
}
