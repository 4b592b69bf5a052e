// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

#include "fusekit/backend/host/vector.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Register tile of the CPU GEMM: tile_rows x tile_columns accumulators, which fill the register file except for the
/// broadcast element of a row and the two vectors of a panel.
inline constexpr int tile_rows = config::vector_registers == 32 ? 12 : 6;
inline constexpr int tile_vectors = 2;
inline constexpr int tile_columns = tile_vectors * lanes;

/// A range of GemmK in which every row of a register tile is contiguous: addresses of the rows, and the length of the
/// range. A row is the window of a pixel, or a filter; rows past the last one repeat another row. Acc is the type of
/// operands and accumulators: float or std::int32_t.
template <class Acc>
struct KRange {
    Acc const* row[tile_rows];
    std::int64_t length;
};

/// Prefetches the first cache lines of the rows of a register tile: short rows end before the hardware prefetcher
/// detects them.
template <class Acc>
void prefetch(KRange<Acc> const& k_range) {
    constexpr int most = 256, line = 16;  // elements of 4 bytes
    for (Acc const* row : k_range.row)
        for (int k = 0; k < most && k < k_range.length; k += line) __builtin_prefetch(row + k);
}

/// Accumulators of one register tile, converted to float: value[i][j] = sum over k of row[i][k] * column[j][k].
struct TileAccumulators {
    Vector value[tile_rows][tile_vectors];
};

namespace detail {

template <class Acc, int... Row>
[[gnu::always_inline]] inline void gemm_tile(TileAccumulators& result, KRange<Acc> const* k_ranges, std::int64_t count,
                                             Acc const* panel, std::integer_sequence<int, Row...>) {
    using Register = decltype(load(panel));
    Register left[tile_rows] = {}, right[tile_rows] = {};
    for (KRange<Acc> const* s = k_ranges; s != k_ranges + count; ++s) {
        Acc const* const row[tile_rows] = {s->row[Row]...};
        std::int64_t const length = s->length;
        for (std::int64_t k = 0; k < length; ++k, panel += tile_columns) {
            Register const b0 = load(panel), b1 = load(panel + lanes);
            ((left[Row] += row[Row][k] * b0, right[Row] += row[Row][k] * b1), ...);
        }
    }
    ((result.value[Row][0] = floats(left[Row]), result.value[Row][1] = floats(right[Row])), ...);
}

template <class Acc, int... Row>
[[gnu::always_inline]] inline void gemm_half_tile(TileAccumulators& result, KRange<Acc> const* k_ranges,
                                                  std::int64_t count, Acc const* panel,
                                                  std::integer_sequence<int, Row...>) {
    using Register = decltype(load(panel));
    // Two accumulators a row, of even and of odd k: one each would be bound by the latency of a multiply-add.
    Register even[tile_rows] = {}, odd[tile_rows] = {};
    for (KRange<Acc> const* s = k_ranges; s != k_ranges + count; ++s) {
        Acc const* const row[tile_rows] = {s->row[Row]...};
        std::int64_t const length = s->length;
        std::int64_t k = 0;
        for (; k + 2 <= length; k += 2, panel += 2 * tile_columns) {
            Register const b0 = load(panel), b1 = load(panel + tile_columns);
            ((even[Row] += row[Row][k] * b0, odd[Row] += row[Row][k + 1] * b1), ...);
        }
        if (k < length) {
            Register const b0 = load(panel);
            ((even[Row] += row[Row][k] * b0), ...);
            panel += tile_columns;
        }
    }
    ((result.value[Row][0] = floats(even[Row] + odd[Row])), ...);
}

}  // namespace detail

/// result = rows x panel: multiplies tile_rows rows, whose GemmK is given as `count` ranges, by a packed panel of GemmK
/// x tile_columns.
template <class Acc>
[[gnu::noinline]] void gemm_tile(TileAccumulators& result, KRange<Acc> const* k_ranges, std::int64_t count,
                                 Acc const* panel) {
    detail::gemm_tile(result, k_ranges, count, panel, std::make_integer_sequence<int, tile_rows>{});
}

/// gemm_tile() for the first `lanes` columns of a panel, when the others are padding.
template <class Acc>
[[gnu::noinline]] void gemm_half_tile(TileAccumulators& result, KRange<Acc> const* k_ranges, std::int64_t count,
                                      Acc const* panel) {
    detail::gemm_half_tile(result, k_ranges, count, panel, std::make_integer_sequence<int, tile_rows>{});
}

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
