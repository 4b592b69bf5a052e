// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/abi.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// Range of global memory that a wave reads through an AMD buffer resource descriptor, at 32-bit byte offsets. Offset 0
/// is 2^30 bytes (`bias`) below the `origin` that the wave's first lane passes. Loads at offsets of 2^31
/// (`out_of_bounds`) or more, or past `end` if it is given, return zero: the hardware checks the range, so that padding
/// costs neither a branch nor a second address. Source: AMD, CDNA 3 instruction set architecture, "Buffer resource
/// descriptor" and "Range checking"; RDNA 3 and RDNA 4 likewise.
class Buffer {
public:
    static constexpr std::uint32_t bias = 1u << 30, out_of_bounds = 1u << 31;

    FUSEKIT_H Buffer() = default;

#if defined(__HIP_DEVICE_COMPILE__) && defined(__HIP_PLATFORM_AMD__)
    __device__ explicit Buffer(void const* origin, void const* end = nullptr) {
        auto const address = reinterpret_cast<std::uint64_t>(origin) - bias;
        auto const of_first_lane = [](std::uint64_t word) {
            return static_cast<std::uint32_t>(__builtin_amdgcn_readfirstlane(static_cast<int>(word)));
        };
        first = (std::uint64_t{of_first_lane(address >> 32)} << 32) | of_first_lane(address);
        bytes = opaque_per_block(end ? of_first_lane(bytes_until(end, address)) : out_of_bounds);
        format = opaque_per_block(words);
    }
#else
    __device__ explicit Buffer(void const* origin, void const* end = nullptr)
        : first(reinterpret_cast<std::uint64_t>(origin) - bias) {
        bytes = end ? bytes_until(end, first) : out_of_bounds;
    }
#endif
    /// Returns the 32-bit byte offset of an address in this buffer; for an address out of range, the offset of the
    /// first lane's `origin`.
    __device__ std::uint32_t offset(void const* of) const {
        std::uint64_t const result = reinterpret_cast<std::uint64_t>(of) - first;
        return result < out_of_bounds ? static_cast<std::uint32_t>(result) : bias;
    }

    /// Loads a T at the sum of two byte offsets: one per lane, and `of_wave`, which is passed in a scalar register.
    /// Precondition: `of_wave` is uniform over the wave.
#if defined(__HIP_DEVICE_COMPILE__) && defined(__HIP_PLATFORM_AMD__)
    template <class T>
    __device__ T load(std::uint32_t of_bytes, std::uint32_t of_wave = 0) const {
        auto const offset = static_cast<int>(of_bytes), soffset = static_cast<int>(of_wave);
        auto const resource = __builtin_amdgcn_make_buffer_rsrc(reinterpret_cast<void*>(first), 0,
                                                                static_cast<int>(bytes), static_cast<int>(format));
        if constexpr (sizeof(T) == 16)
            return __builtin_bit_cast(T, __builtin_amdgcn_raw_buffer_load_b128(resource, offset, soffset, 0));
        else if constexpr (sizeof(T) == 8)
            return __builtin_bit_cast(T, __builtin_amdgcn_raw_buffer_load_b64(resource, offset, soffset, 0));
        else if constexpr (sizeof(T) == 4)
            return __builtin_bit_cast(T, __builtin_amdgcn_raw_buffer_load_b32(resource, offset, soffset, 0));
        else if constexpr (sizeof(T) == 2)
            return __builtin_bit_cast(T, __builtin_amdgcn_raw_buffer_load_b16(resource, offset, soffset, 0));
        else return __builtin_bit_cast(T, __builtin_amdgcn_raw_buffer_load_b8(resource, offset, soffset, 0));
    }

private:
    /// Format word of the resource descriptor: 32-bit words, byte offsets.
#if defined(__GFX11__) || defined(__GFX12__)
    static constexpr std::uint32_t words = 0x31004000;
#else
    static constexpr std::uint32_t words = 0x00020000;
#endif
    /// Size and format words of the buffer resource descriptor, in registers that are not contiguous with its address
    /// words: otherwise the compiler copies both next to the address at each load.
    std::uint32_t bytes, format;
#else
    template <class T>
    __device__ T load(std::uint32_t of_lane, std::uint32_t of_wave = 0) const {
        T result = {};
        std::uint64_t const offset = std::uint64_t{of_lane} + of_wave;
        if (offset + sizeof(T) <= bytes)
            __builtin_memcpy(&result, reinterpret_cast<void const*>(first + offset), sizeof result);
        return result;
    }

private:
    std::uint32_t bytes;
#endif
    std::uint64_t first;

    __device__ static std::uint32_t bytes_until(void const* end, std::uint64_t address) {
        std::uint64_t const result = reinterpret_cast<std::uint64_t>(end) - address;
        return result < out_of_bounds ? static_cast<std::uint32_t>(result) : out_of_bounds;
    }
};

}  // namespace fusekit::hip
