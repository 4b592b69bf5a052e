// SPDX-License-Identifier: MIT
#pragma once

#if defined(_MSC_VER) && !defined(__clang__) && !defined(__CUDACC_RTC__)
#error "fusekit needs clang-cl or g++ of mingw-w64: cl has no vector types; cl compiles callers of the C library"
#elif defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 202002L
#error "fusekit needs C++20: compile with -std=c++20"
#include <fusekit needs C++20: compile with -std=c++20>  // a fatal error: there is no such file
#endif

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include "fusekit/abi.hpp"

/// Keeps a function out of line on CPUs; expands to nothing in device code, where all functions are inlined into the
/// kernel.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define FUSEKIT_CALLED_ON_HOST
#else
#define FUSEKIT_CALLED_ON_HOST [[gnu::noinline]]
#endif

/// Bracket code that calls operators: within them nvcc reports a device call of a host-only function as an error. By
/// default nvcc only warns, and the kernel writes nothing.
#if defined(__NVCC__)
#define FUSEKIT_BEGIN_OPERATOR_CALLS _Pragma("nv_diagnostic push") _Pragma("nv_diag_error 20011, 20014")
#define FUSEKIT_END_OPERATOR_CALLS _Pragma("nv_diagnostic pop")
#else
#define FUSEKIT_BEGIN_OPERATOR_CALLS
#define FUSEKIT_END_OPERATOR_CALLS
#endif

/// Bracket functions, at namespace scope, in which the order of floating-point operations matters: clang then does not
/// reassociate them under -ffast-math and -funsafe-math-optimizations. For AMD targets clang cannot restore a pragma,
/// so it holds to the end of the unit. g++ has no such pragma: see config::assoc_barrier.
#if defined(__AMDGCN__)
#define FUSEKIT_BEGIN_ORDERED_MATH _Pragma("clang fp reassociate(off)")
#define FUSEKIT_END_ORDERED_MATH
#elif defined(__clang__)
#define FUSEKIT_BEGIN_ORDERED_MATH _Pragma("float_control(push)") _Pragma("clang fp reassociate(off)")
#define FUSEKIT_END_ORDERED_MATH _Pragma("float_control(pop)")
#else
#define FUSEKIT_BEGIN_ORDERED_MATH
#define FUSEKIT_END_ORDERED_MATH
#endif

namespace fusekit::detail {

/// Throws `error`. Without exceptions, prints error.what() and aborts.
template <class Error>
[[noreturn, gnu::cold]] FUSEKIT_H void raise(Error const& error) {
#if defined(__cpp_exceptions) && !defined(__CUDACC_RTC__)
    throw error;
#else
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
#endif
}

}  // namespace fusekit::detail

/// Makes names of fusekit::detail visible as detail::x in the namespaces of problem/, runtime/ and the backends, each
/// of which has a namespace detail of its own.
namespace fusekit::problem::detail {
using namespace fusekit::detail;
}
namespace fusekit::hip::detail {
using namespace fusekit::detail;
}
namespace fusekit::host::inline FUSEKIT_FLAGS::detail {
using namespace fusekit::detail;
}
namespace fusekit::runtime::inline FUSEKIT_FLAGS::detail {
using namespace fusekit::detail;
}

namespace fusekit::config {

/// std::bit_cast as a function with the unit's compiler flags in its mangled name (abi.hpp). constexpr, so that device
/// code can call it.
template <class To, class From>
FUSEKIT_H constexpr To bit_cast(From const& from) {
    return __builtin_bit_cast(To, from);
}

/// std::exchange and std::swap as functions with the unit's compiler flags in their mangled names.
template <class T>
FUSEKIT_H constexpr T exchange(T& object, std::type_identity_t<T> value) {
    T const old = object;
    object = value;
    return old;
}
template <class T>
FUSEKIT_H constexpr void swap(T& a, T& b) {
    a = config::exchange(b, a);
}

/// Functions that are one instruction on a GPU; constant expressions cannot call them. The host pass has declarations
/// only, because `on_device` discards the calls there.
#if defined(__CUDA_ARCH__)
inline constexpr bool on_device = true;
__device__ inline float half_to_float(std::uint16_t bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}
__device__ inline std::uint16_t float_to_half(float value) {
    std::uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
#elif defined(__HIP_DEVICE_COMPILE__)
inline constexpr bool on_device = true;
__device__ inline float half_to_float(std::uint16_t bits) {
    return static_cast<float>(config::bit_cast<_Float16>(bits));
}
__device__ inline std::uint16_t float_to_half(float value) {
    return config::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}
#else
inline constexpr bool on_device = false;
FUSEKIT_HD float half_to_float(std::uint16_t bits);
FUSEKIT_HD std::uint16_t float_to_half(float value);
#endif

/// Conversions by instruction of e4m3 (Mantissa = 3) and e5m2 (Mantissa = 2), if has_float8. One function decodes a
/// code; one encodes two floats, the first in the lower byte of the result.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
inline constexpr bool has_float8 = true;
template <int Mantissa>
__device__ float float8_to_float(std::uint8_t code) {
    std::uint32_t halves;
    if constexpr (Mantissa == 3) asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(std::uint16_t{code}));
    else asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(std::uint16_t{code}));
    return half_to_float(static_cast<std::uint16_t>(halves));
}
template <int Mantissa>
__device__ std::uint16_t floats_to_float8(float first, float second) {
    std::uint16_t codes;
    if constexpr (Mantissa == 3) asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(second), "f"(first));
    else asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(second), "f"(first));
    return codes;
}
#else
inline constexpr bool has_float8 = false;
template <int Mantissa>
FUSEKIT_HD float float8_to_float(std::uint8_t code);
template <int Mantissa>
FUSEKIT_HD std::uint16_t floats_to_float8(float first, float second);
#endif

/// maximum() and minimum() of two floats in one instruction, if has_maximum; NaN if either is NaN.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
inline constexpr bool has_maximum = true;
__device__ inline float maximum(float a, float b) {
    float larger;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
    return larger;
}
__device__ inline float minimum(float a, float b) {
    float smaller;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(smaller) : "f"(a), "f"(b));
    return smaller;
}
#else
inline constexpr bool has_maximum = false;
FUSEKIT_HD float maximum(float a, float b);
FUSEKIT_HD float minimum(float a, float b);
#endif

/// Conversions by instruction, if has_int8. float_to_int8(): rounds to nearest even and saturates; NaN gives 0. The
/// second function converts two floats, into bytes 0 and 1 of the result, and puts the lower half of `upper` in its
/// upper half.
#if defined(__CUDA_ARCH__)
inline constexpr bool has_int8 = true;
__device__ inline std::int8_t float_to_int8(float value) {
    int integer;
    asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(integer) : "f"(value));
    return static_cast<std::int8_t>(integer);
}
__device__ inline std::uint32_t floats_to_int8(float first, float second, std::uint32_t upper = 0) {
    int integers[2];
    std::uint32_t all;
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(integers[0]) : "f"(first));
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(integers[1]) : "f"(second));
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(integers[1]), "r"(integers[0]), "r"(upper));
    return all;
}
#else
inline constexpr bool has_int8 = false;
FUSEKIT_HD std::int8_t float_to_int8(float value);
FUSEKIT_HD std::uint32_t floats_to_int8(float first, float second, std::uint32_t upper = 0);
#endif

/// Returns `value` such that the compiler does not reassociate it with the operands from which it was computed.
/// Generates no code; a no-op if the compiler preserves the order of operations anyway.
#if !defined(__ASSOCIATIVE_MATH__) || defined(__clang__) || defined(__CUDA_ARCH__)
template <class V>
FUSEKIT_HD constexpr V assoc_barrier(V value) {
    return value;
}
#elif defined(__CUDACC__)
/// assoc_barrier() for nvcc, which does not support g++'s builtin.
template <class V>
FUSEKIT_HD constexpr V assoc_barrier(V value) {
#if defined(__x86_64__)
    if (!__builtin_is_constant_evaluated()) asm("" : "+x"(value));
#else
    if (!__builtin_is_constant_evaluated()) asm("" : "+w"(value));
#endif
    return value;
}
#else
template <class V>
FUSEKIT_HD constexpr V assoc_barrier(V value) {
    return __builtin_assoc_barrier(value);
}
#endif

/// True if the compiler assumes that all numbers are finite (-ffinite-math-only).
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
inline constexpr bool assumes_finite = true;
#else
inline constexpr bool assumes_finite = false;
#endif

/// True if Plan::bind is an overload set (plan/plan.hpp).
#if defined(__CUDACC__) && !defined(__clang__)
inline constexpr bool overloads_bind = true;
#else
inline constexpr bool overloads_bind = false;
#endif

/// True if the compiler supports CPU vector extensions.
#if defined(__NVCC__)
inline constexpr bool has_vectors = false;
#else
inline constexpr bool has_vectors = true;
#endif

inline constexpr int version_major = 0;
inline constexpr int version_minor = 1;
inline constexpr int version_patch = 0;

inline namespace FUSEKIT_FLAGS {

/// Bytes of a CPU vector register; number of these registers; true if an instruction converts half to float.
#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int vector_registers = 32;
#else
inline constexpr int vector_registers = 16;
#endif

#if defined(__F16C__) && !defined(__CUDACC__)
inline constexpr bool has_f16c = true;
#else
inline constexpr bool has_f16c = false;
#endif

}  // namespace FUSEKIT_FLAGS

/// Delays a loop that waits for another thread by some cycles.
#if defined(__x86_64__)
FUSEKIT_H inline void pause() { __builtin_ia32_pause(); }
#else
FUSEKIT_H inline void pause() { asm volatile("" ::: "memory"); }
#endif

}  // namespace fusekit::config
