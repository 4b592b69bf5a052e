// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

/// multiply() of sm90a.hpp, which includes this where wgmma exists. An instruction names each of its sums.
namespace fusekit::hip::ptx {

#define FUSEKIT_SUMS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define FUSEKIT_SUMS_8(i) FUSEKIT_SUMS_4(i), FUSEKIT_SUMS_4(i + 4)
#define FUSEKIT_SUMS_32(i) FUSEKIT_SUMS_8(i), FUSEKIT_SUMS_8(i + 8), FUSEKIT_SUMS_8(i + 16), FUSEKIT_SUMS_8(i + 24)
#define FUSEKIT_SUMS_56(i) FUSEKIT_SUMS_32(i), FUSEKIT_SUMS_8(i + 32), FUSEKIT_SUMS_8(i + 40), FUSEKIT_SUMS_8(i + 48)
#define FUSEKIT_SUMS_64(i) FUSEKIT_SUMS_32(i), FUSEKIT_SUMS_32(i + 32)
#define FUSEKIT_SUMS_116 \
    FUSEKIT_SUMS_64(0), FUSEKIT_SUMS_32(64), FUSEKIT_SUMS_8(96), FUSEKIT_SUMS_8(104), FUSEKIT_SUMS_4(112)
#define FUSEKIT_SUMS_128 FUSEKIT_SUMS_64(0), FUSEKIT_SUMS_64(64)

/// Operands of ten: %t0 to %t9.
#define FUSEKIT_TEN(t) \
    "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9"
#define FUSEKIT_NAMES_30 FUSEKIT_TEN() ", " FUSEKIT_TEN(1) ", " FUSEKIT_TEN(2)
#define FUSEKIT_NAMES_60 FUSEKIT_NAMES_30 ", " FUSEKIT_TEN(3) ", " FUSEKIT_TEN(4) ", " FUSEKIT_TEN(5)
#define FUSEKIT_NAMES_110 \
    FUSEKIT_NAMES_60      \
    ", " FUSEKIT_TEN(6) ", " FUSEKIT_TEN(7) ", " FUSEKIT_TEN(8) ", " FUSEKIT_TEN(9) ", " FUSEKIT_TEN(10)
/// The operands after the sums: descriptors of a and b, and whether to add.
#define FUSEKIT_WGMMA_OF(shape, type, names, a_name, b_name, adds_name, ...)                                        \
    asm volatile("{.reg .pred p; setp.ne.b32 p, " adds_name ", 0; wgmma.mma_async.sync.aligned." shape ".f32." type \
                 "." type " {" names "}, " a_name ", " b_name ", p, 1, 1, 0, 0;}"                                   \
                 : __VA_ARGS__                                                                                      \
                 : "l"(a), "l"(b), "r"(static_cast<int>(adds)))
#define FUSEKIT_WGMMA(shape, ...)                                                      \
    if constexpr (factor == Factor::half) FUSEKIT_WGMMA_OF(shape, "f16", __VA_ARGS__); \
    else FUSEKIT_WGMMA_OF(shape, "bf16", __VA_ARGS__)

template <Factor factor, int N>
__device__ void multiply(float (&sums)[N / 2], std::uint64_t a, std::uint64_t b, bool adds) {
    static_assert(N == 64 || N == 112 || N == 128 || N == 232 || N == 256, "an instruction is written out for each N");
    if constexpr (N == 64) {
        FUSEKIT_WGMMA("m64n64k16", FUSEKIT_NAMES_30 ", %30, %31", "%32", "%33", "%34", FUSEKIT_SUMS_32(0));
    } else if constexpr (N == 112) {
        FUSEKIT_WGMMA("m64n112k16",
                      FUSEKIT_NAMES_30 ", " FUSEKIT_TEN(3) ", " FUSEKIT_TEN(4) ", %50, %51, %52, %53, %54, %55", "%56",
                      "%57", "%58", FUSEKIT_SUMS_56(0));
    } else if constexpr (N == 128) {
        FUSEKIT_WGMMA("m64n128k16", FUSEKIT_NAMES_60 ", %60, %61, %62, %63", "%64", "%65", "%66", FUSEKIT_SUMS_64(0));
    } else if constexpr (N == 232) {
        FUSEKIT_WGMMA("m64n232k16", FUSEKIT_NAMES_110 ", %110, %111, %112, %113, %114, %115", "%116", "%117", "%118",
                      FUSEKIT_SUMS_116);
    } else {
        FUSEKIT_WGMMA("m64n256k16",
                      FUSEKIT_NAMES_110 ", " FUSEKIT_TEN(11) ", %120, %121, %122, %123, %124, %125, %126, %127", "%128",
                      "%129", "%130", FUSEKIT_SUMS_128);
    }
}

#undef FUSEKIT_SUMS_4
#undef FUSEKIT_SUMS_8
#undef FUSEKIT_SUMS_32
#undef FUSEKIT_SUMS_56
#undef FUSEKIT_SUMS_64
#undef FUSEKIT_SUMS_116
#undef FUSEKIT_SUMS_128
#undef FUSEKIT_TEN
#undef FUSEKIT_NAMES_30
#undef FUSEKIT_NAMES_60
#undef FUSEKIT_NAMES_110
#undef FUSEKIT_WGMMA_OF
#undef FUSEKIT_WGMMA

}  // namespace fusekit::hip::ptx
