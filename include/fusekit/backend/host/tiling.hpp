// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/gemm.hpp"
#include "fusekit/backend/host/integer.hpp"

namespace fusekit::host {

/// Bytes of activations that one item of work keeps at hand: with the filters it streams they fit an L2 cache.
inline constexpr std::int64_t item_bytes = 192 * 1024;

/// Bytes of filter panels that a tile meets before the next tile has its turn: half an L1 cache.
inline constexpr std::int64_t panel_bytes = 16 * 1024;

/// How many of `tiles` an item takes: at most `most`, and such that the threads finish together.
constexpr std::int64_t tiles_per_item(std::int64_t tiles, std::int64_t most, int threads) {
    std::int64_t const items = round_up(divide_up(tiles, most), threads);
    return divide_up(tiles, items);
}

/// Floats from one packed row of GemmK to the next. A line more than the row, because rows a power of two apart
/// share sets of the L1 cache.
constexpr std::int64_t packed_row_stride(std::int64_t gemm_k) { return round_up(gemm_k, 16) + 16; }

/// Whether rows so many floats apart keep out of each other's way in the L1 cache.
constexpr bool apart_in_cache(std::int64_t stride) { return stride < 512 || stride % 512 != 0; }

}  // namespace fusekit::host
