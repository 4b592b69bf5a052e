// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/tensor/stand_in.hpp"

namespace fusekit::hip {

namespace detail {

/// Returns the driver's CUtensorMapSwizzle for a row of `elements` elements, 64 or 128 bytes: the swizzle as wide as
/// the row.
FUSEKIT_H constexpr int swizzle_of(std::uint32_t elements, int element_bytes) {
    return elements * static_cast<std::uint32_t>(element_bytes) == 64 ? 2 : 3;
}

}  // namespace detail

/// TensorMap: descriptor of a tensor for TMA, part of the kernel argument. encode_tiled() and encode_im2col() list
/// modes fastest first, encode_im2col() 4 or 5; strides are in bytes, for all modes except the first, and multiples
/// of 16. A row of a box has 128 bytes with the 128-byte swizzle (address bits 4 to 6 XOR bits 7 to 9), or 64 bytes
/// with the 64-byte swizzle (bits 4 and 5 XOR bits 7 and 8). Rows of an unswizzled tiled box are contiguous and a
/// multiple of 16 bytes. Both functions return false if the driver returns an error or lacks the function. Source: CUDA
/// driver API, "Tensor Map Object Access".
#if defined(HIP_ON_CPU)
using TensorMap = hip_on_cpu::sm90a::TensorMap;

FUSEKIT_H inline bool encode_tiled(TensorMap& map, int element_bytes, unsigned rank, void const* memory,
                                   std::uint64_t const* extents, std::uint64_t const* strides, std::uint32_t const* box,
                                   bool swizzled = true) {
    return hip_on_cpu::sm90a::encode_tiled(&map, element_bytes, rank, const_cast<void*>(memory), extents, strides, box,
                                           swizzled ? detail::swizzle_of(box[0], element_bytes) : 0);
}
FUSEKIT_H inline bool encode_im2col(TensorMap& map, int element_bytes, void const* memory, std::uint64_t const* extents,
                                    std::uint64_t const* strides, int const* lower, int const* upper, unsigned channels,
                                    unsigned pixels, std::uint32_t const* steps, unsigned rank = 4) {
    return hip_on_cpu::sm90a::encode_im2col(&map, element_bytes, const_cast<void*>(memory), extents, strides, lower,
                                            upper, channels, pixels, steps, detail::swizzle_of(channels, element_bytes),
                                            rank);
}
FUSEKIT_H inline void replace_memory(TensorMap& map, void const* memory) {
    map.memory = reinterpret_cast<std::uint64_t>(memory);
}

#elif defined(__CUDACC_RTC__)
/// CUtensorMap, and the functions of host code, which NVRTC does not compile.
struct alignas(64) TensorMap {
    std::uint64_t opaque[16];
};
FUSEKIT_H bool encode_tiled(TensorMap&, int, unsigned, void const*, std::uint64_t const*, std::uint64_t const*,
                            std::uint32_t const*, bool = true);
FUSEKIT_H bool encode_im2col(TensorMap&, int, void const*, std::uint64_t const*, std::uint64_t const*, int const*,
                             int const*, unsigned, unsigned, std::uint32_t const*, unsigned = 4);
FUSEKIT_H void replace_memory(TensorMap&, void const*);

#elif defined(__CUDACC__) && CUDART_VERSION >= 12050
/// CUtensorMap, declared without the driver's header.
struct alignas(64) TensorMap {
    std::uint64_t opaque[16];
};

namespace detail {

/// Returns the driver's function of this name, or null if the driver lacks it.
template <class Function>
Function* driver_function(char const* name) {
    void* found = nullptr;
    auto result = cudaDriverEntryPointSymbolNotFound;
    if (cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result) != cudaSuccess)
        static_cast<void>(cudaGetLastError());
    return reinterpret_cast<Function*>(result == cudaDriverEntryPointSuccess ? found : nullptr);
}

/// Returns the address to pass to the driver: `memory`, or a fixed valid address if `memory` is a fake pointer
/// (tensor/stand_in.hpp), for which the driver would return an error. No launch uses a tensor map of fake memory.
FUSEKIT_H inline void const* encoded(void const* memory) {
    constexpr std::uintptr_t any = 1 << 20;
    return fusekit::detail::is_stand_in(memory) ? reinterpret_cast<void const*>(any) : memory;
}

/// Values of the driver's tensor map enumerations: no interleave, L2 promotion to 256 bytes, zero fill, and
/// (unsigned_of()) the unsigned integer type of `bytes` bytes.
inline constexpr int no_interleave = 0, promote_256_bytes = 3, fill_with_zeros = 0;
constexpr int unsigned_of(int bytes) { return bytes == 1 ? 0 : bytes == 2 ? 1 : 2; }

}  // namespace detail

FUSEKIT_H inline bool encode_tiled(TensorMap& map, int element_bytes, unsigned rank, void const* memory,
                                   std::uint64_t const* extents, std::uint64_t const* strides, std::uint32_t const* box,
                                   bool swizzled = true) {
    using Encode = int(TensorMap*, int, unsigned, void const*, std::uint64_t const*, std::uint64_t const*,
                       std::uint32_t const*, std::uint32_t const*, int, int, int, int);
    static auto* const encode = detail::driver_function<Encode>("cuTensorMapEncodeTiled");
    std::uint32_t const steps[] = {1, 1, 1, 1, 1};
    return encode && encode(&map, detail::unsigned_of(element_bytes), rank, detail::encoded(memory), extents, strides,
                            box, steps, detail::no_interleave, swizzled ? detail::swizzle_of(box[0], element_bytes) : 0,
                            detail::promote_256_bytes, detail::fill_with_zeros) == 0;
}
FUSEKIT_H inline bool encode_im2col(TensorMap& map, int element_bytes, void const* memory, std::uint64_t const* extents,
                                    std::uint64_t const* strides, int const* lower, int const* upper, unsigned channels,
                                    unsigned pixels, std::uint32_t const* steps, unsigned rank = 4) {
    using Encode = int(TensorMap*, int, unsigned, void const*, std::uint64_t const*, std::uint64_t const*, int const*,
                       int const*, unsigned, unsigned, std::uint32_t const*, int, int, int, int);
    static auto* const encode = detail::driver_function<Encode>("cuTensorMapEncodeIm2col");
    return encode &&
           encode(&map, detail::unsigned_of(element_bytes), rank, detail::encoded(memory), extents, strides, lower,
                  upper, channels, pixels, steps, detail::no_interleave, detail::swizzle_of(channels, element_bytes),
                  detail::promote_256_bytes, detail::fill_with_zeros) == 0;
}
FUSEKIT_H inline void replace_memory(TensorMap& map, void const* memory) {
    using Replace = int(TensorMap*, void const*);
    static auto* const replace = detail::driver_function<Replace>("cuTensorMapReplaceAddress");
    replace(&map, memory);
}

#else
struct TensorMap {};
FUSEKIT_H inline bool encode_tiled(TensorMap&, int, unsigned, void const*, std::uint64_t const*, std::uint64_t const*,
                                   std::uint32_t const*, bool = true) {
    return false;
}
FUSEKIT_H inline bool encode_im2col(TensorMap&, int, void const*, std::uint64_t const*, std::uint64_t const*,
                                    int const*, int const*, unsigned, unsigned, std::uint32_t const*, unsigned = 4) {
    return false;
}
FUSEKIT_H inline void replace_memory(TensorMap&, void const*) {}
#endif

}  // namespace fusekit::hip
