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

/// Floats of a cache line.
inline constexpr int line_floats = 16;

/// A range of GemmK in which every row of a register tile is contiguous: addresses of the rows, and the length of the
/// range. A row is the window of a pixel, or a filter; rows past the last one repeat another row. Acc is the type of
/// operands and accumulators: float or std::int32_t.
template <class Acc>
struct KRange {
    Acc const* row[tile_rows];
    std::int64_t length;
    bool padding = false;  ///< all rows are zeros
};

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
            __builtin_prefetch(panel + 32 * tile_columns);
            Register const b0 = load(panel), b1 = load(panel + lanes);
            ((left[Row] += row[Row][k] * b0, right[Row] += row[Row][k] * b1), ...);
        }
    }
    ((result.value[Row][0] = floats(left[Row]), result.value[Row][1] = floats(right[Row])), ...);
}

}  // namespace detail

/// result = rows x panel: multiplies tile_rows rows, whose GemmK is given as `count` ranges, by a packed panel of GemmK
/// x tile_columns.
template <class Acc>
[[gnu::noinline]] void gemm_tile(TileAccumulators& result, KRange<Acc> const* k_ranges, std::int64_t count,
                                 Acc const* panel) {
    detail::gemm_tile(result, k_ranges, count, panel, std::make_integer_sequence<int, tile_rows>{});
}

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
