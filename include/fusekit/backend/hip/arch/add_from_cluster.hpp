// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"

namespace fusekit::hip {

/// Adds to acc[first] to acc[first + floats - 1] the packets that the CTAs of the cluster with ranks `rank` ^ i, for i
/// from 1 to `count` - 1, have in DSMEM at the address of `own`, `stride` bytes apart. `count` is a power of two; with
/// `count` <= 1 nothing is loaded. `floats` is 16 or 32; all are loaded before the first addition.
///
/// On NVIDIA the loop is inside the assembly. A loop in C++ has phi nodes of all accumulators, on which nvcc 13.0
/// reacts with more address arithmetic in the mainloop that computes them, and with spills in the epilogue.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !defined(HIP_ON_CPU)
#define FUSEKIT_ACC_4(i) "+f"(acc[i]), "+f"(acc[i + 1]), "+f"(acc[i + 2]), "+f"(acc[i + 3])
#define FUSEKIT_ACC_16(i) FUSEKIT_ACC_4(i), FUSEKIT_ACC_4(i + 4), FUSEKIT_ACC_4(i + 8), FUSEKIT_ACC_4(i + 12)
#define FUSEKIT_LOAD(a, b, c, d, stride) \
    "ld.shared::cluster.v4.f32 {t" #a ", t" #b ", t" #c ", t" #d "}, [there]; add.u32 there, there, " stride ";\n"
#define FUSEKIT_LOAD_16(stride)      \
    FUSEKIT_LOAD(0, 1, 2, 3, stride) \
    FUSEKIT_LOAD(4, 5, 6, 7, stride) FUSEKIT_LOAD(8, 9, 10, 11, stride) FUSEKIT_LOAD(12, 13, 14, 15, stride)
#define FUSEKIT_LOAD_32(stride)          \
    FUSEKIT_LOAD_16(stride)              \
    FUSEKIT_LOAD(16, 17, 18, 19, stride) \
    FUSEKIT_LOAD(20, 21, 22, 23, stride) FUSEKIT_LOAD(24, 25, 26, 27, stride) FUSEKIT_LOAD(28, 29, 30, 31, stride)
#define FUSEKIT_ADD(i) "add.f32 %" #i ", %" #i ", t" #i ";\n"
#define FUSEKIT_ADD_4(a, b, c, d) FUSEKIT_ADD(a) FUSEKIT_ADD(b) FUSEKIT_ADD(c) FUSEKIT_ADD(d)
#define FUSEKIT_ADD_16 \
    FUSEKIT_ADD_4(0, 1, 2, 3) FUSEKIT_ADD_4(4, 5, 6, 7) FUSEKIT_ADD_4(8, 9, 10, 11) FUSEKIT_ADD_4(12, 13, 14, 15)
#define FUSEKIT_ADD_32                                                                                       \
    FUSEKIT_ADD_16 FUSEKIT_ADD_4(16, 17, 18, 19) FUSEKIT_ADD_4(20, 21, 22, 23) FUSEKIT_ADD_4(24, 25, 26, 27) \
        FUSEKIT_ADD_4(28, 29, 30, 31)
#define FUSEKIT_ADD_FROM_CLUSTER(floats, own_name, rank_name, count_name, stride_name, ...)                      \
    asm volatile("{.reg .pred p; .reg .u32 i, there; .reg .f32 t<" #floats                                       \
                 ">;\n"                                                                                          \
                 "mov.u32 i, 1;\n"                                                                               \
                 "NEXT: setp.ge.u32 p, i, " count_name                                                           \
                 ";\n"                                                                                           \
                 "@p bra DONE;\n"                                                                                \
                 "xor.b32 there, i, " rank_name                                                                  \
                 ";\n"                                                                                           \
                 "mapa.shared::cluster.u32 there, " own_name ", there;\n" FUSEKIT_LOAD_##floats(stride_name)     \
                     FUSEKIT_ADD_##floats                                                                        \
                 "add.u32 i, i, 1;\n"                                                                            \
                 "bra NEXT;\n"                                                                                   \
                 "DONE:}"                                                                                        \
                 : __VA_ARGS__                                                                                   \
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(own))), "r"(rank), "r"(count), "n"(stride) \
                 : "memory")
template <int floats, int first, int stride, int size>
__device__ inline void add_from_cluster(float (&acc)[size], Packet<float, 4> const* own, unsigned rank,
                                        unsigned count) {
    static_assert((floats == 16 || floats == 32) && first + floats <= size);
    if constexpr (floats == 16) {
        FUSEKIT_ADD_FROM_CLUSTER(16, "%16", "%17", "%18", "%19", FUSEKIT_ACC_16(first));
    } else {
        FUSEKIT_ADD_FROM_CLUSTER(32, "%32", "%33", "%34", "%35", FUSEKIT_ACC_16(first), FUSEKIT_ACC_16(first + 16));
    }
}
#undef FUSEKIT_ACC_4
#undef FUSEKIT_ACC_16
#undef FUSEKIT_LOAD
#undef FUSEKIT_LOAD_16
#undef FUSEKIT_LOAD_32
#undef FUSEKIT_ADD
#undef FUSEKIT_ADD_4
#undef FUSEKIT_ADD_16
#undef FUSEKIT_ADD_32
#undef FUSEKIT_ADD_FROM_CLUSTER
#else
template <int floats, int first, int stride, int size>
__device__ inline void add_from_cluster(float (&acc)[size], Packet<float, 4> const* own, unsigned rank,
                                        unsigned count) {
    static_assert((floats == 16 || floats == 32) && first + floats <= size);
    for (unsigned i = 1; i < count; ++i)
        for (int e = 0; e < floats; e += 4) {
            Packet<float, 4> const theirs = load_of_block(own + e / 4 * (stride / 16), rank ^ i);
            for (int j = 0; j < 4; ++j) acc[first + e + j] += theirs.values[j];
        }
}
#endif

}  // namespace fusekit::hip
