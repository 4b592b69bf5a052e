// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/pack.hpp"
#include "fusekit/backend/host/place.hpp"

namespace fusekit::host {

namespace detail {

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Tiles an item of work takes: at most `most`, and so many items that the threads finish together.
inline std::int64_t tiles_per_item(std::int64_t tiles, std::int64_t most, int threads) {
    std::int64_t const items = divide_up(divide_up(tiles, std::max<std::int64_t>(most, 1)), threads) * threads;
    return divide_up(tiles, items);
}

/// Bytes of activations that one item works on: with a filter panel beside them they stay in an L2 cache.
inline constexpr std::int64_t item_bytes = 192 * 1024;

/// Applies the epilogue to `count` lanes of an accumulator and stores them.
template <class Epilogue, Axis axis, Element T>
void finish(Vector sum, Place<axis> const& at, typename Epilogue::template State<Vector> const& state,
            typename Epilogue::Args const& args, T* to, std::int64_t stride) {
    store(to, stride, at.count, Epilogue::apply(sum, at, state, args));
}

}  // namespace detail

/// Channels-last output: the lanes of a tile are output channels, its rows are pixels. The filters are packed
/// into panels once; the windows of a float x are read where they lie, those of other types are packed.
template <class Epilogue, Element T>
void conv_channel_lanes(Device::Turn& turn, ConvProblem<T> const& conv, typename Epilogue::Args const& args,
                        TensorView<T> const& y) {
    using State = typename Epilogue::template State<Vector>;
    std::int64_t const gemm_k = conv.gemm_k(), taps = conv.taps(), group_c = conv.group_c(), group_k = conv.group_k();
    bool const direct = std::same_as<T, float> && conv.x.layout.stride[1] == 1 && group_c >= 4;
    std::int64_t const panels = detail::divide_up(group_k, tile_columns), panel_floats = gemm_k * tile_columns;
    std::int64_t const tiles = detail::divide_up(conv.pixels(), tile_rows);
    std::int64_t const row_bytes = (direct ? group_c : gemm_k) * tile_rows * std::int64_t{sizeof(float)};
    std::int64_t const block = detail::tiles_per_item(tiles, std::clamp<std::int64_t>(detail::item_bytes / row_bytes, 4, 32), turn.threads());

    std::int64_t const zeros = detail::divide_up(group_c, 16) * 16;
    std::int64_t const segments_per_tile = direct ? taps : 1;
    std::int64_t const rows_floats = direct ? 0 : block * tile_rows * gemm_k;
    std::int64_t const segment_floats = detail::divide_up(block * segments_per_tile * std::int64_t{sizeof(Segment)}, 64) * 16;
    std::int64_t const thread_floats = detail::divide_up(rows_floats, 16) * 16 + segment_floats;
    float* const filters = turn.scratch(conv.groups() * panels * panel_floats + zeros + turn.threads() * thread_floats);
    float* const zero = filters + conv.groups() * panels * panel_floats;
    float* const thread_scratch = zero + zeros;

    std::fill_n(zero, zeros, 0.0f);
    turn.parallel_for(conv.groups() * panels, [&](std::int64_t item, int) {
        std::int64_t const group = item / panels, k0 = group * group_k + item % panels * tile_columns;
        pack_filter_panel(filters + item * panel_floats, conv, k0, (group + 1) * group_k);
    });

    turn.parallel_for(detail::divide_up(tiles, block) * conv.groups(), [&](std::int64_t item, int thread) {
        std::int64_t const group = item % conv.groups(), tile0 = item / conv.groups() * block;
        std::int64_t const tile_count = std::min(block, tiles - tile0);
        auto* const segments = reinterpret_cast<Segment*>(thread_scratch + thread * thread_floats);
        float* const rows = thread_scratch + thread * thread_floats + segment_floats;

        for (std::int64_t t = 0; t < tile_count; ++t)
            for (int i = 0; i < tile_rows; ++i) {
                std::int64_t const m = std::min((tile0 + t) * tile_rows + i, conv.pixels() - 1);
                Pixel const at = pixel_at(conv, m);
                Segment* const own = segments + t * segments_per_tile;
                if (!direct) {
                    float* const row = rows + (t * tile_rows + i) * gemm_k;
                    pack_pixel_row(row, conv, at, group * group_c);
                    own->row[i] = row;
                    own->length = gemm_k;
                    continue;
                }
                for (int r = 0; r < conv.filter.size[0]; ++r)
                    for (int s = 0; s < conv.filter.size[1]; ++s) {
                        std::int64_t const h = conv.row(at.p, r), w = conv.column(at.q, s);
                        bool const inside = h >= 0 && h < conv.x.layout.shape[2] && w >= 0 && w < conv.x.layout.shape[3];
                        Segment& segment = own[r * conv.filter.size[1] + s];
                        if constexpr (std::same_as<T, float>)
                            segment.row[i] = inside ? &conv.x(at.n, group * group_c, h, w) : zero;
                        segment.length = group_c;
                    }
            }

        for (std::int64_t panel = 0; panel < panels; ++panel) {
            State state[tile_vectors];
            int used[tile_vectors];
            std::int64_t const k0 = group * group_k + panel * tile_columns;
            for (int j = 0; j < tile_vectors; ++j) {
                std::int64_t const left = (group + 1) * group_k - (k0 + j * lanes);
                used[j] = static_cast<int>(std::clamp<std::int64_t>(left, 0, lanes));
                if (used[j]) state[j] = Epilogue::template prepare<Vector>(k0 + j * lanes, 1, used[j], args);
            }
            float const* const filter = filters + (group * panels + panel) * panel_floats;
            for (std::int64_t t = 0; t < tile_count; ++t) {
                Accumulator sum;
                gemm_tile(sum, segments + t * segments_per_tile, segments_per_tile, filter);
                for (int i = 0; i < tile_rows; ++i) {
                    std::int64_t const m = (tile0 + t) * tile_rows + i;
                    if (m >= conv.pixels()) break;
                    Pixel const at = pixel_at(conv, m);
                    for (int j = 0; j < tile_vectors && used[j]; ++j) {
                        std::int64_t const k = k0 + j * lanes;
                        detail::finish<Epilogue>(sum.value[i][j], Place<Axis::channel>{{at.n, k, at.p, at.q}, used[j], conv.y[3]},
                                                 state[j], args, &y(at.n, k, at.p, at.q), y.layout.stride[1]);
                    }
                }
            }
        }
    });
}

/// Any other output: the lanes of a tile are pixels, its rows are output channels. A thread packs the windows of
/// a few pixels at a time; float filters whose taps lie together are read where they lie.
template <class Epilogue, Element T>
void conv_pixel_lanes(Device::Turn& turn, ConvProblem<T> const& conv, typename Epilogue::Args const& args,
                      TensorView<T> const& y) {
    using State = typename Epilogue::template State<Vector>;
    std::int64_t const gemm_k = conv.gemm_k(), taps = conv.taps(), group_c = conv.group_c(), group_k = conv.group_k();
    auto const& ws = conv.w.layout.stride;
    bool const taps_last = ws[3] == 1 && ws[2] == conv.filter.size[1] && ws[1] == taps;
    bool const channels_last = ws[1] == 1 && ws[3] == group_c && ws[2] == group_c * conv.filter.size[1];
    GemmKOrder const order = channels_last ? GemmKOrder{1, group_c} : GemmKOrder{taps, 1};
    bool const direct = std::same_as<T, float> && (taps_last || channels_last);

    std::int64_t const panels = detail::divide_up(conv.pixels(), tile_columns), panel_floats = gemm_k * tile_columns;
    std::int64_t const most = std::clamp<std::int64_t>(detail::item_bytes / (panel_floats * std::int64_t{sizeof(float)}), 1, 8);
    std::int64_t const block = detail::tiles_per_item(panels, most, turn.threads());
    std::int64_t const thread_floats = block * panel_floats;
    std::int64_t const filter_floats = direct ? 0 : detail::divide_up(conv.y[1] * gemm_k, 16) * 16;
    float* const filters = turn.scratch(filter_floats + turn.threads() * thread_floats);

    if (!direct)
        turn.parallel_for(conv.y[1], [&](std::int64_t k, int) { pack_filter_row(filters + k * gemm_k, conv, k, order); });

    turn.parallel_for(detail::divide_up(panels, block) * conv.groups(), [&](std::int64_t item, int thread) {
        std::int64_t const group = item % conv.groups(), panel0 = item / conv.groups() * block;
        std::int64_t const panel_count = std::min(block, panels - panel0);
        float* const windows = filters + filter_floats + thread * thread_floats;
        Run runs[8][tile_columns];
        int run_count[8];
        for (std::int64_t b = 0; b < panel_count; ++b) {
            run_count[b] = split_into_runs(runs[b], conv, (panel0 + b) * tile_columns);
            pack_pixel_panel(windows + b * panel_floats, conv, group * group_c, order, runs[b], run_count[b]);
        }
        for (std::int64_t k0 = 0; k0 < group_k; k0 += tile_rows) {
            int const row_count = static_cast<int>(std::min<std::int64_t>(tile_rows, group_k - k0));
            Segment segment{{}, gemm_k};
            State state[tile_rows];
            for (int i = 0; i < tile_rows; ++i) {
                std::int64_t const k = group * group_k + k0 + std::min(i, row_count - 1);
                if constexpr (std::same_as<T, float>) segment.row[i] = direct ? &conv.w(k, 0, 0, 0) : filters + k * gemm_k;
                else segment.row[i] = filters + k * gemm_k;
                state[i] = Epilogue::template prepare<Vector>(k, 0, lanes, args);
            }
            for (std::int64_t b = 0; b < panel_count; ++b) {
                Accumulator sum;
                gemm_tile(sum, &segment, 1, windows + b * panel_floats);
                for (int i = 0; i < row_count; ++i)
                    for (Run const* run = runs[b]; run != runs[b] + run_count[b]; ++run)
                        for (int done = 0; done < run->count; done += lanes) {
                            int const count = std::min(lanes, run->count - done);
                            Vector v{};
                            std::memcpy(&v, reinterpret_cast<float const*>(sum.value[i]) + run->lane + done, count * sizeof(float));
                            std::int64_t const k = group * group_k + k0 + i;
                            OutputCoord const first{run->at.n, k, run->at.p, run->at.q + done};
                            detail::finish<Epilogue>(v, Place<Axis::pixel>{first, count, conv.y[3]}, state[i], args,
                                                     &y(first.n, k, first.p, first.q), y.layout.stride[3]);
                        }
            }
        }
    });
}

}  // namespace fusekit::host
