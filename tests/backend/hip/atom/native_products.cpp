// SPDX-License-Identifier: MIT
// Compiled for one target per fragment layout: the other targets' instructions are tested by native.cpp.
#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/fewer_kernels.hpp"
#include "backend/hip/native.hpp"
#include "fusekit/backend/hip/atom/native.hpp"
#include "support/check_case.hpp"
#include "support/collected_channels.hpp"
#include "support/infinite_values.hpp"
#include "support/letters.hpp"
#include "support/matrix_products.hpp"
#include "support/run_case.hpp"

using namespace test;
using namespace test::letters;

namespace {

/// True if this program multiplies matrices of T: bfloat16 has the kernels and fragments of half, with instructions
/// that native.cpp tests on each target, so that the emulator multiplies bfloat16 on gfx90a alone.
#ifdef HIP_ON_CPU
template <class T>
constexpr bool multiplies =
    !std::is_same_v<T, fk::bfloat16> || std::is_same_v<fk::hip::arch::Target, fk::hip::arch::Gfx90a>;
#else
template <class T>
constexpr bool multiplies = true;
#endif

}  // namespace

TEST_CASE("HIP: rows of half a packet are loaded element by element") {
    fk::hip::Device device = native();
    auto scheduled = device.with<fk::hip::NativeGemm<64, 64, 6>>();
    using Scheduled = decltype(scheduled);
    for (char const* text : {"n2c12h6w7k20r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc half CB #3",
                             "n2c36h6w7k20r1s1pt0l0b0r0u1v1d1e1g1 nhwc krsc half CB #3"})
        check_case(Case::parse(text), run_conv<Scheduled, fk::half, fk::dynamic, B>, scheduled);
}

TEMPLATE_TEST_CASE("HIP: Gemm and BatchedGemm are exact on the matrix units of each target", "", fk::half, fk::bfloat16,
                   fk::int8) {
    fk::hip::Device device = native();
    if constexpr (multiplies<TestType>) {
        auto&& on = fewer_kernels<fk::hip::NativeGemm<64, 64, 6>>(device);
        check_products<TestType>(on, 4);
        check_batched_products<TestType>(on);
    } else {
        SKIP("bfloat16 is multiplied on gfx90a");
    }
}

TEST_CASE("HIP: statistics after convolutions on each target's matrix units") {
    fk::hip::Device device = native();
    auto&& on = fewer_kernels<fk::hip::NativeGemm<64, 64, 6>>(device);
    using Conv = fk::Conv<fk::dynamic>;
    oracle::Window const same{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1};
    for (char const* layout : {"nchw", "nhwc"}) {
        check_conv_statistics<Conv, fk::half, 4>(on, layout, layout, {{2, 5, 9, 7}, 19, same});
        check_conv_statistics<Conv, fk::half, 4>(on, layout, layout, {{3, 3, 24, 29}, 70, same});
    }
}

TEST_CASE("HIP: infinite values and NaN on each target's matrix units") {
    fk::hip::Device device = native();
    auto&& on = fewer_kernels<fk::hip::NativeGemm<64, 64, 6>>(device);
    check_infinite_values<fk::half>(on);
}
