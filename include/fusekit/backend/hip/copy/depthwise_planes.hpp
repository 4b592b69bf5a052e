// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/async_copy.hpp"

namespace fusekit::hip {

/// Copies of consecutive elements between global memory and SMEM in packets of 16 bytes, by all threads of a CTA. An
/// element is as many bytes past a multiple of 16 in SMEM as in global memory.
template <class T>
struct PacketCopy {
    using Whole = Packet<unsigned, 4>;
    static constexpr int bytes = static_cast<int>(sizeof(T)), width = static_cast<int>(sizeof(Whole)) / bytes;

    T* global;  ///< first of the elements
    int count, lead;  ///< lead: elements of the first packet before them

    __device__ PacketCopy(T* of, int the_count)
        : global(of),
          count(the_count),
          lead(static_cast<int>(reinterpret_cast<std::uintptr_t>(of) % sizeof(Whole)) / bytes) {}

    /// Address in SMEM of the first of the elements, in memory that begins at `shared`, a multiple of 16 bytes.
    template <class Byte>
    __device__ auto* in_shared(Byte* shared) const {
        return reinterpret_cast<std::conditional_t<std::is_const_v<T>, std::remove_const_t<T>, T>*>(shared) + lead;
    }
    /// Copies from global memory, asynchronously except for the first and last packet if they are partial.
    __device__ void load(unsigned char* shared, unsigned thread, int threads) const {
        auto* const to = in_shared(shared);
        each(
            thread, threads, [&](int at) { copy_async<static_cast<int>(sizeof(Whole))>(to + at, global + at, true); },
            [&](int at) { to[at] = global[at]; });
    }
    /// Copies to global memory.
    __device__ void store(unsigned char const* shared, unsigned thread, int threads) const {
        auto const* const from = reinterpret_cast<T const*>(shared) + lead;
        each(
            thread, threads,
            [&](int at) { *reinterpret_cast<Whole*>(global + at) = *reinterpret_cast<Whole const*>(from + at); },
            [&](int at) { global[at] = from[at]; });
    }

private:
    template <class Packets, class Elements>
    __device__ void each(unsigned thread, int threads, Packets const& copy_packet, Elements const& copy_element) const {
#pragma unroll 1
        for (int at = static_cast<int>(thread) * width - lead; at < count; at += threads * width) {
            if (at >= 0 && at + width <= count) {
                copy_packet(at);
            } else {
#pragma unroll 1
                for (int i = 0; i < width; ++i)
                    if (at + i >= 0 && at + i < count) copy_element(at + i);
            }
        }
    }
};

}  // namespace fusekit::hip
