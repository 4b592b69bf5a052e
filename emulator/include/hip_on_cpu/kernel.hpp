// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>

#include <cstdint>
#include <cstring>

#include "hip_on_cpu/block.hpp"

/// HIP's extensions of C++ in device code, under HIP's names.

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __shared__ static thread_local
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__

#define threadIdx (hip_on_cpu::running->thread())
#define blockIdx (hip_on_cpu::running->index)
#define blockDim (hip_on_cpu::running->size)
#define gridDim (hip_on_cpu::running->grid)
/// Declares `name` as a pointer to the block's dynamic shared memory.
#define HIP_DYNAMIC_SHARED(type, name) type* const name = reinterpret_cast<type*>(hip_on_cpu::running->shared_memory());

inline int const warpSize = static_cast<int>(hip_on_cpu::wave_width());

inline void __syncthreads(hip_on_cpu::SourceLocation location = hip_on_cpu::SourceLocation::current()) {
    hip_on_cpu::running->barrier(location);
}
namespace hip_on_cpu {

/// Yields the CPU to other blocks in one of eight calls. A thread that polls their memory calls it repeatedly. Other
/// threads call it once, and a system call in each of these calls would take a twentieth of a test's time.
inline void yield_when_polling() {
    static unsigned calls = 0;  // of all OS threads
    if (__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) % 8 == 0) sched_yield();
}

}  // namespace hip_on_cpu

/// Also yields the CPU, because a thread that polls the memory of other blocks calls it repeatedly.
inline void __threadfence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    hip_on_cpu::yield_when_polling();
}
inline int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }

namespace hip_on_cpu {

/// Returns the `value` of lane `from` of the wave; all bits are set if that lane has finished.
template <class T>
T of_lane(T value, int from, SourceLocation const& location) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    Exchange const& exchange = running->exchange(bits, location);
    bits = from >= 0 && from < static_cast<int>(widest_wave) && exchange.has(static_cast<unsigned>(from))
               ? exchange.value[static_cast<unsigned>(from)]
               : ~std::uint64_t{0};
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/// Compare-and-swap: returns true if it replaced `old` by `value` at `address`; otherwise sets `old` to the current
/// value. A compiler builtin, because <atomic> takes as long to compile as the rest of this header.
template <class T>
bool exchanged(T* address, T& old, T value) {
    return __atomic_compare_exchange(address, &old, &value, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

}  // namespace hip_on_cpu

/// Wave shuffles, within groups of `width` lanes, a power of two.
template <class T>
T __shfl(T value, int from, int width = warpSize,
         hip_on_cpu::SourceLocation location = hip_on_cpu::SourceLocation::current()) {
    int const self = static_cast<int>(hip_on_cpu::running->lane());
    return hip_on_cpu::of_lane(value, (self & -width) + (from & (width - 1)), location);
}
template <class T>
T __shfl_xor(T value, int mask, int width = warpSize,
             hip_on_cpu::SourceLocation location = hip_on_cpu::SourceLocation::current()) {
    int const self = static_cast<int>(hip_on_cpu::running->lane()), from = self ^ mask;
    return hip_on_cpu::of_lane(value, from < (self & -width) + width ? from : self, location);
}
template <class T>
T __shfl_up(T value, unsigned delta, int width = warpSize,
            hip_on_cpu::SourceLocation location = hip_on_cpu::SourceLocation::current()) {
    int const self = static_cast<int>(hip_on_cpu::running->lane()), from = self - static_cast<int>(delta);
    return hip_on_cpu::of_lane(value, from >= (self & -width) ? from : self, location);
}
template <class T>
T __shfl_down(T value, unsigned delta, int width = warpSize,
              hip_on_cpu::SourceLocation location = hip_on_cpu::SourceLocation::current()) {
    int const self = static_cast<int>(hip_on_cpu::running->lane()), from = self + static_cast<int>(delta);
    return hip_on_cpu::of_lane(value, from < (self & -width) + width ? from : self, location);
}

/// Returns a mask with bit l set if lane l's `predicate` is not 0.
inline unsigned long long __ballot(int predicate,
                                   hip_on_cpu::SourceLocation location = hip_on_cpu::SourceLocation::current()) {
    hip_on_cpu::Exchange const& exchange = hip_on_cpu::running->exchange(predicate != 0, location);
    unsigned long long bits = 0;
    for (unsigned lane = 0; lane < hip_on_cpu::widest_wave; ++lane)
        if (exchange.has(lane)) bits |= static_cast<unsigned long long>(exchange.value[lane]) << lane;
    return bits;
}

/// Atomic operations on int and unsigned. Each returns the value before the operation.
template <class T>
T atomicMax(T* address, T value) {
    T old;
    __atomic_load(address, &old, __ATOMIC_SEQ_CST);
    while (old < value && !hip_on_cpu::exchanged(address, old, value)) {
    }
    return old;
}

/// For float, int and unsigned; returns the value before the addition.
template <class T>
T atomicAdd(T* address, T value) {
    T old;
    __atomic_load(address, &old, __ATOMIC_SEQ_CST);
    while (!hip_on_cpu::exchanged(address, old, old + value)) {
    }
    return old;
}
