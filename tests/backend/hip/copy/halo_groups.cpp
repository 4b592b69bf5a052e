// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/halo_groups.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <string>

#include "backend/hip/group_infinities.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/half_types.hpp"
#include "support/run_case.hpp"
#include "support/stored_values.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::Halo;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Map = fk::BatchNormInference<fk::PerActivation>;

}  // namespace

// Groups of whole and of broken packets of 8 channels, whose boxes TMA clips or threads zero and store; K / G other
// than C / G; weights that threads copy by 8, 2 and 1.
TEMPLATE_LIST_TEST_CASE("HIP: Halo convolutions of several groups are exact", "", HalfTypes) {
    fk::hip::Device device = sm90a_device();
    auto halo = device.with<Halo<>>();
    using Scheduled = decltype(halo);
    std::string const type = std::is_same_v<TestType, fk::half> ? " half" : " bfloat16";
    for (char const* sizes : {"n3c48h11w55k48r3s3pt1l1b1r1u1v1d1e1g2 nhwc krsc",  // tiles of 4 rows, the last of 3
                              "n2c128h9w28k128r3s3pt1l1b1r1u1v1d1e1g2 nhwc krsc",
                              "n2c232h7w13k232r3s3pt1l1b1r1u1v1d1e1g4 nhwc krsc",  // 58 channels, from 6 to 64
                              "n2c232h5w9k160r3s3pt0l2b1r0u1v1d1e1g4 nhwc kcrs",
                              "n1c40h6w20k72r2s4pt1l2b0r1u1v1d1e1g8 nhwc krsc",  // groups of 5 and 9 channels
                              "n9c120h3w5k72r3s3pt1l1b1r1u1v1d1e1g3 nhwc+8 krsc+2",
                              "n2c96h5w9k64r3s3pt1l1b1r1u1v1d1e1g4 nhwc crsk",  // weights that TMA does not load
                              "n3c72h9w21k88r1s1pt0l0b0r0u1v1d1e1g8 nhwc krsc",  // groups of 9 and 11, no halo
                              "n1c768h3w4k768r1s3pt0l1b0r1u1v1d1e1g192 nhwc krsc"}) {
        std::string const text = sizes + type;
        check_case(Case::parse(text + " CBA relu #3"), run_conv<Scheduled, TestType, fk::dynamic, fk::Bias, Relu>,
                   halo);
    }
    // Wide images, whose groups Halo does not compute: whatever the library chooses.
    if constexpr (std::is_same_v<TestType, fk::half>)
        for (char const* sizes : {"n2c48h6w224k48r3s3pt1l1b1r1u1v1d1e1g2", "n1c48h3w400k48r3s3pt1l1b1r1u1v1d1e1g2"})
            check_case(Case::parse(std::string(sizes) + " nhwc krsc" + type + " CBA relu #3"),
                       run_conv<fk::hip::Device, TestType, fk::dynamic, fk::Bias, Relu>, device);
    for (char const* groups : {"c96h9w8k96", "c104h9w8k104"}) {
        std::string const text = std::string("n3") + groups + "r3s3pt1l1b1r1u1v1d1e1g" + "4 nhwc krsc" + type;
        check_case(Case::parse(text + " CRA relu #1"), run_conv<Scheduled, TestType, fk::dynamic, fk::Residual, Relu>,
                   halo);
        check_case(Case::parse(text + " CM #2"), run_conv<Scheduled, TestType, fk::dynamic, Map>, halo);
    }
}

// Groups whose channels TMA clips, and groups for which threads zero the channels of others.
TEST_CASE("HIP: an infinity or NaN reaches no other group of a Halo convolution") {
    fk::hip::Device device = sm90a_device();
    auto halo = device.with<Halo<>>();
    for (GroupExtents const& extents :
         {GroupExtents{48, 48, 2}, {80, 80, 2}, {232, 232, 4}, {72, 40, 8}, {104, 104, 4}, {104, 96, 8}})
        check_infinities<fk::half>(device, halo, extents, 1);
}

TEST_CASE("HIP: Halo transposed convolutions of several groups are exact") {
    fk::hip::Device device = sm90a_device();
    auto halo = device.with<Halo<>>();
    check_transposed<fk::half, fk::filter(3, 3).pad(1).groups(4), false, ChannelsLastLayouts>(halo, {2, 96, 11, 15},
                                                                                              96);
    check_transposed<fk::half, fk::filter(3, 3).pad(1).groups(4), false, ChannelsLastLayouts>(halo, {2, 232, 5, 9},
                                                                                              232);
    check_transposed<fk::bfloat16, fk::filter(2, 3).pad(0, 3, 2, 1).groups(8), false, ChannelsLastLayouts>(
        halo, {2, 72, 8, 9}, 40);
}

// Operators see the channels of one group only: rows of a tile before and past them have the coordinates of others.
TEST_CASE("HIP: Halo convolutions of several groups store tensors besides y") {
    fk::hip::Device device = sm90a_device();
    auto halo = device.with<Halo<>>();
    oracle::Window const window{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .groups = 4};
    check_stored_conv<fk::half, fk::half>(halo, {"nhwc", "nhwc", "nhwc", "nchw"}, {2, 104, 9, 11}, 104, window);
    check_stored_conv<fk::half, float>(halo, {"nhwc", "nhwc", "nhwc", "nhwc"}, {2, 96, 9, 11}, 40, window);
}
