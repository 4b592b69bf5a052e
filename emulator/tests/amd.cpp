// SPDX-License-Identifier: MIT
// AMD's matrix instructions, on the architecture of HIP_ON_CPU_ARCH: each multiplies matrices of small integers, whose
// sums are exact.
#include "hip_on_cpu/amd.hpp"

#include <hip/hip_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace amd = hip_on_cpu::amd;

namespace {

/// Small integers, and their encodings in each type.
int number(int at) { return at * 7 % 15 - 7; }
std::uint32_t half(int value) {
    if (value == 0) return 0;
    auto const magnitude = static_cast<unsigned>(value < 0 ? -value : value);
    unsigned const log = 31u - static_cast<unsigned>(__builtin_clz(magnitude));
    return (value < 0 ? 0x8000u : 0u) | (15 + log) << 10 | ((magnitude << 10 >> log) & 0x3ffu);
}
std::uint32_t bfloat16(int value) {
    auto const as_float = static_cast<float>(value);
    std::uint32_t bits;
    std::memcpy(&bits, &as_float, sizeof bits);
    return bits >> 16;
}
std::uint32_t int8(int value) { return static_cast<std::uint8_t>(value); }
std::uint32_t float32(int value) { return bfloat16(value) << 16; }
// the bits that TF32 truncates are set
std::uint32_t tf32(int value) { return value == 0 ? 0 : float32(value) | ((1u << 13) - 1); }
/// Upper bits of a half, whose exponent has as many bits as e5m2's, or one more than e4m3's.
std::uint32_t e5m2(int value) { return half(value) >> 8; }
std::uint32_t e5m2_fnuz(int value) { return value == 0 ? 0 : e5m2(value) + 4; }
std::uint32_t e4m3(int value) {
    std::uint32_t const bits = half(value);
    return value == 0 ? 0 : (bits >> 8 & 0x80u) | ((bits & 0x7fffu) - (8u << 10)) >> 7;
}
std::uint32_t e4m3_fnuz(int value) { return value == 0 ? 0 : e4m3(value) + 8; }

/// Register layout of an instruction: lane and index of each element of the operands and accumulators. `group`: index
/// of a lane among the lanes that hold the same row.
struct Layout {
    unsigned size, depth, lanes, factors;
    unsigned (*row)(unsigned group, unsigned element);  ///< row of an accumulator
};

template <int Words, class Accumulators>
using Multiply = Accumulators (*)(amd::Words<Words>, amd::Words<Words>, Accumulators, hip_on_cpu::SourceLocation);

template <int Words, class Accumulators>
struct Problem {
    Layout layout;
    Multiply<Words, Accumulators> multiply;
    std::uint32_t (*bits)(int);
    Accumulators* out;
};

/// a[i][k] = number(31 i + k), b[j][k] = number(17 j + 5 k), c[i][j] = i - j.
template <int Words, class Accumulators>
__global__ void product(Problem<Words, Accumulators> problem) {
    Layout const& at = problem.layout;
    unsigned const lane = threadIdx.x, group = lane / at.size, row = lane % at.size;
    unsigned const width = 32 / (at.factors / Words);
    amd::Words<Words> a{}, b{};
    for (unsigned e = 0; e < at.factors; ++e) {
        unsigned const k = group * at.factors % at.depth + e;
        auto const word = static_cast<int>(e * width / 32);
        a[word] |= problem.bits(number(static_cast<int>(31 * row + k))) << e * width % 32;
        b[word] |= problem.bits(number(static_cast<int>(17 * row + 5 * k))) << e * width % 32;
    }
    Accumulators c{};
    for (unsigned e = 0; e < sizeof c / 4; ++e)
        c[static_cast<int>(e)] = static_cast<std::remove_reference_t<decltype(c[0])>>(
            static_cast<int>(at.row(group, e)) - static_cast<int>(row));
    problem.out[lane] = problem.multiply(a, b, c, hip_on_cpu::SourceLocation::current());
}

template <int Words, class Accumulators>
void check(Layout const& layout, std::uint32_t (*bits)(int), Multiply<Words, Accumulators> multiply) {
    std::vector<Accumulators> out(layout.lanes);
    hipLaunchKernelGGL(HIP_KERNEL_NAME(product<Words, Accumulators>), dim3(1), dim3(layout.lanes), 0, nullptr,
                       Problem<Words, Accumulators>{layout, multiply, bits, out.data()});
    REQUIRE(hipGetLastError() == hipSuccess);
    int wrong = 0;
    for (unsigned lane = 0; lane < layout.lanes; ++lane)
        for (unsigned e = 0; e < sizeof(Accumulators) / 4; ++e) {
            auto const i = static_cast<int>(layout.row(lane / layout.size, e)),
                       j = static_cast<int>(lane % layout.size);
            int expected = i - j;
            for (int k = 0; k < static_cast<int>(layout.depth); ++k)
                expected += number(31 * i + k) * number(17 * j + 5 * k);
            wrong += static_cast<int>(out[lane][static_cast<int>(e)]) != expected;
        }
    CHECK(wrong == 0);
}

unsigned mfma_row(unsigned group, unsigned e) { return 8 * (e / 4) + 4 * group + e % 4; }
unsigned mfma16_row(unsigned group, unsigned e) { return 4 * group + e; }
unsigned gfx11_row(unsigned group, unsigned e) { return 2 * e + group; }
unsigned gfx12_row(unsigned group, unsigned e) { return 8 * group + e; }

/// Pair of indices k of a row in a group of four, as encoded for the instruction: all six pairs occur.
std::uint32_t pair(unsigned row, unsigned group) {
    constexpr std::uint32_t pairs[] = {1u << 2, 2u << 2, 3u << 2, 1 | 2u << 2, 1 | 3u << 2, 2 | 3u << 2};
    return pairs[(row + 5 * group) % 6];
}

template <class Accumulators>
struct SparseProblem {
    Layout layout;
    std::uint32_t (*bits)(int);
    Accumulators (*multiply)(amd::Words<2>, amd::Words<4>, Accumulators, std::uint32_t, hip_on_cpu::SourceLocation);
    Accumulators* out;
};

/// Expected result of a sparse MMA: product() with a[i][k] at the two indices k of pair(), and zeros elsewhere.
template <class Accumulators>
__global__ void sparse_product(SparseProblem<Accumulators> problem) {
    Layout const& at = problem.layout;
    unsigned const lane = threadIdx.x, row = lane % at.size, own = 2 * at.factors, first = lane / at.size * own,
                   width = 64 / at.factors;
    amd::Words<2> a{};
    amd::Words<4> b{};
    std::uint32_t indices = 0;
    for (unsigned e = 0; e < own; ++e)
        b[static_cast<int>(e * width / 32)] |= problem.bits(number(static_cast<int>(17 * row + 5 * (first + e))))
                                               << e * width % 32;
    for (unsigned e = 0; e < at.factors; ++e) {
        unsigned const index = pair(row, first / 4 + e / 2) >> e % 2 * 2 & 3, k = first + e / 2 * 4 + index;
        a[static_cast<int>(e * width / 32)] |= problem.bits(number(static_cast<int>(31 * row + k))) << e * width % 32;
        indices |= index << 2 * e;
    }
    Accumulators c{};
    for (unsigned e = 0; e < sizeof c / 4; ++e)
        c[static_cast<int>(e)] = static_cast<std::remove_reference_t<decltype(c[0])>>(
            static_cast<int>(at.row(lane / at.size, e)) - static_cast<int>(row));
    problem.out[lane] = problem.multiply(a, b, c, indices, hip_on_cpu::SourceLocation::current());
}

template <class Accumulators>
void check_sparse(Layout const& layout, std::uint32_t (*bits)(int),
                  decltype(SparseProblem<Accumulators>::multiply) multiply) {
    std::vector<Accumulators> out(layout.lanes);
    hipLaunchKernelGGL(HIP_KERNEL_NAME(sparse_product<Accumulators>), dim3(1), dim3(layout.lanes), 0, nullptr,
                       SparseProblem<Accumulators>{layout, bits, multiply, out.data()});
    REQUIRE(hipGetLastError() == hipSuccess);
    int wrong = 0;
    for (unsigned lane = 0; lane < layout.lanes; ++lane)
        for (unsigned e = 0; e < sizeof(Accumulators) / 4; ++e) {
            unsigned const i = layout.row(lane / layout.size, e), j = lane % layout.size;
            int expected = static_cast<int>(i) - static_cast<int>(j);
            for (unsigned group = 0; group < layout.depth / 4; ++group)
                for (unsigned const nth : {0u, 2u}) {
                    unsigned const k = group * 4 + (pair(i, group) >> nth & 3);
                    expected += number(static_cast<int>(31 * i + k)) * number(static_cast<int>(17 * j + 5 * k));
                }
            wrong += static_cast<int>(out[lane][static_cast<int>(e)]) != expected;
        }
    CHECK(wrong == 0);
}

template <class F>
__global__ void alone(F const* f) {
    (*f)();
}
/// Runs f in each thread of a kernel with `threads` threads.
template <class F>
void launch_one(F const& f, unsigned threads = 1) {
    hipLaunchKernelGGL(HIP_KERNEL_NAME(alone<F>), dim3(1), dim3(threads), 0, nullptr, &f);
    REQUIRE(hipGetLastError() == hipSuccess);
}

bool is(char const* name) { return std::string(hip_on_cpu::architecture()) == name; }

}  // namespace

TEST_CASE("MFMA multiplies as CDNA's manuals say") {
    bool const cdna1 = is("gfx908"), cdna2 = is("gfx90a"), cdna3 = is("gfx942");
    if (!cdna1 && !cdna2 && !cdna3) SKIP("no MFMA");
    check<2>({32, 8, 64, 4, mfma_row}, half, amd::mfma_f32_32x32x8f16);
    if (!cdna3) check<1>({32, 4, 64, 2, mfma_row}, bfloat16, amd::mfma_f32_32x32x4bf16);
    if (!cdna1) check<2>({32, 8, 64, 4, mfma_row}, bfloat16, amd::mfma_f32_32x32x8bf16_1k);
    check<2>({16, 16, 64, 4, mfma16_row}, half, amd::mfma_f32_16x16x16f16);
    if (!cdna1) check<2>({16, 16, 64, 4, mfma16_row}, bfloat16, amd::mfma_f32_16x16x16bf16_1k);
    if (!cdna3) check<1>({32, 8, 64, 4, mfma_row}, int8, amd::mfma_i32_32x32x8i8);
    if (cdna3) check<2>({32, 16, 64, 8, mfma_row}, int8, amd::mfma_i32_32x32x16_i8);
    check<1>({32, 2, 64, 1, mfma_row}, float32, amd::mfma_f32_32x32x2f32);
    if (cdna3) check<2>({32, 4, 64, 2, mfma_row}, tf32, amd::mfma_f32_32x32x4_xf32);
    if (cdna3) check<2>({32, 16, 64, 8, mfma_row}, e4m3_fnuz, amd::mfma_f32_32x32x16_fp8_fp8);
    if (cdna3) check<2>({32, 16, 64, 8, mfma_row}, e5m2_fnuz, amd::mfma_f32_32x32x16_bf8_bf8);
}

TEST_CASE("MFMA of half and bfloat16 flushes subnormals on gfx90a alone") {
    if (!is("gfx908") && !is("gfx90a") && !is("gfx942")) SKIP("no MFMA");
    // First accumulator of c plus 8 products (4 on gfx908), with all operand elements equal to a and b.
    struct Results {
        float factor, normal, sum, result;
    } halves{}, bfloats{};
    bool const has_1k = !is("gfx908");
    auto const each = [&halves, &bfloats, has_1k] {
        auto const of_halves = [](std::uint32_t a, std::uint32_t b, float c) {
            amd::Words<2> const x{{a | a << 16, a | a << 16}}, w{{b | b << 16, b | b << 16}};
            return amd::mfma_f32_32x32x8f16(x, w, {{c}})[0];
        };
        auto const of_bfloats = [has_1k](std::uint32_t a, std::uint32_t b, float c) {
            amd::Words<2> const x{{a | a << 16, a | a << 16}}, w{{b | b << 16, b | b << 16}};
            if (has_1k) return amd::mfma_f32_32x32x8bf16_1k(x, w, {{c}})[0];
            return amd::mfma_f32_32x32x4bf16({{x.values[0]}}, {{w.values[0]}}, {{c}})[0];
        };
        auto const power = [](int exponent) { return static_cast<std::uint32_t>(127 + exponent) << 7; };
        Results const h{of_halves(0x0200, half(1024), 1), of_halves(0x0400, half(1024), 1), of_halves(0, 0, 0x1p-130f),
                        0};
        Results const b{of_bfloats(0x0040, power(2), 0), of_bfloats(power(-64), power(-62), 0),
                        of_bfloats(0, 0, -0x1p-130f), of_bfloats(power(-64), power(-66), 0)};
        if (threadIdx.x == 0) halves = h, bfloats = b;
    };
    launch_one(each, 64);
    bool const flushes = is("gfx90a");
    float const products = has_1k ? 8 : 4;
    CHECK(halves.factor == (flushes ? 1 : 1 + 8 * 0x1p-15f * 1024));
    CHECK(halves.normal == 1 + 8 * 0x1p-14f * 1024);
    CHECK(halves.sum == (flushes ? 0 : 0x1p-130f));
    CHECK(bfloats.factor == (flushes ? 0 : products * 0x1p-125f));
    CHECK(bfloats.normal == products * 0x1p-126f);
    CHECK(bfloats.sum == (flushes ? 0 : -0x1p-130f));
    CHECK(bfloats.result == (flushes ? 0 : products * 0x1p-130f));
}

TEST_CASE("dot instructions follow RDNA 2's manual") {
    if (!is("gfx1030")) SKIP("no dot instructions");
    struct Results {
        float halves, rounded, flushed, infinite;
        std::int32_t bytes, wrapped;
    } out{};
    launch_one([&out] {
        out.halves = amd::dot2_f32_f16(half(3) | half(-5) << 16, half(7) | half(2) << 16, 0.5f);
        out.rounded = amd::dot2_f32_f16(half(1) | half(1) << 16, half(1) | half(1) << 16, 0x1p25f);
        out.flushed = amd::dot2_f32_f16(0, 0, 0x1p-130f);
        out.infinite = amd::dot2_f32_f16(0x7c00u, half(-2), 1);
        out.bytes = amd::dot4_i32_i8(0x80ff7f02u, 0x80017f03u, -7);  // -128 * -128 - 1 * 1 + 127 * 127 + 2 * 3 - 7
        out.wrapped = amd::dot4_i32_i8(1, 1, INT32_MAX);
    });
    CHECK(out.halves == 11.5f);
    CHECK(out.rounded == 0x1p25f);
    CHECK(out.flushed == 0);
    CHECK(out.infinite == -HUGE_VALF);
    CHECK(out.bytes == 128 * 128 - 1 + 127 * 127 + 6 - 7);
    CHECK(out.wrapped == INT32_MIN);
}

TEST_CASE("WMMA multiplies as RDNA's manuals say") {
    if (is("gfx1100")) {
        check<8>({16, 16, 32, 16, gfx11_row}, half, amd::wmma_f32_16x16x16_f16);
        check<8>({16, 16, 32, 16, gfx11_row}, bfloat16, amd::wmma_f32_16x16x16_bf16);
        check<4>({16, 16, 32, 16, gfx11_row}, int8, amd::wmma_i32_16x16x16_iu8);
    } else if (is("gfx1201")) {
        check<4>({16, 16, 32, 8, gfx12_row}, half, amd::wmma_f32_16x16x16_f16_gfx12);
        check<4>({16, 16, 32, 8, gfx12_row}, bfloat16, amd::wmma_f32_16x16x16_bf16_gfx12);
        check<2>({16, 16, 32, 8, gfx12_row}, int8, amd::wmma_i32_16x16x16_iu8_gfx12);
        check<2>({16, 16, 32, 8, gfx12_row}, e4m3, amd::wmma_f32_16x16x16_fp8_fp8_gfx12);
        check<2>({16, 16, 32, 8, gfx12_row}, e5m2, amd::wmma_f32_16x16x16_bf8_bf8_gfx12);
    } else {
        SKIP("no WMMA");
    }
}

TEST_CASE("sparse MMAs follow CDNA 3's and RDNA 4's manuals") {
    Layout const mfma{32, 32, 64, 8, mfma_row}, mfma16{32, 16, 64, 4, mfma_row}, gfx12{16, 32, 32, 8, gfx12_row};
    if (is("gfx942")) {
        check_sparse<amd::Integers16>(mfma, int8, amd::smfmac_i32_32x32x32_i8);
        check_sparse<amd::Floats16>(mfma16, half, amd::smfmac_f32_32x32x16_f16);
        check_sparse<amd::Floats16>(mfma16, bfloat16, amd::smfmac_f32_32x32x16_bf16);
        check_sparse<amd::Floats16>(mfma, e4m3_fnuz, amd::smfmac_f32_32x32x32_fp8_fp8);
        check_sparse<amd::Floats16>(mfma, e5m2_fnuz, amd::smfmac_f32_32x32x32_bf8_bf8);
    } else if (is("gfx1201")) {
        check_sparse<amd::Integers8>(gfx12, int8, amd::swmmac_i32_16x16x32_iu8);
        check_sparse<amd::Floats8>(gfx12, e4m3, amd::swmmac_f32_16x16x32_fp8_fp8);
        check_sparse<amd::Floats8>(gfx12, e5m2, amd::swmmac_f32_16x16x32_bf8_bf8);
    } else {
        SKIP("no sparse products");
    }
}

TEST_CASE("a device reports the emulated architecture") {
    hipDeviceProp_t properties;
    REQUIRE(hipGetDeviceProperties(&properties, 0) == hipSuccess);
    CHECK(std::string(properties.gcnArchName) == hip_on_cpu::architecture());
    CHECK(properties.warpSize == (std::string(hip_on_cpu::architecture()).rfind("gfx9", 0) == 0 ? 64 : 32));
    CHECK((properties.major == 9) == std::string(hip_on_cpu::architecture()).empty());
}
