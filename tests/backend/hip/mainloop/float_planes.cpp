// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/float_planes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "backend/hip/planes_schedule.hpp"

using namespace test;
using fusekit::hip::Planes;

namespace {

using Relu = fk::Activation<fk::Relu>;

static_assert(
    fusekit::hip::PlanesEntry::has_kernel<fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, Relu>, float, float>);
static_assert(
    !fusekit::hip::PlanesEntry::has_kernel<fk::Plan<fk::Conv<fk::filter(1, 1), fk::Products<fk::tf32>>>, float, float>);
static_assert(
    !fusekit::hip::PlanesEntry::has_kernel<fk::Plan<fk::Conv<fk::filter(1, 1), fk::Products<float>>>, float, float>);

}  // namespace

TEST_CASE("HIP: bf16x6 Planes convolutions of floats are exact on sm_90a's tensor cores") {
    check_planes<float, Planes<240, 1>>("float", 1, 3);
    check_planes<float, Planes<56, 4>>("float", 0, 3);
}

TEST_CASE("HIP: bf16x6 Planes convolutions of channels-last floats are exact on sm_90a") {
    check_planes<float, Planes<240, 1>>("float", 2, 3, true);
    check_planes<float, Planes<56, 4>>("float", 0, 4, true);
}

/// Real numbers: errors must be within the bound of a chain of float additions.
TEST_CASE("HIP: bf16x6 Planes convolutions have float accuracy") {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<Planes<240, 1>>();
    for (char const* sizes :
         {"n2c200h14w14k40r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs", "n3c72h7w9k72r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs",
          "n2c40h9w10k72r3s3pt1l1b1r1u1v1d1e1g1 nchw krsc", "n3c72h7w9k72r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc"}) {
        INFO(sizes);
        check_case(Case::parse(sizes + std::string(" float CB ~3")),
                   run_conv<decltype(scheduled), float, fk::dynamic, fk::Bias>, scheduled);
    }
}
