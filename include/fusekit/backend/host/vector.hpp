// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "fusekit/config.hpp"
#include "fusekit/tensor/no_output.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// CPU register of floats: a vector extension of g++ and clang, with lane-wise +, *, < and ?:.
//
// It vectorizes at every optimisation level, needs no package and takes no time to include. With g++ 12 on Debian 12,
// <experimental/simd> takes 1.7 s to include, and plain loops depend on the user's flags: a loop with a clamp or an exp
// is not vectorized while floating-point traps are on, the default. Highway is a package to install and link.
using Vector [[gnu::vector_size(config::vector_bytes)]] = float;

/// CPU register of 32-bit integers, with as many lanes as Vector.
using Integers [[gnu::vector_size(config::vector_bytes)]] = std::int32_t;

/// Register type of accumulators Acc, which are of type float or std::int32_t; next, that of the accumulators of a
/// convolution of T.
template <class Acc>
using RegisterOf = std::conditional_t<std::is_same_v<Acc, std::int32_t>, Integers, Vector>;
template <Element T>
using AccVector = RegisterOf<detail::AccumulatorOf<T>>;

inline constexpr int lanes = config::vector_bytes / static_cast<int>(sizeof(float));

namespace detail {

using Words [[gnu::vector_size(config::vector_bytes)]] = std::uint32_t;
using Shorts [[gnu::vector_size(config::vector_bytes / 2)]] = std::uint16_t;
using Bytes [[gnu::vector_size(config::vector_bytes / 4)]] = std::int8_t;
using Codes [[gnu::vector_size(config::vector_bytes / 4)]] = std::uint8_t;

template <class T>
T read(void const* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

/// F16C conversion of eight elements. A template, so that the builtin is looked up only if it exists.
template <class Halves>
void eight_floats(float* to, Halves const& from) {
    auto const floats = __builtin_ia32_vcvtph2ps256(from);
    std::memcpy(to, &floats, sizeof floats);
}
template <class Floats>
void eight_halves(half* to, Floats const& from) {
    auto const halves = __builtin_ia32_vcvtps2ph256(from, 0);  // 0: round to nearest even
    std::memcpy(static_cast<void*>(to), &halves, sizeof halves);
}
using EightHalves [[gnu::vector_size(16)]] = short;
using EightFloats [[gnu::vector_size(32)]] = float;

}  // namespace detail

/// Loads `lanes` contiguous elements as floats, from any alignment.
inline Vector load(float const* from) { return detail::read<Vector>(from); }

inline Vector load(bfloat16 const* from) {
    auto const words = __builtin_convertvector(detail::read<detail::Shorts>(from), detail::Words) << 16;
    return config::bit_cast<Vector>(words);
}

template <class Half>
    requires std::same_as<Half, half>
Vector load(Half const* from) {
    Vector v;
    float floats[lanes];
    if constexpr (config::has_f16c && sizeof(Half) == 2)
        for (int i = 0; i < lanes; i += 8)
            detail::eight_floats(floats + i, detail::read<detail::EightHalves>(from + i));
    else
        for (int i = 0; i < lanes; ++i) floats[i] = from[i];
    std::memcpy(&v, floats, sizeof v);
    return v;
}

inline void store(float* to, Vector v) { std::memcpy(to, &v, sizeof v); }

inline void store(bfloat16* to, Vector v) {
    auto const words = config::bit_cast<detail::Words>(v);
    detail::Words const rounded = (words + 0x7fffu + ((words >> 16) & 1u)) >> 16;
    detail::Words const quiet = (words >> 16) | 0x40u;
    auto const shorts = __builtin_convertvector((words & 0x7fffffffu) > 0x7f800000u ? quiet : rounded, detail::Shorts);
    std::memcpy(static_cast<void*>(to), &shorts, sizeof shorts);
}

template <class Half>
    requires std::same_as<Half, half>
void store(Half* to, Vector v) {
    float floats[lanes];
    std::memcpy(floats, &v, sizeof v);
    if constexpr (config::has_f16c && sizeof(Half) == 2)
        for (int i = 0; i < lanes; i += 8) detail::eight_halves(to + i, detail::read<detail::EightFloats>(floats + i));
    else
        for (int i = 0; i < lanes; ++i) to[i] = half(floats[i]);
}

inline Vector load(int8 const* from) { return __builtin_convertvector(detail::read<detail::Bytes>(from), Vector); }

inline void store(int8* to, Vector v) {
    constexpr float round = 0x1.8p23f;  // rounds to an integer in the mantissa, as int8's conversion does
    Vector const low = v < -128.0f ? Vector{} - 128.0f : v, high = low > 127.0f ? Vector{} + 127.0f : low;
    Vector const clamped = high == high ? high : Vector{};
    auto const integers = config::bit_cast<Integers>(clamped + round) - config::bit_cast<std::int32_t>(round);
    auto const bytes = __builtin_convertvector(integers, detail::Bytes);
    std::memcpy(static_cast<void*>(to), &bytes, sizeof bytes);
}

template <int Mantissa, bool is_fnuz>
Vector load(Float8<Mantissa, is_fnuz> const* from) {
    auto const codes = __builtin_convertvector(detail::read<detail::Codes>(from), detail::Words);
    return Float8<Mantissa, is_fnuz>::Format::template decode<Vector>(codes);
}
template <int Mantissa, bool is_fnuz>
void store(Float8<Mantissa, is_fnuz>* to, Vector v) {
    auto const words = Float8<Mantissa, is_fnuz>::Format::template encode<detail::Words>(v);
    auto const codes = __builtin_convertvector(words, detail::Codes);
    std::memcpy(static_cast<void*>(to), &codes, sizeof codes);
}

inline void store(detail::NoElement*, Vector) {}

inline Integers load(std::int32_t const* from) { return detail::read<Integers>(from); }
inline void store(std::int32_t* to, Integers v) { std::memcpy(to, &v, sizeof v); }
inline Vector floats(Integers v) { return __builtin_convertvector(v, Vector); }
inline Vector floats(Vector v) { return v; }

/// Loads `lanes` contiguous elements in the accumulator type of convolutions of T.
template <class Acc, Element T>
RegisterOf<Acc> load_widened_to(T const* from) {
    if constexpr (std::same_as<Acc, std::int32_t>)
        return __builtin_convertvector(detail::read<detail::Bytes>(from), Integers);
    else return load(from);
}
template <Element T>
AccVector<T> load_widened(T const* from) {
    return load_widened_to<detail::AccumulatorOf<T>>(from);
}

/// Loads `count` of `lanes` elements, `stride` apart; zero in the other lanes.
template <class Acc, Element T>
RegisterOf<Acc> load_widened_to(T const* from, std::int64_t stride, int count) {
    if (stride == 1 && count == lanes) return load_widened_to<Acc>(from);
    RegisterOf<Acc> v{};
    for (int i = 0; i < count; ++i) v[i] = detail::widened_to<Acc>(from[i * stride]);
    return v;
}
template <Element T>
AccVector<T> load_widened(T const* from, std::int64_t stride, int count) {
    return load_widened_to<detail::AccumulatorOf<T>>(from, stride, count);
}
template <Element T>
Vector load(T const* from, std::int64_t stride, int count) {
    if (stride == 1 && count == lanes) return load(from);
    Vector v{};
    for (int i = 0; i < count; ++i) v[i] = from[i * stride];
    return v;
}

namespace detail {

/// Copies the first `count` elements of a vector, fewer than `lanes`: a copy for each bit of `count`.
template <class T>
void copy_first(T* to, T const* from, int count) {
    auto const copy = [&]<int Size>(std::integral_constant<int, Size>) {
        if (!(count & Size)) return;
        std::memcpy(static_cast<void*>(to), from, Size * sizeof(T));
        to += Size, from += Size;
    };
    if constexpr (lanes > 8) copy(std::integral_constant<int, 8>{});
    if constexpr (lanes > 4) copy(std::integral_constant<int, 4>{});
    copy(std::integral_constant<int, 2>{});
    copy(std::integral_constant<int, 1>{});
}

}  // namespace detail

template <detail::OutputElement T>
void store(T* to, std::int64_t stride, int count, Vector v) {
    if constexpr (!std::is_same_v<T, detail::NoElement>) {
        if (stride == 1 && count == lanes) return store(to, v);
        T all[lanes];
        store(all, v);
        if (stride == 1) return detail::copy_first(to, all, count);
        for (int i = 0; i < count; ++i) to[i * stride] = all[i];
    }
}

namespace detail {

/// Interleaves two registers from element F on: a[F], b[F], a[F + 1], b[F + 1], ... Written out, because nvcc does not
/// expand a pack in the builtin.
template <int F, class Register>
[[gnu::always_inline]] inline Register interleave(Register a, Register b) {
    constexpr int n = lanes;
    if constexpr (n == 4) return __builtin_shufflevector(a, b, F, n + F, F + 1, n + F + 1);
    else if constexpr (n == 8)
        return __builtin_shufflevector(a, b, F, n + F, F + 1, n + F + 1, F + 2, n + F + 2, F + 3, n + F + 3);
    else
        return __builtin_shufflevector(a, b, F, n + F, F + 1, n + F + 1, F + 2, n + F + 2, F + 3, n + F + 3, F + 4,
                                       n + F + 4, F + 5, n + F + 5, F + 6, n + F + 6, F + 7, n + F + 7);
}

/// One of the log2(lanes) steps of a transpose: interleaves the first half of the rows with the second half.
template <class Register, int... Nth>
[[gnu::always_inline]] inline void interleave_rows(Register (&rows)[lanes], std::integer_sequence<int, Nth...>) {
    constexpr int half = lanes / 2;
    Register const mixed[] = {interleave<Nth % 2 * half>(rows[Nth / 2], rows[half + Nth / 2])...};
    ((rows[Nth] = mixed[Nth]), ...);
}

}  // namespace detail

/// Transposes in place, rows[i][j] <-> rows[j][i], in log2(lanes) steps.
template <int Round = 1, class Register>
[[gnu::always_inline]] inline void transpose(Register (&rows)[lanes]) {
    if constexpr (Round < lanes) {
        detail::interleave_rows(rows, std::make_integer_sequence<int, lanes>{});
        transpose<2 * Round>(rows);
    }
}

/// Mask of the first `count` lanes.
inline Integers first_lanes(int count) {
    Integers lane;
    for (int i = 0; i < lanes; ++i) lane[i] = i;
    return lane < count;
}

/// Functions on a struct of vectors, such as Moments<Vector>: of_lane() reads one lane as a struct of floats,
/// set_lane() writes one lane.
template <class Floats, class Vectors>
Floats of_lane(Vectors const& vectors, int lane) {
    constexpr int fields = sizeof(Vectors) / sizeof(Vector);
    static_assert(sizeof(Floats) == fields * sizeof(float));
    Floats result;
    for (int i = 0; i < fields; ++i)
        std::memcpy(reinterpret_cast<float*>(&result) + i,
                    reinterpret_cast<float const*>(&vectors) + (i * lanes + lane), sizeof(float));
    return result;
}
template <class Vectors, class Floats>
void set_lane(Vectors& vectors, int lane, Floats const& value) {
    constexpr int fields = sizeof(Vectors) / sizeof(Vector);
    static_assert(sizeof(Floats) == fields * sizeof(float));
    for (int i = 0; i < fields; ++i)
        std::memcpy(reinterpret_cast<float*>(&vectors) + (i * lanes + lane), reinterpret_cast<float const*>(&value) + i,
                    sizeof(float));
}

/// Merges the totals (such as Moments) of all lanes into one, pairwise.
template <class Floats, class Vectors>
Floats merge_lanes(Vectors totals) {
    constexpr std::size_t fields = sizeof(Vectors) / sizeof(Vector);
    for (int apart = lanes / 2; apart > 0; apart /= 2) {
        float twice[fields][2 * lanes];
        for (int half = 0; half < 2; ++half)
            for (std::size_t i = 0; i < fields; ++i)
                store(twice[i] + half * lanes, reinterpret_cast<Vector const*>(&totals)[i]);
        Vectors others;
        for (std::size_t i = 0; i < fields; ++i) reinterpret_cast<Vector*>(&others)[i] = load(twice[i] + apart);
        totals = merge(totals, others);
    }
    return of_lane<Floats>(totals, 0);
}

}  // namespace fusekit::host::inline FUSEKIT_FLAGS

FUSEKIT_END_ORDERED_MATH
