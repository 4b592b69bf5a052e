// SPDX-License-Identifier: MIT
#pragma once

// A program may link translation units (units) that are compiled with different flags (CPUs, exceptions, fast math) or
// by different compilers. Of several inline functions with the same mangled name the linker keeps one, so the name of
// each function encodes the flags on which its machine code depends. Names of types do not: units exchange tensors,
// plans, prepared runs and errors.
//
// A prepared run, a Layer and a runtime::Handle contain pointers to code of the unit that constructed them. For this
// reason a table of function pointers is a static of a function, special members of types with Text are declared, and
// config::bit_cast, config::exchange, config::swap and detail::Maybe replace the C++ library's, whose mangled names do
// not encode flags.
//
// clang defines no macro for -funsafe-math-optimizations alone: functions of a unit with this flag have the same names
// as those of a unit without it.

/// FUSEKIT_LETTER(flag, letter) expands to the letter if the compiler defines the flag as 1, else to nothing.
#define FUSEKIT_DEFINED_1 ~,
#define FUSEKIT_SECOND(first, second, ...) second
#define FUSEKIT_SECOND_OF(...) FUSEKIT_SECOND(__VA_ARGS__)
#define FUSEKIT_LETTER_OF(flag, letter) FUSEKIT_SECOND_OF(FUSEKIT_DEFINED_##flag letter, , )
#define FUSEKIT_LETTER(flag, letter) FUSEKIT_LETTER_OF(flag, letter)
#define FUSEKIT_JOIN_ALL(a, b, c, d, e, f, g, h, i, j, k, l) a##b##c##d##e##f##g##h##i##j##k##l
#define FUSEKIT_JOIN(...) FUSEKIT_JOIN_ALL(__VA_ARGS__)
#define FUSEKIT_TEXT_OF(...) #__VA_ARGS__
#define FUSEKIT_TEXT(...) FUSEKIT_TEXT_OF(__VA_ARGS__)

// clang-format off

#if !defined(__cpp_exceptions)
#define FUSEKIT_NO_EXCEPTIONS 1
#endif

#define FUSEKIT_COMPILER_LETTERS \
    FUSEKIT_JOIN(FUSEKIT_LETTER(__clang__, c), FUSEKIT_LETTER(__HIP__, h), FUSEKIT_LETTER(__NVCC__, n), \
                 FUSEKIT_LETTER(FUSEKIT_NO_EXCEPTIONS, e), FUSEKIT_LETTER(FUSEKIT_COMPILES_LATER, l), \
                 FUSEKIT_LETTER(FUSEKIT_NVTX, x), FUSEKIT_LETTER(FUSEKIT_ROCTX, r), \
                 FUSEKIT_LETTER(__CUDACC_RDC__, d), , , , )

#define FUSEKIT_MATH_LETTERS \
    FUSEKIT_JOIN(FUSEKIT_LETTER(__FAST_MATH__, f), FUSEKIT_LETTER(__FINITE_MATH_ONLY__, i), \
                 FUSEKIT_LETTER(__ASSOCIATIVE_MATH__, a), FUSEKIT_LETTER(__RECIPROCAL_MATH__, r), \
                 FUSEKIT_LETTER(__NO_SIGNED_ZEROS__, z), FUSEKIT_LETTER(__USE_FAST_MATH__, u), \
                 FUSEKIT_LETTER(__CLANG_GPU_APPROX_TRANSCENDENTALS__, t), , , , , )

#define FUSEKIT_SSE_LETTERS \
    FUSEKIT_JOIN(FUSEKIT_LETTER(__SSE3__, 3), FUSEKIT_LETTER(__SSSE3__, s), FUSEKIT_LETTER(__SSE4_1__, 4), \
                 FUSEKIT_LETTER(__SSE4_2__, 2), FUSEKIT_LETTER(__POPCNT__, p), FUSEKIT_LETTER(__LZCNT__, l), \
                 FUSEKIT_LETTER(__BMI__, b), FUSEKIT_LETTER(__BMI2__, i), FUSEKIT_LETTER(__MOVBE__, m), \
                 FUSEKIT_LETTER(__SSE4A__, a), FUSEKIT_LETTER(__GFNI__, g), FUSEKIT_LETTER(__APX_F__, x))

#define FUSEKIT_AVX_LETTERS \
    FUSEKIT_JOIN(FUSEKIT_LETTER(__AVX__, a), FUSEKIT_LETTER(__AVX2__, 2), FUSEKIT_LETTER(__FMA__, f), \
                 FUSEKIT_LETTER(__F16C__, h), FUSEKIT_LETTER(__FMA4__, 4), FUSEKIT_LETTER(__XOP__, x), \
                 FUSEKIT_LETTER(__AVXVNNI__, v), FUSEKIT_LETTER(__AVXVNNIINT8__, 8), FUSEKIT_LETTER(__AVXIFMA__, i), \
                 FUSEKIT_LETTER(__AVXNECONVERT__, n), FUSEKIT_LETTER(__VAES__, s), FUSEKIT_LETTER(__AVX10_1__, t))

#define FUSEKIT_AVX512_LETTERS \
    FUSEKIT_JOIN(FUSEKIT_LETTER(__AVX512F__, f), FUSEKIT_LETTER(__AVX512CD__, c), FUSEKIT_LETTER(__AVX512BW__, b), \
                 FUSEKIT_LETTER(__AVX512DQ__, d), FUSEKIT_LETTER(__AVX512VL__, l), FUSEKIT_LETTER(__AVX512IFMA__, i), \
                 FUSEKIT_LETTER(__AVX512VBMI__, v), FUSEKIT_LETTER(__AVX512VBMI2__, 2), \
                 FUSEKIT_LETTER(__AVX512VNNI__, n), FUSEKIT_LETTER(__AVX512BITALG__, p), \
                 FUSEKIT_LETTER(__AVX512BF16__, 6), FUSEKIT_LETTER(__AVX512FP16__, h))

#define FUSEKIT_ARM_LETTERS \
    FUSEKIT_JOIN(FUSEKIT_LETTER(__ARM_NEON, n), FUSEKIT_LETTER(__ARM_FEATURE_DOTPROD, d), \
                 FUSEKIT_LETTER(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC, h), FUSEKIT_LETTER(__ARM_FEATURE_BF16, 6), \
                 FUSEKIT_LETTER(__ARM_FEATURE_SVE, s), FUSEKIT_LETTER(__ARM_FEATURE_SVE2, 2), \
                 FUSEKIT_LETTER(__ARM_FEATURE_ATOMICS, a), , , , , )

// The preprocessor expands FUSEKIT_FLAGS for each function, 2,200 times: a group without letters is defined as nothing,
// once. FUSEKIT_IS_EMPTY(letters) is 1 if there are none, else 0.
#define FUSEKIT_EMPTY_ ~,
#define FUSEKIT_IS_EMPTY_OF(letters) FUSEKIT_SECOND_OF(FUSEKIT_EMPTY_##letters 1, 0, )
#define FUSEKIT_IS_EMPTY(letters) FUSEKIT_IS_EMPTY_OF(letters)

#if FUSEKIT_IS_EMPTY(FUSEKIT_COMPILER_LETTERS)
#undef FUSEKIT_COMPILER_LETTERS
#define FUSEKIT_COMPILER_LETTERS
#endif
#if FUSEKIT_IS_EMPTY(FUSEKIT_MATH_LETTERS)
#undef FUSEKIT_MATH_LETTERS
#define FUSEKIT_MATH_LETTERS
#endif
#if FUSEKIT_IS_EMPTY(FUSEKIT_SSE_LETTERS)
#undef FUSEKIT_SSE_LETTERS
#define FUSEKIT_SSE_LETTERS
#endif
#if FUSEKIT_IS_EMPTY(FUSEKIT_AVX_LETTERS)
#undef FUSEKIT_AVX_LETTERS
#define FUSEKIT_AVX_LETTERS
#endif
#if FUSEKIT_IS_EMPTY(FUSEKIT_AVX512_LETTERS)
#undef FUSEKIT_AVX512_LETTERS
#define FUSEKIT_AVX512_LETTERS
#endif
#if FUSEKIT_IS_EMPTY(FUSEKIT_ARM_LETTERS)
#undef FUSEKIT_ARM_LETTERS
#define FUSEKIT_ARM_LETTERS
#endif

/// Identifier that encodes this unit's compiler flags: the name of the inline namespace of every function and type
/// whose machine code or memory layout depends on the flags.
#define FUSEKIT_FLAGS \
    FUSEKIT_JOIN(k, FUSEKIT_COMPILER_LETTERS, FUSEKIT_MATH_LETTERS, _, FUSEKIT_SSE_LETTERS, _, FUSEKIT_AVX_LETTERS, _, \
                 FUSEKIT_AVX512_LETTERS, _, FUSEKIT_ARM_LETTERS, )

// clang-format on

// nvcc warns about the tag of a member template's own declaration (2648), or a member's specialization (2651).
#if defined(__NVCC__)
#pragma nv_diag_suppress 2648, 2651
#endif

/// Declares a host function whose mangled name contains the flags. Functions outside FUSEKIT_FLAGS namespaces begin
/// with FUSEKIT_H or FUSEKIT_HD.
#define FUSEKIT_H __attribute__((abi_tag(FUSEKIT_TEXT(FUSEKIT_FLAGS))))

/// Declares a function for host and device. The only macro that a user's operator needs.
#if defined(__CUDACC__) || defined(__HIP__)
#define FUSEKIT_HD __host__ __device__ FUSEKIT_H
#else
#define FUSEKIT_HD FUSEKIT_H
#endif
