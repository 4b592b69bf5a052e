// SPDX-License-Identifier: MIT
#include <catch2/catch_template_test_macros.hpp>
#include <string>

#include "backend/hip/group_infinities.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/mainloop/warp_specialized.hpp"
#include "support/check_case.hpp"
#include "support/half_types.hpp"
#include "support/run_case.hpp"

using namespace test;
using fusekit::hip::WarpSpecialized, fusekit::hip::Roles;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Map = fk::BatchNormInference<fk::PerActivation>;

}  // namespace

// Groups of fewer and of more channels than a tile has, half k-blocks (24, 40 channels), strides, dilation, 1x1
// filters.
TEMPLATE_LIST_TEST_CASE("HIP: WarpSpecialized convolutions of several groups are exact", "", HalfTypes) {
    fk::hip::Device device = sm90a_device();
    std::string const type = std::is_same_v<TestType, fk::half> ? " half" : " bfloat16";
    auto const check = [&](auto scheduled) {
        using Scheduled = decltype(scheduled);
        for (char const* sizes :
             {"n3c48h11w15k48r3s3pt1l1b1r1u1v1d1e1g2 nhwc krsc",
              "n2c240h9w8k336r3s3pt1l1b1r1u2v2d1e1g2 nhwc krsc",  // 120 to 168 channels
              "n5c120h7w7k216r2s3pt0l2b1r0u1v1d2e1g3 nhwc krsc", "n2c96h6w5k96r1s1pt0l0b0r0u1v1d1e1g4 nhwc krsc",
              "n9c24h3w5k72r3s3pt1l1b1r1u1v1d1e1g3 nhwc+8>nhwc krsc+8"}) {
            std::string const text = sizes + type;
            check_case(Case::parse(text + " CBA relu #4"), run_conv<Scheduled, TestType, fk::dynamic, fk::Bias, Relu>,
                       scheduled);
        }
        std::string const text = "n3c120h9w8k72r3s3pt1l1b1r1u1v1d1e1g3 nhwc krsc" + type;
        check_case(Case::parse(text + " CRA relu #4"), run_conv<Scheduled, TestType, fk::dynamic, fk::Residual, Relu>,
                   scheduled);
        check_case(Case::parse(text + " CM #4"), run_conv<Scheduled, TestType, fk::dynamic, Map>, scheduled);
    };
    check(device.with<WarpSpecialized<96, 128, 3>>());
    check(device.with<WarpSpecialized<64, 64, 4, Roles::ping_pong>>());
    check(device.with<fk::hip::Split<WarpSpecialized<64, 64, 8>, 4>>());
}

TEST_CASE("HIP: an infinity or NaN reaches no other group of a WarpSpecialized convolution") {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<WarpSpecialized<96, 128, 3>>();
    for (GroupExtents const& extents : {GroupExtents{48, 48, 2}, {80, 80, 2}, {240, 144, 2}, {128, 32, 4}})
        for (int const stride : {1, 2}) check_infinities<fk::half>(device, scheduled, extents, stride);
}
