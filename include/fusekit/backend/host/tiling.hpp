// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/gemm.hpp"
#include "fusekit/backend/host/integer.hpp"

namespace fusekit::host {

/// The bytes of activations that one item of work reuses: with the filters it streams they fit an L2 cache.
inline constexpr std::int64_t item_bytes = 192 * 1024;

/// The bytes of filter panels that a tile is multiplied with before the next tile: half an L1 cache.
inline constexpr std::int64_t panel_bytes = 16 * 1024;

/// The number of `tiles` that an item takes: at most `most`, and such that the threads finish together.
FUSEKIT_H constexpr std::int64_t tiles_per_item(std::int64_t tiles, std::int64_t most, int threads) {
    std::int64_t const items = round_up(detail::divide_up(tiles, most), threads);
    return detail::divide_up(tiles, items);
}

/// The floats from one packed row of GemmK to the next: a line more than the row, because rows a power of two apart
/// share sets of the L1 cache.
FUSEKIT_H constexpr std::int64_t packed_row_stride(std::int64_t gemm_k) { return round_up(gemm_k, 16) + 16; }

/// Whether rows this many floats apart fall into different sets of the L1 cache.
FUSEKIT_H constexpr bool apart_in_cache(std::int64_t stride) { return stride < 512 || stride % 512 != 0; }

}  // namespace fusekit::host
