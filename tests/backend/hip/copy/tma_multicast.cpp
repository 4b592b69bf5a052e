// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/tma_multicast.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "backend/hip/one_kernel.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/run_case.hpp"

using namespace test;
using fusekit::hip::Multicast, fusekit::hip::WarpSpecialized;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Tile = General<192, 128, 2>;

/// Operand that 4 SMs multicast, of which a launch without multicast selects the general kernel or not.
Multicast operand(std::int64_t pixels, std::int64_t channels, std::int64_t filters, std::int64_t taps,
                  bool is_general = true) {
    return fusekit::hip::detail::MulticastCase{192, 128, pixels, filters, channels, taps, 4, is_general}.operand();
}

}  // namespace

TEST_CASE("HIP: pairs of CTAs multicast x where columns of tiles are even, else the filters") {
    CHECK(operand(420, 200, 256, 9) == Multicast::x);
    CHECK(operand(420, 200, 128, 9) == Multicast::w);
    CHECK(operand(700, 200, 264, 9) == Multicast::w);
    CHECK(operand(420, 200, 384, 9) == Multicast::w);  // 12 tiles, 3 of them past y, take as many rounds as 9
    CHECK(operand(845, 200, 384, 9) == Multicast::none);  // 18 take one more than 15
    CHECK(operand(192, 200, 136, 9) == Multicast::x);  // two tiles for four SMs
    CHECK(operand(192, 200, 128, 9) == Multicast::none);  // one tile
    CHECK(operand(191, 200, 512, 9) == Multicast::none);  // no tile of 192 pixels
    CHECK(operand(420, 120, 256, 9, false) == Multicast::x);  // rows that straddle sectors: the plain kernel is slower
    CHECK(operand(420, 96, 256, 9) == Multicast::x);  // rows of whole sectors
    CHECK(operand(700, 96, 264, 1) == Multicast::w);
    CHECK(operand(700, 96, 264, 9) == Multicast::none);
    CHECK(operand(192, 96, 256, 1) == Multicast::none);  // idle SMs
    CHECK(operand(420, 128, 256, 1, false) == Multicast::none);
}

// Last columns of 128 filters and fewer, the last of two tiles along the pixels that is past y, more tiles than SMs,
// windows, strides, images of which a half tile has parts, and y that TMA stores and threads store. On 4 SMs the last
// round of tiles is full or has 3, so that the cost model divides none.
TEST_CASE("HIP: convolutions with multicast operands are exact") {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<Tile>();
    using Scheduled = decltype(scheduled);
    int const scale = device.gpu().processors() / 4;  // of images, so that a GPU has as many tiles per SM
    auto const images = [&](int count) { return "n" + std::to_string(count * scale); };
    for (std::string const& sizes :
         {images(5) + "c152h13w17k256r1s1pt0l0b0r0u1v1d1e1g1", images(3) + "c152h12w13k128r1s1pt0l0b0r0u1v1d1e1g1",
          std::string("n2c200h19w19k136r3s3pt1l1b1r1u1v1d1e1g1"), std::string("n7c200h7w9k128r3s3pt1l1b1r1u1v1d1e1g1"),
          std::string("n4c200h13w13k320r1s1pt0l0b0r0u1v1d1e1g1"),
          std::string("n8c200h19w17k384r1s2pt0l1b0r0u2v2d1e1g1"), std::string("n3c96h13w15k256r3s3pt2l1b0r1u1v1d1e1g1"),
          std::string("n3c200h13w15k130r1s1pt0l0b0r0u1v1d1e1g1")})
        check_case(Case::parse(sizes + " nhwc krsc half CBA relu #1"),
                   run_conv<Scheduled, fk::half, fk::dynamic, fk::Bias, Relu>, scheduled);
    check_case(Case::parse(images(4) + "c200h13w13k264r1s1pt0l0b0r0u1v1d1e1g1 nhwc krsc half CRA relu #1"),
               run_conv<Scheduled, fk::half, fk::dynamic, fk::Residual, Relu>, scheduled);
}

// The kernel's own shared memory is allowed although a launch without multicast would select the other kernel. The plan
// is of this test alone: a limit lasts as long as the program.
TEST_CASE("HIP: the first launch of a plan may multicast") {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<WarpSpecialized<192, 128, 2>>();
    check_case(Case::parse("n2c312h19w19k256r1s1pt0l0b0r0u1v1d1e1g1 nhwc krsc half CA abs #1"),
               run_conv<decltype(scheduled), fk::half, fk::dynamic, fk::Activation<fk::Abs>>, scheduled);
}
