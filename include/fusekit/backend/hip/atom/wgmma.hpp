// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/bulk_row.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/tensor/dtype.hpp"
#include "fusekit/tensor/products.hpp"

namespace fusekit::hip {

/// MMA of a warpgroup on sm_90a's tensor cores (wgmma): acc[i][j] += sum over k of a[i][k] b[j][k], for 64 rows i, N
/// rows j and 32 bytes of indices k. Products of half, bfloat16, tf32, e4m3 and e5m2 are exact and accumulate in float,
/// int8 in int32. Accumulators of 8-bit floats need promotion.
///
/// Operands in SMEM consist of lines of 128 bytes with the 128-byte swizzle, from a multiple of 1024 bytes on; or lines
/// of 64 bytes with the 64-byte swizzle, by default for 8-bit elements and N <= 64. K-major, a line has the indices k
/// of one row; MN-major, it has 64 rows at one index k. Source: PTX ISA 8.7, section 9.7.15.5; m64nNk8, m64nNk16 and
/// m64nNk32.
template <class T, int N, ptx::Major a_major = ptx::Major::k, ptx::Major b_major = ptx::Major::k,
          int RowBytes = bulk_row_bytes(N, sizeof(T))>
struct Wgmma {
    static_assert(std::is_same_v<T, half> || std::is_same_v<T, bfloat16> || std::is_same_v<T, int8> ||
                  std::is_same_v<T, tf32> || std::is_same_v<T, e4m3> || std::is_same_v<T, e5m2>);
    using Architecture = arch::Sm90a;
    static constexpr int m = 64, n = N, k = 32 / static_cast<int>(sizeof(T)), threads = 128, acc_per_thread = N / 2;
    static constexpr int row_bytes = RowBytes, tile_k = row_bytes / static_cast<int>(sizeof(T));
    static_assert(row_bytes == 128 || (a_major == ptx::Major::k && b_major == ptx::Major::k));

    using Acc = detail::AccumulatorOf<T>;
    using Accumulators = Acc[acc_per_thread];

    /// True if accumulators must be promoted: fp8 wgmma truncates addends 13 bits below the largest, so that its sums
    /// are added to FP32 accumulators every k-tile.
    static constexpr bool needs_promotion = detail::is_float8<T>;

    /// Row i and column j of accumulator e of a thread of the warpgroup.
    FUSEKIT_HD static constexpr int row(int thread, int e) {
        return thread / 32 * 16 + thread % 32 / 4 + e / 2 % 2 * 8;
    }
    FUSEKIT_HD static constexpr int column(int thread, int e) { return e / 4 * 8 + thread % 4 * 2 + e % 2; }

    /// Returns the SMEM matrix descriptor of the operand tile at `address`: address / 16, byte stride between groups of
    /// 8 lines, swizzle mode.
    FUSEKIT_HD static constexpr std::uint64_t descriptor(std::uint32_t address) {
        constexpr std::uint64_t swizzle = row_bytes == 128 ? 1 : 2;
        return address >> 4 | std::uint64_t{1} << 16 | std::uint64_t{8 * row_bytes >> 4} << 32 | swizzle << 62;
    }
    /// Returns the SMEM matrix descriptor of an MN-major tile at `address`: `lines` lines (one per k) of 64 rows each,
    /// then the same number of lines of the next 64 rows. In a cluster, an SMEM address also has the CTA's rank, in
    /// bits that overlap the descriptor's leading dimension; they are masked off.
    FUSEKIT_HD static constexpr std::uint64_t mn_descriptor(std::uint32_t address, int lines = tile_k) {
        return descriptor(address & 0x3ffff) - (std::uint64_t{1} << 16) + (row_offset(lines) << 16);
    }
    /// Increments of a descriptor: k_step advances it to the next k-block (Wgmma::k indices of GemmK), row_offset() by
    /// `rows` rows of the tile, a multiple of 8.
    static constexpr std::uint64_t k_step = (k * sizeof(T)) >> 4;
    static constexpr std::uint64_t mn_k_step = (k * row_bytes) >> 4;
    static constexpr std::uint64_t a_k_step = a_major == ptx::Major::mn ? mn_k_step : k_step,
                                   b_k_step = b_major == ptx::Major::mn ? mn_k_step : k_step;
    FUSEKIT_HD static constexpr std::uint64_t row_offset(int rows) {
        return static_cast<std::uint64_t>(rows * row_bytes) >> 4;
    }
    /// Returns `descriptor` advanced by `words` units of 16 bytes, or by `rows` rows of the tile. Both change only the
    /// lower 32 bits.
    FUSEKIT_HD static constexpr std::uint64_t advanced(std::uint64_t descriptor, std::uint32_t words) {
        return descriptor >> 32 << 32 | (static_cast<std::uint32_t>(descriptor) + words);
    }
    FUSEKIT_HD static constexpr std::uint64_t add_rows(std::uint64_t descriptor, int rows) {
        return advanced(descriptor, static_cast<std::uint32_t>(row_offset(rows)));
    }

    /// Issues one wgmma: acc = a b, or acc += a b if `adds`. a and b are SMEM matrix descriptors.
    __device__ static void multiply(Accumulators& acc, std::uint64_t a, std::uint64_t b, bool adds) {
        constexpr auto factor = std::is_same_v<T, half>       ? ptx::Factor::half
                                : std::is_same_v<T, bfloat16> ? ptx::Factor::bfloat16
                                : std::is_same_v<T, tf32>     ? ptx::Factor::tf32
                                : std::is_same_v<T, e4m3>     ? ptx::Factor::e4m3
                                : std::is_same_v<T, e5m2>     ? ptx::Factor::e5m2
                                                              : ptx::Factor::int8;
        ptx::wgmma<factor, N, a_major, b_major>(acc, a, b, adds);
    }
    /// Issues one wgmma with a in registers, as 16-bit elements; b is the first `columns` rows j of an SMEM tile.
    template <int columns = N>
    __device__ static void multiply(Acc (&acc)[columns / 2], std::uint32_t const (&a)[4], std::uint64_t b, bool adds)
        requires(a_major == ptx::Major::k)
    {
        constexpr auto factor = std::is_same_v<T, half> ? ptx::Factor::half : ptx::Factor::bfloat16;
        ptx::wgmma<factor, columns, b_major>(acc, a, b, adds);
    }
};

}  // namespace fusekit::hip
