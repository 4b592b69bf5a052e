// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

/// multiply() of sm90a.hpp, which includes this where wgmma exists. An instruction names each of its sums.
namespace fusekit::hip::ptx {

#define FUSEKIT_SUMS_8(i)                                                                                         \
    "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]), "+f"(sums[i + 4]), "+f"(sums[i + 5]), \
        "+f"(sums[i + 6]), "+f"(sums[i + 7])
#define FUSEKIT_SUMS_32(i) FUSEKIT_SUMS_8(i), FUSEKIT_SUMS_8(i + 8), FUSEKIT_SUMS_8(i + 16), FUSEKIT_SUMS_8(i + 24)
#define FUSEKIT_NAMES_32                                                                                             \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, " \
    "%24, "                                                                                                          \
    "%25, %26, %27, %28, %29, %30, %31"
#define FUSEKIT_NAMES_64                                                                                               \
    FUSEKIT_NAMES_32                                                                                                   \
    ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, " \
    "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
/// The operands after the sums: descriptors of a and b, and whether to add.
#define FUSEKIT_WGMMA(shape, type, names, a_name, b_name, adds_name, ...)                                           \
    asm volatile("{.reg .pred p; setp.ne.b32 p, " adds_name ", 0; wgmma.mma_async.sync.aligned." shape ".f32." type \
                 "." type " {" names "}, " a_name ", " b_name ", p, 1, 1, 0, 0;}"                                   \
                 : __VA_ARGS__                                                                                      \
                 : "l"(a), "l"(b), "r"(static_cast<int>(adds)))

template <Factor factor, int N>
__device__ void multiply(float (&sums)[N / 2], std::uint64_t a, std::uint64_t b, bool adds) {
    static_assert(N == 64 || N == 128, "an instruction is written out for each N");
    if constexpr (N == 64 && factor == Factor::half)
        FUSEKIT_WGMMA("m64n64k16", "f16", FUSEKIT_NAMES_32, "%32", "%33", "%34", FUSEKIT_SUMS_32(0));
    else if constexpr (N == 64)
        FUSEKIT_WGMMA("m64n64k16", "bf16", FUSEKIT_NAMES_32, "%32", "%33", "%34", FUSEKIT_SUMS_32(0));
    else if constexpr (factor == Factor::half)
        FUSEKIT_WGMMA("m64n128k16", "f16", FUSEKIT_NAMES_64, "%64", "%65", "%66", FUSEKIT_SUMS_32(0),
                      FUSEKIT_SUMS_32(32));
    else
        FUSEKIT_WGMMA("m64n128k16", "bf16", FUSEKIT_NAMES_64, "%64", "%65", "%66", FUSEKIT_SUMS_32(0),
                      FUSEKIT_SUMS_32(32));
}

#undef FUSEKIT_SUMS_8
#undef FUSEKIT_SUMS_32
#undef FUSEKIT_NAMES_32
#undef FUSEKIT_NAMES_64
#undef FUSEKIT_WGMMA

}  // namespace fusekit::hip::ptx
