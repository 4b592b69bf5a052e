// SPDX-License-Identifier: MIT
#pragma once

/// Marks a function that runs on the host and on the device. The only macro a user's operator needs.
#if defined(__CUDACC__) || defined(__HIP__)
#define FUSEKIT_HD __host__ __device__
#else
#define FUSEKIT_HD
#endif

namespace fusekit::config {

inline constexpr int version_major = 0;
inline constexpr int version_minor = 1;
inline constexpr int version_patch = 0;

/// What this translation unit was compiled for: bytes of a CPU vector register, how many there are, and
/// whether the CPU converts half to float itself.
#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
inline constexpr int vector_registers = 32;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
inline constexpr int vector_registers = 16;
#elif defined(__aarch64__)
inline constexpr int vector_bytes = 16;
inline constexpr int vector_registers = 32;
#else
inline constexpr int vector_bytes = 16;
inline constexpr int vector_registers = 16;
#endif

#if defined(__F16C__) && !defined(__CUDACC__)
inline constexpr bool has_f16c = true;
#else
inline constexpr bool has_f16c = false;
#endif

}  // namespace fusekit::config
