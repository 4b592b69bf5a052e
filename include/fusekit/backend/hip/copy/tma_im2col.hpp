// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/copy/transposed_filters.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"
#include "fusekit/backend/hip/tile_order.hpp"

namespace fusekit::hip {

/// SMEM stage with the operands of one k-tile: TileM windows of x and TileN filters in Wgmma's layout; each window or
/// filter is a row along GemmK. If y has fewer than TileM pixels or w fewer than TileN filters, the remaining rows keep
/// old data and are multiplied too, but their accumulators are not stored. MN-major filters are loaded in blocks of 64;
/// TMA zero-fills filters past the last.
template <class T, int TileM, int TileN, ptx::Major filters_major = ptx::Major::k>
struct BulkStage {
    static constexpr int tile_m = TileM, row_bytes = Wgmma<T, TileN>::row_bytes, tile_k = Wgmma<T, TileN>::tile_k;
    static constexpr ptx::Major major = filters_major;
    static constexpr int rows_of_filters =
        major == ptx::Major::mn ? static_cast<int>(detail::divide_up(TileN, 64)) * 64 : TileN;

    /// Returns the number of rows of operand w that TMA loads, if `count` filters remain from the tile's first filter
    /// on.
    __device__ static constexpr int filters(int count) {
        if constexpr (major == ptx::Major::mn) count = static_cast<int>(detail::divide_up(count, 64)) * 64;
        return count < rows_of_filters ? count : rows_of_filters;
    }
    __device__ static constexpr unsigned bytes(int filters, int windows = TileM) {
        return static_cast<unsigned>(windows + filters) * row_bytes;
    }

    alignas(1024) T x[TileM * tile_k];
    alignas(1024) T w[rows_of_filters * tile_k];
};

/// Prefetches the tensor maps of a launch's x, w and y, in thread 32, because thread 0 initializes the CTA's barriers.
template <class Maps>
__device__ void prefetch_maps(Maps const& maps, unsigned thread) {
    if (thread != 32) return;
    if (!maps.copies_x()) ptx::prefetch_tensormap(&maps.x);
    if (maps.copied_bytes == 0) ptx::prefetch_tensormap(&maps.w);
    if (maps.last_filters > 0) ptx::prefetch_tensormap(&maps.w_last);
    if (maps.stores_y) ptx::prefetch_tensormap(&maps.y);
}

/// Number of k-tiles of a convolution: for each tap, the channels in blocks of Stage::tile_k, the last one padded with
/// zeros.
template <class Stage, class Problem>
__device__ unsigned bulk_steps(Problem const& conv) {
    return static_cast<unsigned>(conv.taps()) * static_cast<unsigned>(detail::divide_up(conv.group_c(), Stage::tile_k));
}

/// Operands that a thread TMA-loads. Two threads that load one each take less time for a k-tile: a load waits until the
/// thread's load before it has read its operands.
struct LoadedOperands {
    bool x = true, w = true;
};

/// Issues, in one thread, the TMA loads of `operands` of the output tile at `tile` into the pipeline's stages: of all
/// k-tiles or, with `range` = begin, end, of k-tiles [begin, end). TMA zero-fills elements out of bounds. Of a plan
/// that pools, the first half of a tile has pixels of even rows, the second half the pixels below them (RowsInHalves).
/// `one_group`: true in a kernel without code for several groups of channels.
template <bool one_group = false, class Params, class Problem, class Ring, class Pipeline, class State, class... Range>
__device__ void load_tile_in_bulk(Params const& params, Problem const& conv, Ring& stages, Pipeline& pipeline,
                                  State& state, LoadedOperands operands, TileStart const& tile, Range const&... range) {
    using Stage = std::remove_reference_t<decltype(stages[0])>;
    auto const filter = detail::window_filter(conv.filter);
    constexpr bool pools = std::remove_cvref_t<Params>::pools,
                   has_groups = !one_group && std::remove_cvref_t<Params>::may_have_groups;
    Pixel const first = pools ? conv.pixel_of_even_rows(tile.m / 2) : conv.pixel(tile.m);
    // A box of K-major filters has the same number of rows for all tiles, except those that w_last loads.
    bool constexpr transposed = Stage::major == ptx::Major::mn,
                   in_pairs = pairs_filters<std::remove_reference_t<decltype(*params.y.data)>>;
    bool const is_last = !transposed && !in_pairs && params.maps.in_last_column(tile.n, conv.group_k());
    int const filters =
        is_last ? params.maps.last_filters : Stage::filters(transposed ? conv.group_k() - tile.n : conv.group_k());
    auto const* const map_w = is_last ? &params.maps.w_last : &params.maps.w;
    unsigned const bytes = Stage::bytes(operands.w ? filters : 0, operands.x ? params.maps.rows_of_x : 0);
    bool of_group = false;
    if constexpr (has_groups) of_group = conv.groups() > 1;
    // In registers: otherwise nvcc loads them from constant memory in each k-tile.
    int own[] = {conv.group_c(), conv.window_rows(), conv.window_columns(),
                 of_group                  ? 2
                 : params.maps.has_windows ? 1
                                           : 0};
    ptx::fence_operands(own);
    int const channels = own[0], rows = own[1], columns = own[2], mode = own[3];  // mode of x's loads
    int const h = first.p * filter.strides[0] - filter.pad_before[0],
              w = first.q * filter.strides[1] - filter.pad_before[1];
    auto const load = [&](int r, int s, int c) {
        Stage& stage = stages[state.stage];
        auto const full = pipeline.producer_acquire(state, bytes);
        auto const column = static_cast<unsigned>(s * filter.dilations[1]),
                   row = static_cast<unsigned>(r * filter.dilations[0]);
        auto const load_windows = [&](std::uint32_t to, unsigned at_row) {
            if constexpr (has_groups) {
                if (mode == 2) {
                    bool const is_mode = channels % detail::whole_block != 0;
                    ptx::tma_load_im2col(
                        to, &params.maps.x, full,
                        {c + (is_mode ? 0 : tile.group * channels), w, h, first.n, is_mode ? tile.group : 0}, column,
                        at_row);
                    return;
                }
            }
            ptx::tma_load_im2col(to, &params.maps.x, full, {c, w, h, first.n}, column, at_row);
        };
        if (operands.x) {
            auto const to = ptx::shared_address(stage.x);
            if (!pools && mode == 0) {
                ptx::tma_load(to, &params.maps.x, full, {c, tile.m});
            } else {
                load_windows(to, row);
                if constexpr (pools)
                    load_windows(to + Stage::tile_m / 2 * Stage::row_bytes,
                                 row + static_cast<unsigned>(filter.strides[0]));
            }
        }
        if (operands.w) {
            auto const to = ptx::shared_address(stage.w);
            if constexpr (transposed) {
                int const tap = (rows - 1 - r) * columns + columns - 1 - s;
                for (int n = 0; n < filters; n += 64)
                    load_transposed_filters(params.maps, conv, to + static_cast<unsigned>(n) * Stage::row_bytes, full,
                                            tap, tile.n + n, c);
            } else if constexpr (in_pairs) {
                ptx::tma_load(to, &params.maps.w, full, {c, r * columns + s, 0, 0, tile.n / 16});
            } else {
                bool in_row = false;
                if constexpr (has_groups) in_row = params.maps.has_rows_of_taps;
                int const tap = r * columns + s;
                if (in_row) ptx::tma_load(to, &params.maps.w, full, {c + tap * channels, 0, 0, tile.n});
                else ptx::tma_load(to, map_w, full, {c, s, r, tile.n});
            }
        }
        state.advance();
    };
    if constexpr (sizeof...(Range) > 0) {
        StepRange const steps{range...};
        int r = 0, s = 0, c = 0;
        if (steps.begin > 0) {
            unsigned const of_tap = static_cast<unsigned>(detail::divide_up(channels, Stage::tile_k));
            int const tap = static_cast<int>(steps.begin / of_tap);
            r = tap / columns, s = tap % columns, c = static_cast<int>(steps.begin % of_tap) * Stage::tile_k;
        }
#pragma unroll 1
        for (unsigned step = steps.begin; step < steps.end; ++step) {
            load(r, s, c);
            if ((c += Stage::tile_k) < channels) continue;
            c = 0;
            if (++s == columns) s = 0, ++r;
        }
    } else {
#pragma unroll 1
        for (int r = 0; r < rows; ++r)
#pragma unroll 1
            for (int s = 0; s < columns; ++s)
#pragma unroll 1
                for (int c = 0, left = channels; left > 0; c += Stage::tile_k, left -= Stage::tile_k) load(r, s, c);
    }
}

}  // namespace fusekit::hip
