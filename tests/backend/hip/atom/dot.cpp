// SPDX-License-Identifier: MIT
// Compiled for gfx1030, which the device must be: the kernels are compiled for the target.
#include "fusekit/backend/hip/atom/dot.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "fusekit/backend/hip/atom/native.hpp"
#include "fusekit/backend/hip/dispatch/list.hpp"
#include "support/check_case.hpp"
#include "support/letters.hpp"
#include "support/run_case.hpp"

using namespace test;
using namespace test::letters;
using fk::hip::NativeGemm;

namespace {

static_assert(std::is_same_v<fk::hip::NativeAtom<NativeGemm<128, 128, 2>, fk::half, fk::hip::arch::Target>,
                             fk::hip::DotTile<fk::half, 128, 128, 64>>);

/// Partial tiles and several tiles; layouts that are loaded in 16-byte packets, in quads of pixels, and element by
/// element; windows in padding; a tail of GemmK; groups.
char const* const cases[] = {
    "n1c1h1w1k1r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs ", "n3c5h9w8k67r2s3pt1l0b0r2u1v2d1e1g1 nchw+1 kcrs+1 ",
    "n2c16h5w12k40r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs ", "n2c24h6w7k48r3s1pt1l0b1r0u1v1d2e1g2 nhwc>nchw krsc ",
    "n1c64h9w8k136r2s2pt1l1b0r0u1v1d1e1g1 nhwc krsc "};

template <class T, class Schedule>
void check(char const* fills) {
    fk::hip::Device device = gpu();
    if (device.architecture().name() != "gfx1030") SKIP("the GPU is " << device.architecture().name().c_str());
    auto scheduled = device.with<Schedule>();
    for (std::string const text : cases)
        check_case(Case::parse(text + fills), run_conv<decltype(scheduled), T, fk::dynamic, B>, scheduled);
}

}  // namespace

TEST_CASE("HIP: dot instructions of half are exact where no sum is rounded") {
    check<fk::half, NativeGemm<128, 128, 2>>("half CB #3");
    check<fk::half, NativeGemm<64, 64, 6>>("half CB #6");
}

TEST_CASE("HIP: dot instructions of half round no more often than additions do") {
    check<fk::half, NativeGemm<64, 64, 6>>("half CB ~3");
}

TEST_CASE("HIP: dot instructions of int8 are exact") {
    check<fk::int8, NativeGemm<128, 128, 2>>("int8 CB #3");
    check<fk::int8, NativeGemm<64, 64, 6>>("int8 CB #6");
}
