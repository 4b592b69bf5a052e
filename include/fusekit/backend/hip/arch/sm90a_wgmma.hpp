// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

/// Definitions of wgmma(), which sm90a.hpp declares; sm90a.hpp includes this header when compiling for sm_90a. The
/// assembly names each accumulator register. FUSEKIT_ACC_n(kind) lists n asm operands; `kind` is an accumulator's
/// constraint, "+f" (float) or "+r" (integer).
namespace fusekit::hip::ptx {

#define FUSEKIT_ACC_4(kind, i) kind(acc[i]), kind(acc[i + 1]), kind(acc[i + 2]), kind(acc[i + 3])
#define FUSEKIT_ACC_8(kind, i) FUSEKIT_ACC_4(kind, i), FUSEKIT_ACC_4(kind, i + 4)
#define FUSEKIT_ACC_28(kind) \
    FUSEKIT_ACC_8(kind, 0), FUSEKIT_ACC_8(kind, 8), FUSEKIT_ACC_8(kind, 16), FUSEKIT_ACC_4(kind, 24)
#define FUSEKIT_ACC_32(kind, i) \
    FUSEKIT_ACC_8(kind, i), FUSEKIT_ACC_8(kind, i + 8), FUSEKIT_ACC_8(kind, i + 16), FUSEKIT_ACC_8(kind, i + 24)
#define FUSEKIT_ACC_32_FROM_0(kind) FUSEKIT_ACC_32(kind, 0)
#define FUSEKIT_ACC_48(kind) FUSEKIT_ACC_32(kind, 0), FUSEKIT_ACC_8(kind, 32), FUSEKIT_ACC_8(kind, 40)
#define FUSEKIT_ACC_52(kind) \
    FUSEKIT_ACC_32(kind, 0), FUSEKIT_ACC_8(kind, 32), FUSEKIT_ACC_8(kind, 40), FUSEKIT_ACC_4(kind, 48)
#define FUSEKIT_ACC_56(kind) \
    FUSEKIT_ACC_32(kind, 0), FUSEKIT_ACC_8(kind, 32), FUSEKIT_ACC_8(kind, 40), FUSEKIT_ACC_8(kind, 48)
#define FUSEKIT_ACC_60(kind)                                                                            \
    FUSEKIT_ACC_32(kind, 0), FUSEKIT_ACC_8(kind, 32), FUSEKIT_ACC_8(kind, 40), FUSEKIT_ACC_8(kind, 48), \
        FUSEKIT_ACC_4(kind, 56)
#define FUSEKIT_ACC_64(kind, i) FUSEKIT_ACC_32(kind, i), FUSEKIT_ACC_32(kind, i + 32)
#define FUSEKIT_ACC_64_FROM_0(kind) FUSEKIT_ACC_64(kind, 0)
#define FUSEKIT_ACC_72(kind) FUSEKIT_ACC_64(kind, 0), FUSEKIT_ACC_8(kind, 64)
#define FUSEKIT_ACC_96(kind) FUSEKIT_ACC_64(kind, 0), FUSEKIT_ACC_32(kind, 64)
#define FUSEKIT_ACC_116(kind)                                                                             \
    FUSEKIT_ACC_64(kind, 0), FUSEKIT_ACC_32(kind, 64), FUSEKIT_ACC_8(kind, 96), FUSEKIT_ACC_8(kind, 104), \
        FUSEKIT_ACC_4(kind, 112)
#define FUSEKIT_ACC_120(kind)                                                                             \
    FUSEKIT_ACC_64(kind, 0), FUSEKIT_ACC_32(kind, 64), FUSEKIT_ACC_8(kind, 96), FUSEKIT_ACC_8(kind, 104), \
        FUSEKIT_ACC_8(kind, 112)
#define FUSEKIT_ACC_128(kind) FUSEKIT_ACC_64(kind, 0), FUSEKIT_ACC_64(kind, 64)

/// Names of ten consecutive asm operands, %t0 to %t9: FUSEKIT_TEN(1) is "%10, %11, ... %19".
#define FUSEKIT_TEN(t) \
    "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9"
#define FUSEKIT_NAMES_28 FUSEKIT_TEN() ", " FUSEKIT_TEN(1) ", %20, %21, %22, %23, %24, %25, %26, %27"
#define FUSEKIT_NAMES_30 FUSEKIT_TEN() ", " FUSEKIT_TEN(1) ", " FUSEKIT_TEN(2)
#define FUSEKIT_NAMES_32 FUSEKIT_NAMES_30 ", %30, %31"
#define FUSEKIT_NAMES_48 FUSEKIT_NAMES_30 ", " FUSEKIT_TEN(3) ", %40, %41, %42, %43, %44, %45, %46, %47"
#define FUSEKIT_NAMES_52 FUSEKIT_NAMES_30 ", " FUSEKIT_TEN(3) ", " FUSEKIT_TEN(4) ", %50, %51"
#define FUSEKIT_NAMES_56 FUSEKIT_NAMES_30 ", " FUSEKIT_TEN(3) ", " FUSEKIT_TEN(4) ", %50, %51, %52, %53, %54, %55"
#define FUSEKIT_NAMES_60 FUSEKIT_NAMES_30 ", " FUSEKIT_TEN(3) ", " FUSEKIT_TEN(4) ", " FUSEKIT_TEN(5)
#define FUSEKIT_NAMES_64 FUSEKIT_NAMES_60 ", %60, %61, %62, %63"
#define FUSEKIT_NAMES_72 FUSEKIT_NAMES_60 ", " FUSEKIT_TEN(6) ", %70, %71"
#define FUSEKIT_NAMES_96 \
    FUSEKIT_NAMES_60 ", " FUSEKIT_TEN(6) ", " FUSEKIT_TEN(7) ", " FUSEKIT_TEN(8) ", %90, %91, %92, %93, %94, %95"
#define FUSEKIT_NAMES_110 \
    FUSEKIT_NAMES_60      \
    ", " FUSEKIT_TEN(6) ", " FUSEKIT_TEN(7) ", " FUSEKIT_TEN(8) ", " FUSEKIT_TEN(9) ", " FUSEKIT_TEN(10)
#define FUSEKIT_NAMES_116 FUSEKIT_NAMES_110 ", %110, %111, %112, %113, %114, %115"
#define FUSEKIT_NAMES_120 FUSEKIT_NAMES_110 ", " FUSEKIT_TEN(11)
#define FUSEKIT_NAMES_128 FUSEKIT_NAMES_110 ", " FUSEKIT_TEN(11) ", %120, %121, %122, %123, %124, %125, %126, %127"

/// One wgmma instruction with n columns. types: the suffix; rest: the immediates after the operands; kind, acc_of,
/// names: the accumulators; a_name, b_name, scale_name: the operand names of the descriptors of a and b and of scale-d.
/// The last two asm operands are the majors of a and b.
#define FUSEKIT_WGMMA_OF(n, types, rest, kind, acc_of, names, a_name, b_name, scale_name)                      \
    asm volatile("{.reg .pred p; setp.ne.b32 p, " scale_name ", 0; wgmma.mma_async.sync.aligned.m64n" #n types \
                 " {" names "}, " a_name ", " b_name ", p" rest ";}"                                           \
                 : acc_of(kind)                                                                                \
                 : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "n"(static_cast<int>(a_major)),          \
                   "n"(static_cast<int>(b_major)))
/// One wgmma instruction with a in registers. a_names: operand names of a's four registers; b_name: of b's descriptor;
/// scale_name: of scale-d; major_name: of b's major.
#define FUSEKIT_WGMMA_OF_REGISTERS(n, types, acc_of, names, a_names, b_name, scale_name, major_name)           \
    asm volatile("{.reg .pred p; setp.ne.b32 p, " scale_name ", 0; wgmma.mma_async.sync.aligned.m64n" #n types \
                 " {" names "}, {" a_names "}, " b_name ", p, 1, 1, " major_name ";}"                          \
                 : acc_of("+f")                                                                                \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulate)),      \
                   "n"(static_cast<int>(b_major)))
#define FUSEKIT_WGMMA_REGISTERS(n, ...)                                  \
    if constexpr (factor == Factor::half) {                              \
        FUSEKIT_WGMMA_OF_REGISTERS(n, "k16.f32.f16.f16", __VA_ARGS__);   \
    } else {                                                             \
        FUSEKIT_WGMMA_OF_REGISTERS(n, "k16.f32.bf16.bf16", __VA_ARGS__); \
    }
#define FUSEKIT_WGMMA(n, majors, ...)                                                   \
    if constexpr (factor == Factor::half) {                                             \
        FUSEKIT_WGMMA_OF(n, "k16.f32.f16.f16", ", 1, 1, " majors, "+f", __VA_ARGS__);   \
    } else if constexpr (factor == Factor::bfloat16) {                                  \
        FUSEKIT_WGMMA_OF(n, "k16.f32.bf16.bf16", ", 1, 1, " majors, "+f", __VA_ARGS__); \
    } else if constexpr (factor == Factor::tf32) {                                      \
        FUSEKIT_WGMMA_OF(n, "k8.f32.tf32.tf32", ", 1, 1", "+f", __VA_ARGS__);           \
    } else if constexpr (factor == Factor::e4m3) {                                      \
        FUSEKIT_WGMMA_OF(n, "k32.f32.e4m3.e4m3", ", 1, 1", "+f", __VA_ARGS__);          \
    } else if constexpr (factor == Factor::e5m2) {                                      \
        FUSEKIT_WGMMA_OF(n, "k32.f32.e5m2.e5m2", ", 1, 1", "+f", __VA_ARGS__);          \
    } else {                                                                            \
        FUSEKIT_WGMMA_OF(n, "k32.s32.s8.s8", "", "+r", __VA_ARGS__);                    \
    }

template <Factor factor, int N, Major a_major, Major b_major, class Acc>
__device__ void wgmma(Acc (&acc)[N / 2], std::uint64_t a, std::uint64_t b, bool accumulate) {
    static_assert(N == 56 || N == 64 || N == 96 || N == 112 || N == 120 || N == 128 || N == 144 || N == 192 ||
                      N == 232 || N == 240 || N == 256,
                  "wgmma() is not defined for this N: add it to arch/sm90a_wgmma.hpp");
    static_assert(factor == Factor::half || factor == Factor::bfloat16 || (a_major == Major::k && b_major == Major::k),
                  "8-bit and TF32 operands of wgmma must be K-major");
    if constexpr (N == 56) {
        FUSEKIT_WGMMA(56, "%31, %32", FUSEKIT_ACC_28, FUSEKIT_NAMES_28, "%28", "%29", "%30")
    } else if constexpr (N == 64) {
        FUSEKIT_WGMMA(64, "%35, %36", FUSEKIT_ACC_32_FROM_0, FUSEKIT_NAMES_32, "%32", "%33", "%34")
    } else if constexpr (N == 96) {
        FUSEKIT_WGMMA(96, "%51, %52", FUSEKIT_ACC_48, FUSEKIT_NAMES_48, "%48", "%49", "%50")
    } else if constexpr (N == 112) {
        FUSEKIT_WGMMA(112, "%59, %60", FUSEKIT_ACC_56, FUSEKIT_NAMES_56, "%56", "%57", "%58")
    } else if constexpr (N == 120) {
        FUSEKIT_WGMMA(120, "%63, %64", FUSEKIT_ACC_60, FUSEKIT_NAMES_60, "%60", "%61", "%62")
    } else if constexpr (N == 128) {
        FUSEKIT_WGMMA(128, "%67, %68", FUSEKIT_ACC_64_FROM_0, FUSEKIT_NAMES_64, "%64", "%65", "%66")
    } else if constexpr (N == 144) {
        FUSEKIT_WGMMA(144, "%75, %76", FUSEKIT_ACC_72, FUSEKIT_NAMES_72, "%72", "%73", "%74")
    } else if constexpr (N == 192) {
        FUSEKIT_WGMMA(192, "%99, %100", FUSEKIT_ACC_96, FUSEKIT_NAMES_96, "%96", "%97", "%98")
    } else if constexpr (N == 232) {
        FUSEKIT_WGMMA(232, "%119, %120", FUSEKIT_ACC_116, FUSEKIT_NAMES_116, "%116", "%117", "%118")
    } else if constexpr (N == 240) {
        FUSEKIT_WGMMA(240, "%123, %124", FUSEKIT_ACC_120, FUSEKIT_NAMES_120, "%120", "%121", "%122")
    } else {
        FUSEKIT_WGMMA(256, "%131, %132", FUSEKIT_ACC_128, FUSEKIT_NAMES_128, "%128", "%129", "%130")
    }
}

template <Factor factor, int N, Major b_major>
__device__ void wgmma(float (&acc)[N / 2], std::uint32_t const (&a)[4], std::uint64_t b, bool accumulate) {
    static_assert(N == 56 || N == 64 || N == 104 || N == 112 || N == 120,
                  "wgmma() is not defined for this N: add it to arch/sm90a_wgmma.hpp");
    static_assert(factor == Factor::half || factor == Factor::bfloat16);
    if constexpr (N == 56) {
        FUSEKIT_WGMMA_REGISTERS(56, FUSEKIT_ACC_28, FUSEKIT_NAMES_28, "%28, %29, %30, %31", "%32", "%33", "%34")
    } else if constexpr (N == 64) {
        FUSEKIT_WGMMA_REGISTERS(64, FUSEKIT_ACC_32_FROM_0, FUSEKIT_NAMES_32, "%32, %33, %34, %35", "%36", "%37", "%38")
    } else if constexpr (N == 104) {
        FUSEKIT_WGMMA_REGISTERS(104, FUSEKIT_ACC_52, FUSEKIT_NAMES_52, "%52, %53, %54, %55", "%56", "%57", "%58")
    } else if constexpr (N == 112) {
        FUSEKIT_WGMMA_REGISTERS(112, FUSEKIT_ACC_56, FUSEKIT_NAMES_56, "%56, %57, %58, %59", "%60", "%61", "%62")
    } else {
        FUSEKIT_WGMMA_REGISTERS(120, FUSEKIT_ACC_60, FUSEKIT_NAMES_60, "%60, %61, %62, %63", "%64", "%65", "%66")
    }
}

#undef FUSEKIT_ACC_4
#undef FUSEKIT_ACC_8
#undef FUSEKIT_ACC_28
#undef FUSEKIT_ACC_32
#undef FUSEKIT_ACC_32_FROM_0
#undef FUSEKIT_ACC_48
#undef FUSEKIT_ACC_52
#undef FUSEKIT_ACC_56
#undef FUSEKIT_ACC_60
#undef FUSEKIT_ACC_64
#undef FUSEKIT_ACC_64_FROM_0
#undef FUSEKIT_ACC_72
#undef FUSEKIT_ACC_96
#undef FUSEKIT_ACC_116
#undef FUSEKIT_ACC_120
#undef FUSEKIT_ACC_128
#undef FUSEKIT_TEN
#undef FUSEKIT_NAMES_28
#undef FUSEKIT_NAMES_30
#undef FUSEKIT_NAMES_32
#undef FUSEKIT_NAMES_48
#undef FUSEKIT_NAMES_52
#undef FUSEKIT_NAMES_56
#undef FUSEKIT_NAMES_60
#undef FUSEKIT_NAMES_64
#undef FUSEKIT_NAMES_72
#undef FUSEKIT_NAMES_96
#undef FUSEKIT_NAMES_110
#undef FUSEKIT_NAMES_116
#undef FUSEKIT_NAMES_120
#undef FUSEKIT_NAMES_128
#undef FUSEKIT_WGMMA_OF_REGISTERS
#undef FUSEKIT_WGMMA_REGISTERS
#undef FUSEKIT_WGMMA_OF
#undef FUSEKIT_WGMMA

}  // namespace fusekit::hip::ptx
