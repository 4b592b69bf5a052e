// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/gemm.hpp"
#include "fusekit/backend/host/integer.hpp"

namespace fusekit::host {

/// Bytes of activations that one work item reuses: the activations and the streamed filters fit an L2 cache.
inline constexpr std::int64_t item_bytes = 192 * 1024;

/// Bytes of filter panels that one tile is multiplied by before the next tile: half an L1 cache.
inline constexpr std::int64_t panel_bytes = 16 * 1024;

/// Number of tiles per work item of parallel_for: at most `most`, and such that the items divide evenly among the
/// threads.
FUSEKIT_H constexpr std::int64_t tiles_per_item(std::int64_t tiles, std::int64_t most, int threads) {
    std::int64_t const items = round_up(detail::divide_up(tiles, most), threads);
    return detail::divide_up(tiles, items);
}

/// Distance in floats between packed rows of GemmK: a row and one more cache line, because rows a power of two apart
/// map to the same L1 sets.
FUSEKIT_H constexpr std::int64_t packed_row_stride(std::int64_t gemm_k) { return round_up(gemm_k, 16) + 16; }

/// True if rows `stride` floats apart map to different L1 sets.
FUSEKIT_H constexpr bool apart_in_cache(std::int64_t stride) { return stride < 512 || stride % 512 != 0; }

}  // namespace fusekit::host
