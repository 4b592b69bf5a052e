// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/config.hpp"

namespace fusekit::hip {

/// Vector of Count contiguous elements, aligned to its size, so that one load or store instruction of up to 16 bytes
/// accesses all of them.
template <class T, int Count>
struct alignas(sizeof(T) * Count) Packet {
    T values[Count];
};

/// Compiler barrier that hides how the packet's elements were computed, so that the compiler recomputes values derived
/// from them instead of keeping those values in registers.
template <class T, int Count>
FUSEKIT_HD void make_opaque([[maybe_unused]] Packet<T, Count>& packet) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(packet) % 4 == 0) {
#pragma unroll
        for (unsigned i = 0; i < sizeof(packet) / 4; ++i)
            asm volatile("" : "+r"(reinterpret_cast<unsigned*>(&packet)[i]));
    }
#endif
}

/// load_once() and store_once(): loads and stores of global memory that a kernel touches once. Cache hints mark the
/// lines to be evicted first, so that reused data stays in the caches.
#if defined(__CUDA_ARCH__)
template <class T>
__device__ T load_once(T const* from) {
    if constexpr (sizeof(T) == 16) {
        auto const words = __ldcs(reinterpret_cast<uint4 const*>(from));
        return reinterpret_cast<T const&>(words);
    } else {
        return *from;
    }
}
template <class T>
__device__ void store_once(T* to, T const& value) {
    if constexpr (sizeof(T) == 16) __stcs(reinterpret_cast<uint4*>(to), reinterpret_cast<uint4 const&>(value));
    else *to = value;
}

/// Loads from `from`, or returns zero if `is_read` is false; predicated, without a branch. Precondition: no kernel
/// writes that memory meanwhile.
template <class T>
__device__ T load_if(bool is_read, T const* from) {
    alignas(T) alignas(unsigned) unsigned words[(sizeof(T) + 3) / 4];
    int const condition = is_read;
    if constexpr (sizeof(T) == 16)
        asm volatile(
            "{.reg .pred p; setp.ne.s32 p, %5, 0; mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0;\n"
            "@p ld.global.v4.u32 {%0, %1, %2, %3}, [%4];}"
            : "=&r"(words[0]), "=&r"(words[1]), "=&r"(words[2]), "=&r"(words[3])
            : "l"(from), "r"(condition));
    else if constexpr (sizeof(T) == 8)
        asm volatile(
            "{.reg .pred p; setp.ne.s32 p, %3, 0; mov.b32 %0, 0; mov.b32 %1, 0; @p ld.global.v2.u32 {%0, %1}, [%2];}"
            : "=&r"(words[0]), "=&r"(words[1])
            : "l"(from), "r"(condition));
    else if constexpr (sizeof(T) == 4)
        asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; mov.b32 %0, 0; @p ld.global.u32 %0, [%1];}"
                     : "=&r"(words[0])
                     : "l"(from), "r"(condition));
    else if constexpr (sizeof(T) == 2)
        asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; mov.b32 %0, 0; @p ld.global.u16 %0, [%1];}"
                     : "=&r"(words[0])
                     : "l"(from), "r"(condition));
    else
        asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; mov.b32 %0, 0; @p ld.global.u8 %0, [%1];}"
                     : "=&r"(words[0])
                     : "l"(from), "r"(condition));
    return reinterpret_cast<T const&>(words);
}
#else
template <class T>
FUSEKIT_HD T load_if(bool is_read, T const* from) {
    return is_read ? *from : T{};
}
template <class T>
FUSEKIT_HD T load_once(T const* from) {
    return *from;
}
template <class T>
FUSEKIT_HD void store_once(T* to, T const& value) {
    *to = value;
}
#endif

/// Zeros::load_if(): like load_if(), but selects the address, because AMD's compiler turns a predicated load into a
/// branch: if `is_read` is false, it loads from 16 zero bytes in global memory, whose address the Zeros object holds.
#if defined(__HIP_DEVICE_COMPILE__) && defined(__HIP_PLATFORM_AMD__)
namespace detail {
template <int Bytes>
struct BitsOf {
    typedef unsigned Type __attribute__((vector_size(Bytes)));
};
template <>
struct BitsOf<4> {
    using Type = unsigned;
};
template <>
struct BitsOf<2> {
    using Type = unsigned short;
};
template <>
struct BitsOf<1> {
    using Type = unsigned char;
};
alignas(16) static constexpr unsigned char zeros[16] = {};
}  // namespace detail
class Zeros {
public:
    /// Keeps the address of the zero bytes in two VGPRs of the thread; otherwise the compiler recomputes it at each
    /// load.
    __device__ void keep() { asm volatile("" : "+v"(address)); }
    template <class T>
    __device__ T load_if(bool is_read, T const* from) const {
        using Bits = typename detail::BitsOf<sizeof(T)>::Type;
        using Global = __attribute__((address_space(1))) Bits const;
        Bits const bits = *reinterpret_cast<Global*>(is_read ? reinterpret_cast<unsigned long>(from) : address);
        return __builtin_bit_cast(T, bits);
    }

private:
    unsigned long address = reinterpret_cast<unsigned long>(&detail::zeros);
};
#else
struct Zeros {
    FUSEKIT_HD void keep() {}
    template <class T>
    FUSEKIT_HD T load_if(bool is_read, T const* from) const {
        return hip::load_if(is_read, from);
    }
};
#endif

/// Scheduling barrier: AMD's compiler moves no instruction across it. It limits registers, because instructions that
/// the compiler hoists occupy them: two VGPRs per address, two SGPRs per comparison. Loads after the barrier do not
/// reuse the address registers of loads before it, which would add a wait.
__device__ inline void keep_apart() {
#if defined(__HIP_DEVICE_COMPILE__) && defined(__HIP_PLATFORM_AMD__)
    __builtin_amdgcn_sched_barrier(0);
#endif
}

/// Loads floats that another CTA of the running kernel has written to global memory: bypasses L1. Four floats per
/// access if Count is a multiple of four.
#if defined(__CUDA_ARCH__)
template <int Count>
__device__ Packet<float, Count> load_fresh(Packet<float, Count> const* from) {
    Packet<float, Count> result;
    if constexpr (Count % 4 == 0) {
        for (int i = 0; i < Count; i += 4) {
            auto const words = __ldcg(reinterpret_cast<float4 const*>(from->values + i));
            reinterpret_cast<float4&>(result.values[i]) = words;
        }
    } else {
        for (int i = 0; i < Count; ++i) result.values[i] = __ldcg(from->values + i);
    }
    return result;
}
#elif defined(__HIP_DEVICE_COMPILE__)
template <int Count>
__device__ Packet<float, Count> load_fresh(Packet<float, Count> const* from) {
    Packet<float, Count> result;
    for (int i = 0; i < Count; ++i)
        result.values[i] = __hip_atomic_load(from->values + i, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    return result;
}
#else
template <int Count>
FUSEKIT_HD Packet<float, Count> load_fresh(Packet<float, Count> const* from) {
    return *from;
}
#endif

}  // namespace fusekit::hip
