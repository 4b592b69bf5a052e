// SPDX-License-Identifier: MIT
// 8-bit floats on sm_90a's matrix units.
#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/mainloop/warp_specialized.hpp"
#include "support/amax_values.hpp"
#include "support/check_case.hpp"
#include "support/run_case.hpp"

using namespace test;
using fusekit::hip::WarpSpecialized, fusekit::hip::Roles;

namespace {

using Relu = fk::Activation<fk::Relu>;

}  // namespace

TEMPLATE_TEST_CASE("HIP: convolutions of 8-bit floats on sm_90a's matrix units are exact", "",
                   (WarpSpecialized<64, 128, 3>), (WarpSpecialized<192, 128, 4>),
                   (WarpSpecialized<128, 128, 4, Roles::ping_pong>)) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<TestType>();
    using Scheduled = decltype(scheduled);
    auto const parse = [](char const* sizes, char const* rest) {
        return Case::parse(sizes + std::string(" nhwc krsc ") + rest);
    };
    char const* const uneven = "n2c128h11w9k64r3s3pt2l1b0r2u2v1d1e2g1";  // padding, strides and dilations
    for (char const* sizes : {"n1c16h1w1k16r1s1pt0l0b0r0u1v1d1e1g1",  // one element
                              "n2c144h7w5k160r3s3pt1l1b1r1u1v1d1e1g1", uneven,
                              "n3c144h13w17k144r1s1pt0l0b0r0u1v1d1e1g1"})  // a matrix of pixels
        check_case(parse(sizes, "e4m3/float CBAS relu #2"),
                   run_conv<Scheduled, fk::e4m3, fk::dynamic, fk::Bias, Relu, fk::Scale>, scheduled);
    check_case(parse(uneven, "e5m2/float CBAS relu #2"),
               run_conv<Scheduled, fk::e5m2, fk::dynamic, fk::Bias, Relu, fk::Scale>, scheduled);
    check_case(parse(uneven, "e4m3/half CRB #3"),
               run_conv<Scheduled, Types<fk::e4m3, fk::half>, fk::dynamic, fk::Residual, fk::Bias>, scheduled);
}

TEST_CASE("HIP: the largest magnitude of what matrix units compute") {
    fk::hip::Device device = sm90a_device();
    check_amax<fk::e4m3, fk::e4m3>(device, "nhwc", {2, 16, 7, 9}, 144, 0);
    check_amax<fk::half, fk::half>(device, "nhwc", {2, 16, 7, 9}, 24, 0);
}
