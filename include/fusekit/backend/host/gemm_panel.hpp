// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

#include "fusekit/backend/host/gemm.hpp"
#include "fusekit/backend/host/integer.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Vectors of filters in a panel, at most. With 32 registers a block of 6 rows x 4 vectors loads 10 vectors for 24
/// multiply-adds, one of 12 x 2 loads 14.
inline constexpr int panel_vectors = config::vector_registers == 32 ? 4 : 2;
inline constexpr int panel_columns = panel_vectors * lanes;

/// Elements between the vectors of a panel that a block multiplies and those that it prefetches.
inline constexpr int panel_ahead = 512;

/// Rows of a register block for a panel of `vectors` vectors: half of a tile's, or all.
constexpr int block_rows(int vectors) { return vectors > 2 ? tile_rows / 2 : tile_rows; }

/// Memory that a block prefetches while it multiplies: `bytes` for each index of GemmK, `chunk` indices at a time. For
/// ranges longer than a chunk.
struct Ahead {
    static constexpr std::int64_t chunk = 16;
    char const* from = nullptr;
    std::int64_t bytes = 0;
};

/// Number `number` of 1 / share parts of the memory that a tile reads.
struct Part {
    std::int64_t number;
    float share;
};

/// Memory that register block number `block` of `blocks` prefetches of its part of a later tile's last range: nothing
/// if the rows are not in order or not close. Short ranges are prefetched here. of_gemm_k: 1 / GemmK.
template <class Acc>
Ahead part_of(KRange<Acc> const& of, Part const& part, int block, int blocks, float of_gemm_k) {
    constexpr std::int64_t most = 64 * 1024;
    char const* const from = reinterpret_cast<char const*>(of.row[0]);
    std::int64_t const size = reinterpret_cast<char const*>(of.row[tile_rows - 1] + of.length) - from;
    if (of.padding || size <= 0 || size > most) return {};
    auto const bytes = static_cast<std::int64_t>(static_cast<float>(size) * part.share) / blocks;
    char const* const own = from + bytes * (part.number * blocks + block);
    if (of.length > Ahead::chunk) return {own, static_cast<std::int64_t>(static_cast<float>(bytes) * of_gemm_k) + 1};
    for (std::int64_t at = 0; at < bytes; at += 4 * line_floats) __builtin_prefetch(own + at);
    return {};
}

/// Operands of a register block: rows first_row ... of a tile, from element `offset` of each range on, and a panel of
/// GemmK x vectors. Ranges of padding are skipped if `skips_padding`: filters are finite, products with zeros are zero.
template <class Acc>
struct BlockOperands {
    KRange<Acc> const* k_ranges;
    std::int64_t count, offset;
    Acc const* panel;
    bool skips_padding;
    Ahead ahead;
    int first_row = 0;
};

/// Accumulators of a tile and a panel, converted to float.
struct PanelSums {
    Vector value[tile_rows][panel_vectors];
};

namespace detail {

/// Multiplies sizeof...(Row) rows and calls finish(j, sums of the rows) for each vector j. Each range of GemmK is split
/// into `Phases` interleaved sums, so that few accumulators are not bound by the latency of a multiply-add.
template <int Phases, class Acc, class Finish, int... Row, int... J>
[[gnu::always_inline]] inline void multiply_block(BlockOperands<Acc> const& of, Finish const& finish,
                                                  std::integer_sequence<int, Row...>,
                                                  std::integer_sequence<int, J...>) {
    using Register = RegisterOf<Acc>;
    constexpr auto rows = sizeof...(Row), vectors = sizeof...(J), phases = static_cast<std::size_t>(Phases);
    constexpr int columns = static_cast<int>(vectors) * lanes;
    constexpr bool prefetches = rows >= 6, prefetches_panel = prefetches && vectors > 1;
    Register sum[phases][vectors][rows] = {};
    Acc const* panel = of.panel;
    char const *ahead = of.ahead.from, *target = ahead;
    auto const add = [&](Register(&to)[vectors][rows], Acc const* const(&row)[rows], std::int64_t k, Acc const* at) {
        if constexpr (prefetches_panel)
            for (int line = 0; line < columns; line += line_floats) __builtin_prefetch(at + panel_ahead + line);
        // Not an array: g++ 12 would keep it on the stack.
        auto const add_columns = [&](auto... b) {
            auto const add_row = [&](Acc x, int i) { ((to[J][i] += x * b), ...); };
            (add_row(row[Row][k], Row), ...);
        };
        add_columns(load(at + J * lanes)...);
    };
    for (KRange<Acc> const* s = of.k_ranges; s != of.k_ranges + of.count; ++s) {
        std::int64_t k = of.offset;
        std::int64_t const end = k + s->length;
        if (s->padding && of.skips_padding) {
            panel += s->length * columns;
            continue;
        }
        Acc const* const row[] = {s->row[of.first_row + Row]...};
        if constexpr (Phases > 1)
            for (; k + Phases <= end; k += Phases, panel += Phases * columns)
                [&]<int... Phase>(std::integer_sequence<int, Phase...>) {
                    (add(sum[Phase], row, k + Phase, panel + Phase * columns), ...);
                }(std::make_integer_sequence<int, Phases>{});
        if constexpr (prefetches)
            if (of.ahead.bytes > 0)
                for (; k + Ahead::chunk < end;) {
                    for (target += of.ahead.bytes * Ahead::chunk; ahead < target; ahead += 4 * line_floats)
                        __builtin_prefetch(ahead);
                    for (std::int64_t const until = k + Ahead::chunk; k < until; ++k, panel += columns)
                        add(sum[0], row, k, panel);
                }
        for (; k < end; ++k, panel += columns) add(sum[0], row, k, panel);
    }
    [&]<int... Phase>(std::integer_sequence<int, Phase...>) {
        [[maybe_unused]] auto const merge = [&](auto& to, auto const& from) { ((to[Row] += from[Row]), ...); };
        [[maybe_unused]] auto const merge_vectors = [&](auto const& from) { (merge(sum[0][J], from[J]), ...); };
        (merge_vectors(sum[Phase + 1]), ...);
    }(std::make_integer_sequence<int, Phases - 1>{});
    auto const finish_vector = [&](int j, Register const(&sums)[rows]) {
        Vector const results[] = {floats(sums[Row])...};
        finish(j, results);
    };
    (finish_vector(J, sum[0][J]), ...);
}

}  // namespace detail

/// Multiplies Rows rows by a panel of Vectors vectors; finish(j, sums) gets the sums of the rows for vector j, as
/// Vector const (&)[Rows].
template <int Rows, int Vectors, class Acc, class Finish>
[[gnu::always_inline]] inline void multiply_block_inline(BlockOperands<Acc> const& of, Finish const& finish) {
    constexpr int phases = (8 + Rows * Vectors - 1) / (Rows * Vectors);
    detail::multiply_block < phases<4 ? phases : 4>(of, finish, std::make_integer_sequence<int, Rows>{},
                                                    std::make_integer_sequence<int, Vectors>{});
}
template <int Rows, int Vectors, class Acc, class Finish>
[[gnu::noinline]] void multiply_block(BlockOperands<Acc> const& of, Finish finish) {
    multiply_block_inline<Rows, Vectors>(of, finish);
}

/// Stores the sums of a block to those of its tile.
struct KeepSums {
    PanelSums* to;
    int first_row;

    template <std::size_t Rows>
    [[gnu::always_inline]] void operator()(int j, Vector const (&sums)[Rows]) const {
        for (std::size_t i = 0; i < Rows; ++i) to->value[static_cast<std::size_t>(first_row) + i][j] = sums[i];
    }
};

namespace detail {

/// multiply_block() for the least of `Sizes` rows that is at least `rows`.
template <int Vectors, int Size, int... Sizes, class Acc>
void multiply_rows(int rows, BlockOperands<Acc> const& of, PanelSums& sums) {
    if constexpr (sizeof...(Sizes) > 0)
        if (rows > Size) return multiply_rows<Vectors, Sizes...>(rows, of, sums);
    multiply_block<Size, Vectors>(of, KeepSums{&sums, of.first_row});
}

}  // namespace detail

/// sums = rows x panel, for at least `rows` rows from of.first_row on: block_rows(vectors) at most.
template <class Acc>
void multiply_panel(int vectors, int rows, BlockOperands<Acc> const& of, PanelSums& sums) {
    if constexpr (panel_vectors == 4) {
        if (vectors == 4) return detail::multiply_rows<4, 1, 2, block_rows(4)>(rows, of, sums);
        if (vectors == 3) return detail::multiply_rows<3, 1, block_rows(3)>(rows, of, sums);
    }
    if (vectors == 2) return detail::multiply_rows<2, 1, 2, 4, tile_rows>(rows, of, sums);
    detail::multiply_rows<1, 1, 2, tile_rows>(rows, of, sums);
}

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
