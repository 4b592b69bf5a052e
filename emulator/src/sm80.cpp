// SPDX-License-Identifier: MIT
#include "hip_on_cpu/sm80.hpp"

#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "asynchrony.hpp"
#include "factor.hpp"

namespace hip_on_cpu::sm80 {

namespace {

constexpr unsigned warp = 32;

struct Operands {
    std::uint32_t const *a, *b;
    void* acc;
};

/// Returns the bits of element number `element` in a lane's registers; elements have `bits` bits.
std::uint32_t bits_of(std::uint32_t const* words, unsigned element, unsigned bits) {
    unsigned const per_word = 32 / bits;
    return words[element / per_word] >> element % per_word * bits & static_cast<std::uint32_t>((1ull << bits) - 1);
}

/// mma.sync of the warp that begins at lane `first` of a wave. For half and bfloat16, with groupID = lane / 4 and t =
/// lane % 4:
///   A  ai: row = groupID for 0 <= i < 2 || 4 <= i < 6, else groupID + 8; column = 2 t + (i & 1), + 8 for i >= 4
///   B  bi: row = 2 t + (i & 1), + 8 for i >= 2; column = groupID
///   C  ci: row = groupID for i < 2, else groupID + 8; column = 2 t + (i & 1)
/// For 8-bit factors, and likewise for TF32, whose i counts single elements:
///   A  ai: row = groupID for 0 <= i < 4 || 8 <= i < 12, else groupID + 8; column = 4 t + (i & 3), + 16 for i >= 8
///   B  bi: row = 4 t + (i & 3), + 16 for i >= 4; column = groupID
///
/// Not inlined, as every lane's call would then poison the frame under AddressSanitizer.
template <class Acc, Factor factor>
__attribute__((noinline)) void multiply_all(Exchange const& wave, unsigned first) {
    constexpr unsigned bits = 8 * bytes_of(factor), elements_per_word = 32 / bits, depth = 8 * elements_per_word;
    constexpr unsigned rows = 16, columns = 8;
    double a[rows][depth], b[depth][columns];
    for (unsigned lane = 0; lane < warp; ++lane) {
        auto const* const own = reinterpret_cast<Operands const*>(wave.value[first + lane]);
        unsigned const group = lane / 4, t = lane % 4;
        for (unsigned i = 0; i < 4 * elements_per_word; ++i) {
            unsigned const row = i / elements_per_word % 2 == 0 ? group : group + 8;
            unsigned const column =
                elements_per_word * t + i % elements_per_word + (i >= 2 * elements_per_word ? depth / 2 : 0);
            a[row][column] = value_of(factor, bits_of(own->a, i, bits));
        }
        for (unsigned i = 0; i < 2 * elements_per_word; ++i)
            b[elements_per_word * t + i % elements_per_word + (i >= elements_per_word ? depth / 2 : 0)][group] =
                value_of(factor, bits_of(own->b, i, bits));
    }
    int of_a[rows][depth], of_b[depth][columns];
    if constexpr (is_float8(factor)) {
        exponents_of(factor, of_a[0], a[0], rows * depth);
        exponents_of(factor, of_b[0], b[0], depth * columns);
    }
    for (unsigned row = 0; row < rows; ++row) {
        Acc* acc[columns];
        double sums[columns];
        for (unsigned column = 0; column < columns; ++column) {
            unsigned const lane = row % 8 * 4 + column / 2;
            acc[column] = static_cast<Acc*>(reinterpret_cast<Operands const*>(wave.value[first + lane])->acc) +
                          row / 8 * 2 + column % 2;
            sums[column] = *acc[column];
        }
        if constexpr (is_float8(factor)) {  // two halves of the indices k, one after the other
            for (unsigned k = 0; k < depth; k += 16)
                add_float8_products(sums, &a[row][k], &of_a[row][k], b[k], of_b[k], 16, columns);
        } else {
            add_products(sums, a[row], b[0], depth, columns);
        }
        for (unsigned column = 0; column < columns; ++column)
            if constexpr (std::is_same_v<Acc, float>) *acc[column] = static_cast<float>(sums[column]);
            else *acc[column] = static_cast<std::int32_t>(static_cast<std::int64_t>(sums[column]));  // wraps
    }
}
void multiply_all(Factor factor, float*, Exchange const& wave, unsigned first) {
    switch (factor) {
        case Factor::half: return multiply_all<float, Factor::half>(wave, first);
        case Factor::bfloat16: return multiply_all<float, Factor::bfloat16>(wave, first);
        case Factor::tf32: return multiply_all<float, Factor::tf32>(wave, first);
        case Factor::e4m3: return multiply_all<float, Factor::e4m3>(wave, first);
        case Factor::e5m2: return multiply_all<float, Factor::e5m2>(wave, first);
        default: std::abort();  // mma.sync has no others
    }
}
void multiply_all(Factor, std::int32_t*, Exchange const& wave, unsigned first) {
    multiply_all<std::int32_t, Factor::int8>(wave, first);
}

template <class Acc>
void multiply_warp(Factor factor, Acc* acc, std::uint32_t const* a, std::uint32_t const* b,
                   SourceLocation const& location) {
    if (!*architecture() && compute_capability() < (is_float8(factor) ? 89 : 80))
        fault("mma.sync requires compute capability 8.0, with 8-bit floats 8.9", location);
    Operands own{a, b, acc};
    Exchange const& wave = running->exchange(reinterpret_cast<std::uint64_t>(&own), location);
    unsigned const first = running->lane() / warp * warp;
    if (running->lane() != first) return;  // the first lane of a warp resumes before the others, and computes for all
    for (unsigned lane = 0; lane < warp; ++lane)
        if (!wave.has(first + lane)) fault("lanes of the warp have finished before mma.sync", location);
    multiply_all(factor, acc, wave, first);
}

}  // namespace

void multiply_floats(Factor factor, float* acc, std::uint32_t const* a, std::uint32_t const* b,
                     SourceLocation const& location) {
    multiply_warp(factor, acc, a, b, location);
}
void multiply_integers(std::int32_t* acc, std::uint32_t const* a, std::uint32_t const* b,
                       SourceLocation const& location) {
    multiply_warp(Factor::int8, acc, a, b, location);
}

void ldmatrix_x4(void const* row, std::uint32_t (&elements)[4], SourceLocation location) {
    if (!*architecture() && compute_capability() < 75) fault("ldmatrix requires compute capability 7.5", location);
    auto const address = reinterpret_cast<std::uint64_t>(row);
    if (address % 16 != 0) fault("row address of ldmatrix is not a multiple of 16", location);
    Exchange const& wave = running->exchange(address, location);
    unsigned const lane = running->lane() % warp, first = running->lane() / warp * warp;
    for (unsigned matrix = 0; matrix < 4; ++matrix) {
        unsigned const source = first + 8 * matrix + lane / 4;
        if (!wave.has(source)) fault("lanes of the warp have finished before ldmatrix", location);
        std::memcpy(&elements[matrix], reinterpret_cast<std::byte const*>(wave.value[source]) + 4 * (lane % 4), 4);
    }
}

void ldmatrix_x4_trans(void const* row, std::uint32_t (&elements)[4], SourceLocation location) {
    if (!*architecture() && compute_capability() < 75) fault("ldmatrix requires compute capability 7.5", location);
    auto const address = reinterpret_cast<std::uint64_t>(row);
    if (address % 16 != 0) fault("row address of ldmatrix is not a multiple of 16", location);
    Exchange const& wave = running->exchange(address, location);
    unsigned const lane = running->lane() % warp, first = running->lane() / warp * warp;
    for (unsigned matrix = 0; matrix < 4; ++matrix)
        for (unsigned i = 0; i < 2; ++i) {
            unsigned const source = first + 8 * matrix + 2 * (lane % 4) + i;
            if (!wave.has(source)) fault("lanes of the warp have finished before ldmatrix", location);
            std::memcpy(reinterpret_cast<std::byte*>(&elements[matrix]) + 2 * i,
                        reinterpret_cast<std::byte const*>(wave.value[source]) + 2 * (lane / 4), 2);
        }
}

void copy(void* to, void const* from, unsigned bytes, bool is_read, SourceLocation location) {
    bool const whole = bytes == 4 || bytes == 8 || bytes == 16;  // the filled part of a copy has any size
    auto const both = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
    if (whole && both % bytes != 0) fault("an address of cp.async is not a multiple of its bytes", location);
    running_block().asynchrony().copy({to, from, bytes, is_read});
}
void commit_copies() { running_block().asynchrony().commit_copies(); }
void wait_for_groups(unsigned pending) { running_block().asynchrony().wait_for_groups(pending); }

}  // namespace hip_on_cpu::sm80
