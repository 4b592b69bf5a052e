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
            __builtin_prefetch(panel + 32 * tile_columns);
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

/// Multiplies sizeof...(Row) rows. Each range of GemmK is split into `Phases` interleaved sums, so that few rows are
/// not bound by the latency of a multiply-add.
template <int Phases, class Acc, int... Row>
[[gnu::always_inline]] inline void gemm_rows(TileAccumulators& result, KRange<Acc> const* k_ranges, std::int64_t count,
                                             Acc const* panel, std::integer_sequence<int, Row...>) {
    using Register = decltype(load(panel));
    constexpr auto phases = static_cast<std::size_t>(Phases);
    Register left[phases][sizeof...(Row)] = {}, right[phases][sizeof...(Row)] = {};
    auto const add = [&]<int... Phase>(Acc const* const* row, std::int64_t k, std::integer_sequence<int, Phase...>) {
        auto const add_column = [&](auto& of_left, auto& of_right, Acc const* b, std::int64_t at) {
            Register const b0 = load(b), b1 = load(b + lanes);
            ((of_left[Row] += row[Row][at] * b0, of_right[Row] += row[Row][at] * b1), ...);
        };
        (add_column(left[Phase], right[Phase], panel + Phase * tile_columns, k + Phase), ...);
        panel += sizeof...(Phase) * tile_columns;
    };
    for (KRange<Acc> const* s = k_ranges; s != k_ranges + count; ++s) {
        Acc const* const row[] = {s->row[Row]...};
        std::int64_t const length = s->length;
        std::int64_t k = 0;
        for (; k + Phases <= length; k += Phases) add(row, k, std::make_integer_sequence<int, Phases>{});
        if constexpr (Phases > 1)
            for (; k < length; ++k) add(row, k, std::make_integer_sequence<int, 1>{});
    }
    [&]<int... Phase>(std::integer_sequence<int, Phase...>) {
        [[maybe_unused]] auto const merge = [&](auto const& of_left, auto const& of_right) {
            ((left[0][Row] += of_left[Row], right[0][Row] += of_right[Row]), ...);
        };
        (merge(left[Phase + 1], right[Phase + 1]), ...);
    }(std::make_integer_sequence<int, Phases - 1>{});
    ((result.value[Row][0] = floats(left[0][Row]), result.value[Row][1] = floats(right[0][Row])), ...);
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

/// gemm_tile() for the first Rows rows of a tile; the others of `result` are not written.
template <int Rows, class Acc>
[[gnu::noinline]] void gemm_rows(TileAccumulators& result, KRange<Acc> const* k_ranges, std::int64_t count,
                                 Acc const* panel) {
    constexpr int phases = Rows < 4 ? 4 / Rows : 1;
    detail::gemm_rows<phases>(result, k_ranges, count, panel, std::make_integer_sequence<int, Rows>{});
}

/// gemm_tile() for at least the first `rows` rows; `half`: for the first `lanes` columns of a panel.
template <class Acc>
void gemm_tile_of(std::int64_t rows, bool half, TileAccumulators& result, KRange<Acc> const* k_ranges,
                  std::int64_t count, Acc const* panel) {
    if (rows == 1) return gemm_rows<1>(result, k_ranges, count, panel);
    if (rows == 2) return gemm_rows<2>(result, k_ranges, count, panel);
    if (half) return gemm_half_tile(result, k_ranges, count, panel);
    if (rows <= 4) return gemm_rows<4>(result, k_ranges, count, panel);
    if constexpr (tile_rows > 8)
        if (rows <= 8) return gemm_rows<8>(result, k_ranges, count, panel);
    gemm_tile(result, k_ranges, count, panel);
}

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
