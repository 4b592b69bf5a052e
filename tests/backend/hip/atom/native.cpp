// Compiled for each of AMD's targets, whose architecture the device must have: the kernels are compiled for the target.
// NVIDIA's GPUs have matrix instructions from 8.0 on.
#include "fusekit/backend/hip/atom/native.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/fewer_kernels.hpp"
#include "backend/hip/native.hpp"
#include "fusekit/backend/hip/dispatch/list.hpp"
#include "support/check_case.hpp"
#include "support/float_products.hpp"
#include "support/letters.hpp"
#include "support/run_case.hpp"

using namespace test;
using namespace test::letters;
using fk::hip::NativeGemm, fk::hip::has_native_unit;

namespace {

using Relu = fk::Activation<fk::Relu>;

/// True for a target that differs from another in instructions only: it compiles one tile and one plan of each type.
#ifdef ONE_TILE
constexpr bool one_tile = true;
#else
constexpr bool one_tile = false;
#endif

/// True for a type whose kernels differ from another's in instructions only, as bfloat16's from half's: with
/// FEWER_KERNELS it too has one tile and one plan.
#ifdef FEWER_KERNELS
template <class T>
constexpr bool one_plan = one_tile || std::is_same_v<T, fk::bfloat16>;
#else
template <class T>
constexpr bool one_plan = one_tile;
#endif

/// True if a program for T on matrix units is compiled: by the emulator for its target alone, by nvcc for any GPU.
#ifdef HIP_ON_CPU
template <class T>
constexpr bool may_have_unit = has_unit<T>;
#else
template <class T>
constexpr bool may_have_unit = true;
#endif

/// Partial tiles and several tiles; layouts that are loaded in 16-byte packets, and element by element; windows in
/// padding; a tail of GemmK; groups.
char const* const cases[] = {
    "n1c1h1w1k1r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs ",      "n2c24h7w5k136r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs ",
    "n3c5h9w8k67r2s3pt1l0b0r2u1v2d1e1g1 nchw+1 kcrs+1 ", "n2c40h8w8k24r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs ",
    "n2c3h13w17k20r5s5pt2l2b2r2u2v2d1e1g1 nhwc krsc ",   "n2c24h6w7k48r3s1pt1l0b1r0u1v1d2e1g2 nhwc>nchw krsc ",
    "n2c16h5w12k40r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs ",   "n1c8h9w8k20r5s5pt2l4b2r0u2v1d1e1g1 nchw kcrs ",
    "n2c16h4w16k24r1s4pt0l1b0r2u1v1d1e1g2 nchw kcrs ",   "n2c24h6w20k16r3s3pt2l2b2r2u1v1d2e2g1 nchw kcrs ",
    "n2c64h9w11k72r2s2pt1l1b0r0u1v1d1e1g1 nhwc krsc ",   "n1c16h5w30k130r1s3pt0l2b0r2u1v1d1e2g1 nhwc krsc "};

template <class T, class Schedule>
void check_floats(std::string const& type) {
    fk::hip::Device device = native();
    auto scheduled = device.with<Schedule>();
    using Scheduled = decltype(scheduled);
    for (std::string const text : cases)
        for (char const* seed : {"#3", "#6"})  // with seed 6, tensors are not aligned
            check_case(Case::parse(text + type + " CBA relu " + seed), run_conv<Scheduled, T, fk::dynamic, B, Relu>,
                       scheduled);
    if constexpr (!one_plan<T>) {
        check_case(Case::parse("n2c24h7w9k40r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs " + type + " CRN #4"),
                   run_conv<Scheduled, T, fk::dynamic, R, N>, scheduled);
        std::string const size = "n2c40h7w9k24r3s3pt1l1b1r1u1v1d1e1g1 ";
        for (char const* layouts : {"nchw kcrs ", "nhwc krsc "})
            check_case(Case::parse(size + layouts + type + " NACBA relu #3"),
                       WithPrologue<N, Relu>::run<Scheduled, T, fk::dynamic, B, Relu>, scheduled);
    }
}

template <class T, class Schedule>
void check_float8(std::string const& type) {
    if constexpr (may_have_unit<T>) {
        fk::hip::Device device = native();
        if (!has_native_unit<T>(device.architecture())) return;
        auto scheduled = device.with<Schedule>();
        for (std::string const text : cases)
            check_case(Case::parse(text + type + "/float CBS #6"),
                       run_conv<decltype(scheduled), Types<T, fk::half, T>, fk::dynamic, B, S>, scheduled);
    }
}

template <class Schedule>
void check_int8() {
    fk::hip::Device device = native();
    auto scheduled = device.with<Schedule>();
    using Scheduled = decltype(scheduled);
    for (std::string const text : cases)
        for (char const* seed : {"#3", "#6"})
            check_case(Case::parse(text + "int8 CBQ " + seed), run_conv<Scheduled, fk::int8, fk::dynamic, B, Q>,
                       scheduled);
}

}  // namespace

TEMPLATE_TEST_CASE("HIP: convolutions are exact on the matrix units of each target", "", (NativeGemm<128, 128, 2>),
                   (NativeGemm<64, 64, 6>)) {
    if constexpr (!one_tile || TestType::tile_m == 64) {
        check_floats<fk::half, TestType>("half");
        if constexpr (!one_plan<fk::bfloat16> || TestType::tile_m == 64)
            check_floats<fk::bfloat16, TestType>("bfloat16");
        check_int8<TestType>();
    }
}

TEST_CASE("HIP: convolutions of int8 in tiles for bytes are exact on each target") {
    if constexpr (!one_tile) check_int8<NativeGemm<64, 128, 2>>();
}

TEST_CASE("HIP: convolutions of float are exact on targets with float or TF32 units") {
    using Schedule = NativeGemm<128, 128, 2>;
    if constexpr (has_unit<float>) check_floats<float, Schedule>("float");
    if constexpr (has_unit<fk::tf32>) check_floats<FloatsAs<fk::tf32>, Schedule>("float");
}

TEST_CASE("HIP: each target multiplies floats as Products requests, and never as TF32 by default") {
    fk::hip::Device device = native();
    bool const cuts = fk::hip::has_native_unit<fk::tf32>(device.architecture()) &&
                      (!fk::hip::has_native_unit<float>(device.architecture()) ||
                       device.architecture() == fk::hip::Architecture::gfx(0x942));
    auto scheduled = device.with<NativeGemm<64, 64, 6>>();
    check_float_products<fk::tf32>(scheduled, cuts);
    check_float_products<float>(device, false);
    check_float_products<void>(device, false);
}

TEST_CASE("HIP: convolutions of 8-bit floats are exact on targets with FP8 units") {
    check_float8<fk::e4m3, NativeGemm<64, 64, 6>>("e4m3");
    check_float8<fk::e5m2, NativeGemm<64, 128, 2>>("e5m2");
    check_float8<fk::e4m3_fnuz, NativeGemm<64, 64, 6>>("e4m3_fnuz");
    check_float8<fk::e5m2_fnuz, NativeGemm<64, 128, 2>>("e5m2_fnuz");
}

TEST_CASE("HIP: targets without matrix units run the same schedule") {
    using namespace fk::hip;
    using Schedule = NativeGemm<64, 64, 6>;
    CHECK(std::is_same_v<NativeAtom<Schedule, fk::half, arch::Gfx1030>, DotTile<fk::half, 64, 64, 32>>);
    CHECK(std::is_same_v<NativeAtom<Schedule, fk::bfloat16, arch::Gfx1030>, Simt<fk::bfloat16, 64, 64, 8, 2>>);
    CHECK(std::is_same_v<NativeAtom<Schedule, float, arch::Gfx90a>, WaveTile<float, Mfma<float, 2>, 64, 64>>);
    CHECK(std::is_same_v<NativeAtom<Schedule, float, arch::Gfx90a, fk::tf32>, WaveTile<float, Mfma<float, 2>, 64, 64>>);
    CHECK(std::is_same_v<NativeAtom<Schedule, float, arch::Gfx942>, WaveTile<float, Mfma<float, 2>, 64, 64>>);
    CHECK(std::is_same_v<NativeAtom<Schedule, float, arch::Gfx942, fk::tf32>,
                         WaveTile<float, Mfma<fk::tf32, 4>, 64, 64>>);
    CHECK(std::is_same_v<NativeAtom<Schedule, float, arch::Gfx11>, Simt<float, 64, 64, 8, 2>>);
    CHECK(std::is_same_v<NativeAtom<Schedule, float, arch::Gfx12, fk::tf32>, Simt<float, 64, 64, 8, 2>>);
    CHECK(std::is_same_v<NativeAtom<Schedule, float, arch::Sm86, fk::tf32>,
                         WaveTile<float, MmaSync<fk::tf32>, 64, 64, 64, 3>>);
    CHECK(std::is_same_v<NativeAtom<Schedule, fk::int8, arch::Gfx942>, WaveTile<fk::int8, Mfma<fk::int8, 16>, 64, 64>>);
    CHECK(std::is_same_v<NativeAtom<Schedule, fk::int8, arch::Sm86>,
                         WaveTile<fk::int8, MmaSync<fk::int8>, 64, 64, 64, 3>>);
    CHECK(std::is_same_v<NativeAtom<NativeGemm<64, 64, 6, 16>, fk::half, arch::Sm75>, Simt<fk::half, 64, 64, 16, 8>>);
    for (int const number : {0x908, 0x90a, 0x942, 0x1100, 0x1201}) {
        CHECK(has_native_unit<fk::half>(Architecture::gfx(number)));
        CHECK(has_native_unit<float>(Architecture::gfx(number)) == (number < 0x1000));
    }
    CHECK(has_native_unit<fk::e4m3>(Architecture::sm(89)));
    CHECK(has_native_unit<fk::e4m3>(Architecture::gfx(0x1201)));
    CHECK(has_native_unit<fk::e5m2_fnuz>(Architecture::gfx(0x942)));
    CHECK_FALSE(has_native_unit<fk::e4m3>(Architecture::gfx(0x942)));
    CHECK_FALSE(has_native_unit<fk::e4m3>(Architecture::sm(86)));
    CHECK_FALSE(has_native_unit<fk::e4m3_fnuz>(Architecture::sm(90)));
    CHECK(has_native_unit<fk::int8>(Architecture::gfx(0x1030)));
    CHECK_FALSE(has_native_unit<fk::bfloat16>(Architecture::gfx(0x1030)));
    for (int const number : {80, 86, 89, 90}) {
        CHECK(has_native_unit<fk::half>(Architecture::sm(number)));
        CHECK(has_native_unit<fk::tf32>(Architecture::sm(number)));
        CHECK_FALSE(has_native_unit<float>(Architecture::sm(number)));
    }
    CHECK_FALSE(has_native_unit<fk::half>(Architecture::sm(75)));
}
