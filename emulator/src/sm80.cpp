// SPDX-License-Identifier: MIT
#include "hip_on_cpu/sm80.hpp"

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
template <class Acc>
void multiply_all(Factor factor, Exchange const& wave, unsigned first) {
    unsigned const bits = 8 * bytes_of(factor), elements_per_word = 32 / bits, depth = 8 * elements_per_word;
    double a[16][32], b[8][32];  // b is stored column-major
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
            b[group][elements_per_word * t + i % elements_per_word + (i >= elements_per_word ? depth / 2 : 0)] =
                value_of(factor, bits_of(own->b, i, bits));
    }
    for (unsigned lane = 0; lane < warp; ++lane) {
        auto* const acc = static_cast<Acc*>(reinterpret_cast<Operands const*>(wave.value[first + lane])->acc);
        for (unsigned i = 0; i < 4; ++i) {
            unsigned const row = lane / 4 + (i < 2 ? 0 : 8), column = lane % 4 * 2 + (i & 1);
            if constexpr (std::is_same_v<Acc, float>)
                if (is_float8(factor)) {  // two halves of the indices k, one after the other
                    for (unsigned k = 0; k < depth; k += 16)
                        acc[i] = float8_sum(factor, acc[i], &a[row][k], &b[column][k], 16);
                    continue;
                }
            double const exact = sum_of_products(acc[i], &a[row][0], &b[column][0], depth);
            if constexpr (std::is_same_v<Acc, float>) acc[i] = static_cast<float>(exact);
            else acc[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(exact));  // wraps
        }
    }
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
    multiply_all<Acc>(factor, wave, first);
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
