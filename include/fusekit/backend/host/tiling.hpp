// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/gemm.hpp"
#include "fusekit/backend/host/integer.hpp"

namespace fusekit::host {

/// Bytes of activations that one item reuses: fit an L2 cache together with the streamed filters.
inline constexpr std::int64_t item_bytes = 192 * 1024;

/// Bytes of filter panels that a tile is multiplied by before the next tile: half an L1 cache.
inline constexpr std::int64_t panel_bytes = 16 * 1024;

/// Number of `tiles` per item: at most `most`, balanced over the threads.
FUSEKIT_H constexpr std::int64_t tiles_per_item(std::int64_t tiles, std::int64_t most, int threads) {
    std::int64_t const items = round_up(detail::divide_up(tiles, most), threads);
    return detail::divide_up(tiles, items);
}

/// Floats between packed rows of GemmK: a cache line more than a row, because rows a power of two apart map to the same
/// L1 sets.
FUSEKIT_H constexpr std::int64_t packed_row_stride(std::int64_t gemm_k) { return round_up(gemm_k, 16) + 16; }

/// True if rows this many floats apart map to different L1 sets.
FUSEKIT_H constexpr bool apart_in_cache(std::int64_t stride) { return stride < 512 || stride % 512 != 0; }

}  // namespace fusekit::host
