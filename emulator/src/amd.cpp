// SPDX-License-Identifier: MIT
#include "hip_on_cpu/amd.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "asynchrony.hpp"
#include "factor.hpp"

namespace hip_on_cpu::amd {

namespace {

/// Location of a matrix element: the lane, and the element's index in the lane's registers.
struct Lane {
    unsigned lane, element;
};

/// A matrix instruction: D has `size` rows and columns, and k has `depth` indices.
struct Instruction {
    char const* architectures;  ///< architectures that have the instruction, each between spaces
    Factor factor;
    unsigned size, depth, lanes;
    bool copied;  ///< true if lanes 16 to 31 replicate the operands of lanes 0 to 15
    Lane (*sum)(unsigned row, unsigned column);
    bool sparse = false;  ///< true if lanes hold two elements of A for every four indices k, with 2-bit indices

    unsigned groups() const { return copied ? 1 : lanes / size; }
    unsigned factors() const { return depth / groups(); }
};

/// Location of an element of D for 32x32 MFMA: of every 8 rows, the first four are in lanes 0 to 31.
Lane mfma_sum(unsigned row, unsigned column) { return {column + 32 * (row / 4 % 2), row % 4 + 4 * (row / 8)}; }
/// Location of an element of D for 16x16 MFMA: rows 0 to 3 are in lanes 0 to 15, and so on.
Lane mfma16_sum(unsigned row, unsigned column) { return {column + 16 * (row / 4), row % 4}; }
/// Location of an element of D for gfx11's WMMA: even rows are in lanes 0 to 15.
Lane gfx11_sum(unsigned row, unsigned column) { return {column + 16 * (row % 2), row / 2}; }
/// Location of an element of D for gfx12's WMMA: rows 0 to 7 are in lanes 0 to 15.
Lane gfx12_sum(unsigned row, unsigned column) { return {column + 16 * (row / 8), row % 8}; }

/// True if the device's MFMA flushes subnormal operands of this type, and subnormal accumulators, to zero.
bool flushes(Factor factor) {
    static bool const is_gfx90a = std::strcmp(architecture(), "gfx90a") == 0;
    return is_gfx90a && (factor == Factor::half || factor == Factor::bfloat16);
}
float flushed(float value) { return std::fpclassify(value) == FP_SUBNORMAL ? 0.0f : value; }
/// Magnitude below which the device's MFMA reads an operand of this type as zero; 0 if there is none.
double smallest_read(Factor factor) { return !flushes(factor) ? 0 : factor == Factor::half ? 0x1p-14 : 0x1p-126; }

struct Operands {
    void const *a, *b;
    void* acc;
    std::uint32_t indices = 0;
};

/// Returns operand A, (M, K), or B, (K, N), assembled from the lanes' registers. `factor` is a constant because this is
/// the inner loop of most emulated kernels.
template <Factor factor>
std::vector<double> factors_as(Instruction const& instruction, Exchange const& wave, void const* Operands::* side) {
    using Bits = std::conditional_t<bytes_of(factor) == 1, std::uint8_t,
                                    std::conditional_t<bytes_of(factor) == 2, std::uint16_t, std::uint32_t>>;
    unsigned const per = instruction.factors();
    double const smallest = smallest_read(factor);
    std::vector<double> factors(instruction.size * instruction.depth);
    bool const is_a = side == &Operands::a;
    unsigned const along_row = is_a ? instruction.depth : 1, along_k = is_a ? 1 : instruction.size;
    for (unsigned row = 0; row < instruction.size; ++row)
        for (unsigned group = 0; group < instruction.groups(); ++group) {
            auto const* const lane = reinterpret_cast<Operands const*>(wave.value[row + instruction.size * group]);
            Bits bits[16];
            std::memcpy(bits, lane->*side, per * sizeof(Bits));
            for (unsigned k = 0; k < per; ++k) {
                double const value = value_of(factor, bits[k]);
                factors[row * along_row + (group * per + k) * along_k] = std::fabs(value) < smallest ? 0 : value;
            }
        }
    return factors;
}
std::vector<double> factors_of(Instruction const& instruction, Exchange const& wave, void const* Operands::* side) {
    switch (instruction.factor) {
        case Factor::half: return factors_as<Factor::half>(instruction, wave, side);
        case Factor::bfloat16: return factors_as<Factor::bfloat16>(instruction, wave, side);
        case Factor::int8: return factors_as<Factor::int8>(instruction, wave, side);
        case Factor::tf32: return factors_as<Factor::tf32>(instruction, wave, side);
        case Factor::float32: return factors_as<Factor::float32>(instruction, wave, side);
        case Factor::e4m3: return factors_as<Factor::e4m3>(instruction, wave, side);
        case Factor::e5m2: return factors_as<Factor::e5m2>(instruction, wave, side);
        case Factor::e4m3_fnuz: return factors_as<Factor::e4m3_fnuz>(instruction, wave, side);
        case Factor::e5m2_fnuz: return factors_as<Factor::e5m2_fnuz>(instruction, wave, side);
    }
    std::abort();
}

/// Row of a sparse A: its elements, and the index k of each. Elements of B at other indices k are not multiplied: they
/// may be NaN.
struct SparseFactors {
    std::vector<double> a;
    std::vector<unsigned> k;
};
SparseFactors sparse_factors_of(Instruction const& instruction, Exchange const& wave, unsigned row,
                                SourceLocation const& location) {
    unsigned const per = instruction.factors() / 2;
    SparseFactors factors;
    for (unsigned e = 0; e < instruction.depth / 2; ++e) {
        auto const* const lane = reinterpret_cast<Operands const*>(wave.value[row + instruction.size * (e / per)]);
        auto const index = [&](unsigned of) { return lane->indices >> 2 * of & 3; };
        unsigned const own = e % per;
        if (own % 2 == 1 && index(own) <= index(own - 1))
            fault("the two indices of a sparse MMA are not in ascending order", location);
        unsigned const bytes = bytes_of(instruction.factor);
        unsigned bits = 0;
        std::memcpy(&bits, static_cast<std::byte const*>(lane->a) + own * bytes, bytes);
        factors.a.push_back(value_of(instruction.factor, bits));
        factors.k.push_back(e / 2 * 4 + index(own));
    }
    return factors;
}

void check_copies(Exchange const& wave, std::size_t bytes, SourceLocation const& location) {
    for (unsigned lane = 0; lane < 16; ++lane) {
        auto const *const first = reinterpret_cast<Operands const*>(wave.value[lane]),
                          *const second = reinterpret_cast<Operands const*>(wave.value[lane + 16]);
        if (std::memcmp(first->a, second->a, bytes) != 0 || std::memcmp(first->b, second->b, bytes) != 0)
            fault("lanes 16 to 31 of a WMMA do not replicate the operands of lanes 0 to 15", location);
    }
}

/// Computes D of the wave. Called by the first lane, which writes each lane's accumulators. Not inlined, as every
/// lane's call would then poison the frame under AddressSanitizer.
template <class Acc>
__attribute__((noinline)) void multiply_all(Instruction const& instruction, Exchange const& wave,
                                            SourceLocation const& location) {
    unsigned const depth = instruction.depth, size = instruction.size;
    std::vector<double> a;
    if (!instruction.sparse) a = factors_of(instruction, wave, &Operands::a);
    auto const b = factors_of(instruction, wave, &Operands::b);
    Acc* of_lane[widest_wave];
    for (unsigned lane = 0; lane < instruction.lanes; ++lane)
        of_lane[lane] = static_cast<Acc*>(reinterpret_cast<Operands const*>(wave.value[lane])->acc);
    bool const flushes_acc = std::is_same_v<Acc, float> && flushes(instruction.factor);
    for (unsigned row = 0; row < size; ++row) {
        Acc* acc[32];
        double sums[32];
        for (unsigned column = 0; column < size; ++column) {
            Lane const at = instruction.sum(row, column);
            acc[column] = &of_lane[at.lane][at.element];
            sums[column] = flushes_acc ? flushed(static_cast<float>(*acc[column])) : *acc[column];
        }
        if (instruction.sparse) {
            SparseFactors const sparse = sparse_factors_of(instruction, wave, row, location);
            for (unsigned e = 0; e < depth / 2; ++e) add_products(sums, &sparse.a[e], &b[sparse.k[e] * size], 1, size);
        } else if (instruction.factor == Factor::float32) {
            for (unsigned k = 0; k < depth; ++k) {
                add_products(sums, &a[row * depth + k], &b[k * size], 1, size);
                for (unsigned column = 0; column < size; ++column) sums[column] = static_cast<float>(sums[column]);
            }
        } else {
            add_products(sums, &a[row * depth], b.data(), depth, size);
        }
        for (unsigned column = 0; column < size; ++column)
            if constexpr (std::is_same_v<Acc, float>) {
                auto const sum = static_cast<float>(sums[column]);
                *acc[column] = flushes_acc ? flushed(sum) : sum;
            } else {
                *acc[column] = static_cast<std::int32_t>(static_cast<std::int64_t>(sums[column]));  // wraps
            }
    }
}

/// Aborts if the device's architecture is not in `architectures`.
void check_architecture(char const* architectures, char const* what, SourceLocation const& location) {
    static std::string const own = std::string(" ") + architecture() + " ";
    thread_local char const* last = nullptr;  // most calls repeat the one before
    if (last == architectures) return;
    if (std::strstr(architectures, own.c_str())) last = architectures;
    else
        fault((std::string("no such ") + what + " instruction on " + (*architecture() ? architecture() : "this device"))
                  .c_str(),
              location);
}

template <class A, class B, class Accumulators>
Accumulators const& multiply(Instruction const& instruction, A const& a, B const& b, Accumulators& c,
                             SourceLocation const& location, std::uint32_t indices = 0) {
    check_architecture(instruction.architectures, "matrix", location);
    Operands own{&a, &b, &c, indices};
    Exchange const& wave = running->exchange(reinterpret_cast<std::uint64_t>(&own), location);
    if (std::popcount(wave.present) != static_cast<int>(instruction.lanes))
        fault("lanes of the wave have finished before a matrix instruction", location);
    if (running->lane() == 0) {  // the first lane to resume
        if (instruction.copied) check_copies(wave, sizeof a, location);
        multiply_all<std::remove_cvref_t<decltype(c[0])>>(instruction, wave, location);
    }
    return c;
}

constexpr char cdna[] = " gfx908 gfx90a gfx942 ", before_cdna3[] = " gfx908 gfx90a ", from_cdna2[] = " gfx90a gfx942 ",
               cdna3[] = " gfx942 ", rdna2[] = " gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 ",
               rdna3[] = " gfx1100 gfx1101 gfx1102 gfx1103 ", rdna4[] = " gfx1200 gfx1201 ";

}  // namespace

Floats16 mfma_f32_32x32x8f16(Words<2> a, Words<2> b, Floats16 c, SourceLocation location) {
    return multiply({cdna, Factor::half, 32, 8, 64, false, mfma_sum}, a, b, c, location);
}
Floats16 mfma_f32_32x32x4bf16(Words<1> a, Words<1> b, Floats16 c, SourceLocation location) {
    return multiply({before_cdna3, Factor::bfloat16, 32, 4, 64, false, mfma_sum}, a, b, c, location);
}
Floats16 mfma_f32_32x32x8bf16_1k(Words<2> a, Words<2> b, Floats16 c, SourceLocation location) {
    return multiply({from_cdna2, Factor::bfloat16, 32, 8, 64, false, mfma_sum}, a, b, c, location);
}
Floats4 mfma_f32_16x16x16f16(Words<2> a, Words<2> b, Floats4 c, SourceLocation location) {
    return multiply({cdna, Factor::half, 16, 16, 64, false, mfma16_sum}, a, b, c, location);
}
Floats4 mfma_f32_16x16x16bf16_1k(Words<2> a, Words<2> b, Floats4 c, SourceLocation location) {
    return multiply({from_cdna2, Factor::bfloat16, 16, 16, 64, false, mfma16_sum}, a, b, c, location);
}
Integers16 mfma_i32_32x32x8i8(Words<1> a, Words<1> b, Integers16 c, SourceLocation location) {
    return multiply({before_cdna3, Factor::int8, 32, 8, 64, false, mfma_sum}, a, b, c, location);
}
Integers16 mfma_i32_32x32x16_i8(Words<2> a, Words<2> b, Integers16 c, SourceLocation location) {
    return multiply({cdna3, Factor::int8, 32, 16, 64, false, mfma_sum}, a, b, c, location);
}
Floats16 mfma_f32_32x32x16_fp8_fp8(Words<2> a, Words<2> b, Floats16 c, SourceLocation location) {
    return multiply({cdna3, Factor::e4m3_fnuz, 32, 16, 64, false, mfma_sum}, a, b, c, location);
}
Floats16 mfma_f32_32x32x16_bf8_bf8(Words<2> a, Words<2> b, Floats16 c, SourceLocation location) {
    return multiply({cdna3, Factor::e5m2_fnuz, 32, 16, 64, false, mfma_sum}, a, b, c, location);
}

Floats16 mfma_f32_32x32x2f32(Words<1> a, Words<1> b, Floats16 c, SourceLocation location) {
    return multiply({cdna, Factor::float32, 32, 2, 64, false, mfma_sum}, a, b, c, location);
}
Floats16 mfma_f32_32x32x4_xf32(Words<2> a, Words<2> b, Floats16 c, SourceLocation location) {
    return multiply({cdna3, Factor::tf32, 32, 4, 64, false, mfma_sum}, a, b, c, location);
}

Floats8 wmma_f32_16x16x16_f16(Words<8> a, Words<8> b, Floats8 c, SourceLocation location) {
    return multiply({rdna3, Factor::half, 16, 16, 32, true, gfx11_sum}, a, b, c, location);
}
Floats8 wmma_f32_16x16x16_bf16(Words<8> a, Words<8> b, Floats8 c, SourceLocation location) {
    return multiply({rdna3, Factor::bfloat16, 16, 16, 32, true, gfx11_sum}, a, b, c, location);
}
Integers8 wmma_i32_16x16x16_iu8(Words<4> a, Words<4> b, Integers8 c, SourceLocation location) {
    return multiply({rdna3, Factor::int8, 16, 16, 32, true, gfx11_sum}, a, b, c, location);
}
Floats8 wmma_f32_16x16x16_f16_gfx12(Words<4> a, Words<4> b, Floats8 c, SourceLocation location) {
    return multiply({rdna4, Factor::half, 16, 16, 32, false, gfx12_sum}, a, b, c, location);
}
Floats8 wmma_f32_16x16x16_bf16_gfx12(Words<4> a, Words<4> b, Floats8 c, SourceLocation location) {
    return multiply({rdna4, Factor::bfloat16, 16, 16, 32, false, gfx12_sum}, a, b, c, location);
}
Integers8 wmma_i32_16x16x16_iu8_gfx12(Words<2> a, Words<2> b, Integers8 c, SourceLocation location) {
    return multiply({rdna4, Factor::int8, 16, 16, 32, false, gfx12_sum}, a, b, c, location);
}
Floats8 wmma_f32_16x16x16_fp8_fp8_gfx12(Words<2> a, Words<2> b, Floats8 c, SourceLocation location) {
    return multiply({rdna4, Factor::e4m3, 16, 16, 32, false, gfx12_sum}, a, b, c, location);
}
Floats8 wmma_f32_16x16x16_bf8_bf8_gfx12(Words<2> a, Words<2> b, Floats8 c, SourceLocation location) {
    return multiply({rdna4, Factor::e5m2, 16, 16, 32, false, gfx12_sum}, a, b, c, location);
}

Integers16 smfmac_i32_32x32x32_i8(Words<2> a, Words<4> b, Integers16 c, std::uint32_t indices,
                                  SourceLocation location) {
    return multiply({cdna3, Factor::int8, 32, 32, 64, false, mfma_sum, true}, a, b, c, location, indices);
}
Floats16 smfmac_f32_32x32x16_f16(Words<2> a, Words<4> b, Floats16 c, std::uint32_t indices, SourceLocation location) {
    return multiply({cdna3, Factor::half, 32, 16, 64, false, mfma_sum, true}, a, b, c, location, indices);
}
Floats16 smfmac_f32_32x32x16_bf16(Words<2> a, Words<4> b, Floats16 c, std::uint32_t indices, SourceLocation location) {
    return multiply({cdna3, Factor::bfloat16, 32, 16, 64, false, mfma_sum, true}, a, b, c, location, indices);
}
Floats16 smfmac_f32_32x32x32_fp8_fp8(Words<2> a, Words<4> b, Floats16 c, std::uint32_t indices,
                                     SourceLocation location) {
    return multiply({cdna3, Factor::e4m3_fnuz, 32, 32, 64, false, mfma_sum, true}, a, b, c, location, indices);
}
Floats16 smfmac_f32_32x32x32_bf8_bf8(Words<2> a, Words<4> b, Floats16 c, std::uint32_t indices,
                                     SourceLocation location) {
    return multiply({cdna3, Factor::e5m2_fnuz, 32, 32, 64, false, mfma_sum, true}, a, b, c, location, indices);
}
Floats8 swmmac_f32_16x16x32_fp8_fp8(Words<2> a, Words<4> b, Floats8 c, std::uint32_t indices, SourceLocation location) {
    return multiply({rdna4, Factor::e4m3, 16, 32, 32, false, gfx12_sum, true}, a, b, c, location, indices);
}
Floats8 swmmac_f32_16x16x32_bf8_bf8(Words<2> a, Words<4> b, Floats8 c, std::uint32_t indices, SourceLocation location) {
    return multiply({rdna4, Factor::e5m2, 16, 32, 32, false, gfx12_sum, true}, a, b, c, location, indices);
}
Integers8 swmmac_i32_16x16x32_iu8(Words<2> a, Words<4> b, Integers8 c, std::uint32_t indices, SourceLocation location) {
    return multiply({rdna4, Factor::int8, 16, 32, 32, false, gfx12_sum, true}, a, b, c, location, indices);
}

float dot2_f32_f16(std::uint32_t a, std::uint32_t b, float c, SourceLocation location) {
    check_architecture(rdna2, "dot", location);
    double sum = flushed(c);
    for (unsigned i = 0; i < 2; ++i)
        sum += value_of(Factor::half, a >> 16 * i & 0xffff) * value_of(Factor::half, b >> 16 * i & 0xffff);
    return flushed(static_cast<float>(sum));
}
std::int32_t dot4_i32_i8(std::uint32_t a, std::uint32_t b, std::int32_t c, SourceLocation location) {
    check_architecture(rdna2, "dot", location);
    std::int64_t sum = c;
    for (unsigned i = 0; i < 4; ++i) sum += static_cast<std::int8_t>(a >> 8 * i) * static_cast<std::int8_t>(b >> 8 * i);
    return static_cast<std::int32_t>(sum);
}

}  // namespace hip_on_cpu::amd
