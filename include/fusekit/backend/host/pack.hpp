// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/conv_problem.hpp"
#include "fusekit/backend/host/gemm.hpp"
#include "fusekit/backend/host/integer.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

template <class Acc>
void fill_zero(Acc* to, std::int64_t count) {
    std::memset(to, 0, static_cast<std::size_t>(count) * sizeof(Acc));
}

/// Copies contiguous elements, converted to the accumulator type.
template <class Acc, Element T>
void copy_widened(Acc* to, T const* from, std::int64_t count) {
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) store(to + i, load_widened_to<Acc>(from + i));
    if constexpr (std::same_as<T, float>) {
        using Quad [[gnu::vector_size(16)]] = float;
        if (count >= lanes) return i < count ? store(to + count - lanes, load(from + count - lanes)) : void();
        for (; i + 4 <= count; i += 4) std::memcpy(to + i, from + i, sizeof(Quad));
    }
    for (; i < count; ++i) to[i] = detail::widened_to<Acc>(from[i]);
}

/// Transposes `lanes` filters of `count` contiguous channels: to[c][filter], where rows c are tile_columns elements
/// apart. Filters past `filters` become zero.
template <class Acc, Element T>
void pack_contiguous(Acc* to, T const* from, std::int64_t filter_stride, int filters, int count) {
    [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
        bool const whole = filters == lanes && count == lanes;
        RegisterOf<Acc> rows[] = {whole           ? load_widened_to<Acc>(from + Nth * filter_stride)
                                  : Nth < filters ? load_widened_to<Acc>(from + Nth * filter_stride, 1, count)
                                                  : RegisterOf<Acc>{}...};
        transpose(rows);
        if (whole) (store(to + Nth * tile_columns, rows[Nth]), ...);
        else
            for (int c = 0; c < count; ++c) store(to + c * tile_columns, rows[c]);
    }(std::make_integer_sequence<int, lanes>{});
}

/// Packs filters k0 ... k0 + tile_columns - 1 of a group into one panel: panel[t C + c][column] for tap t and channel
/// c, zero past the last filter.
template <class Problem>
void pack_weight_panel(typename Problem::Acc* panel, Problem const& conv, std::int64_t group, std::int64_t k0) {
    auto const& stride = conv.w.layout.stride;
    std::int64_t const channels = conv.group_c(), k_end = conv.group_k();
    auto const* const first = conv.weights_of(group);
    bool const contiguous = stride[1] == 1;
    // channels per block: the block of the panel fits L1
    std::int64_t const block = contiguous ? lanes : 4096 / tile_columns;
    for (int r = 0; r < conv.window_rows(); ++r)
        for (int s = 0; s < conv.window_columns(); ++s, panel += channels * tile_columns)
            for (int column = 0; column < tile_columns; column += lanes)
                for (std::int64_t c0 = 0; c0 < channels; c0 += block) {
                    int const filters = static_cast<int>(clamp(k_end - k0 - column, 0, lanes));
                    int const count = static_cast<int>((min)(block, channels - c0));
                    auto* const to = panel + c0 * tile_columns + column;
                    auto const* const from =
                        filters ? first + conv.w.layout.offset({{k0 + column, c0, r, s}}) : nullptr;
                    if (contiguous) {
                        pack_contiguous(to, from, stride[0], filters, count);
                        continue;
                    }
                    for (int i = 0; i < lanes; ++i)
                        for (std::int64_t c = 0; c < count; ++c)
                            to[c * tile_columns + i] =
                                i < filters
                                    ? detail::widened_to<typename Problem::Acc>(from[i * stride[0] + c * stride[1]])
                                    : 0;
                }
}

/// True if each filter is one contiguous row in this order of GemmK.
template <class Problem>
bool weights_are(Problem const& conv, GemmKOrder order) {
    return problem::dense(conv.w.layout, order.tap == 1 ? Index<3>{{1, 2, 3}} : Index<3>{{2, 3, 1}});
}

/// Packs filter k of a group as one row of GemmK, in the given order.
template <class Problem>
void pack_weight_row(typename Problem::Acc* row, Problem const& conv, std::int64_t group, std::int64_t k,
                     GemmKOrder order) {
    auto const* const first = conv.weights_of(group);
    if (weights_are(conv, order)) return copy_widened(row, first + k * conv.w.layout.stride[0], conv.gemm_k());
    for (std::int64_t c = 0; c < conv.group_c(); ++c)
        for (int r = 0; r < conv.window_rows(); ++r)
            for (int s = 0; s < conv.window_columns(); ++s)
                row[c * order.channel + (r * conv.window_columns() + s) * order.tap] =
                    detail::widened_to<typename Problem::Acc>(first[conv.w.layout.offset({{k, c, r, s}})]);
}

/// Packs the window of one output pixel as one row of GemmK, row[t C + c] for tap t and channel c; taps outside x are
/// zero.
template <class Problem>
void pack_pixel_row(typename Problem::Acc* row, Problem const& conv, Pixel const& at, std::int64_t c0) {
    std::int64_t const channels = conv.group_c(), stride = conv.x.layout.stride[1];
    if (channels == 0) return;  // x may be a null pointer
    std::int64_t const columns = conv.window_columns(), w0 = conv.column(at.q, 0);
    if (Problem::has_steps && stride == 1 && conv.x.layout.stride[3] == channels && columns > 1 &&
        conv.column(at.q, 1) == w0 + 1 && conv.column(at.q, static_cast<int>(columns) - 1) == w0 + columns - 1) {
        // A row of the window is contiguous in x.
        std::int64_t const begin = clamp(-w0, 0, columns), end = clamp(conv.x.layout.shape[3] - w0, begin, columns);
        for (int r = 0; r < conv.window_rows(); ++r, row += columns * channels) {
            std::int64_t const h = conv.row(at.p, r);
            if (!conv.has_row(h) || begin == end) {
                fill_zero(row, columns * channels);
                continue;
            }
            if (begin > 0) fill_zero(row, begin * channels);
            copy_widened(row + begin * channels, &conv.x(at.n, c0, h, w0 + begin), (end - begin) * channels);
            if (end < columns) fill_zero(row + end * channels, (columns - end) * channels);
        }
        return;
    }
    for (int r = 0; r < conv.window_rows(); ++r) {
        std::int64_t const h = conv.row(at.p, r);
        for (int s = 0; s < conv.window_columns(); ++s, row += channels) {
            std::int64_t const w = conv.column(at.q, s);
            if (!conv.has_row(h) || !conv.has_column(w)) {
                fill_zero(row, channels);
                continue;
            }
            auto const* const from = &conv.x(at.n, c0, h, w);
            if (stride == 1) copy_widened(row, from, channels);
            else
                for (std::int64_t c = 0; c < channels; ++c) row[c] = detail::widened(from[c * stride]);
        }
    }
}

/// A run of pixels: `count` consecutive pixels of one row of y; `first` is the number of the first one among the pixels
/// of the work item.
struct Run {
    Pixel at;
    int first, count;
};

/// Consecutive pixels of a Run for one filter tap that are packed into one panel. `to`: offset of the first in the
/// panels, for channel 0; `from`: offset of the first element that is read, in a channel's plane of x, or no_source if
/// the tap reads padding.
struct Piece {
    static constexpr std::int64_t no_source = INT64_MIN;
    std::int64_t to, from;
    int count;
};

/// Maximum number of Pieces of a Run for one tap, over `panels` panels: one per panel, one more if the Run starts
/// within a panel, and one for padding at each end.
constexpr std::int64_t pieces_per_tap(std::int64_t panels) { return panels + 3; }

/// Splits a Run into Pieces for every tap, in order of taps. Writes them from `piece` on and returns the end.
template <class Problem>
Piece* cut_into_pieces(Piece* piece, Problem const& conv, GemmKOrder order, Run const& run) {
    auto const& stride = conv.x.layout.stride;
    std::int64_t const step = conv.column_step(), panel_floats = conv.gemm_k() * tile_columns;
    for (int r = 0; r < conv.window_rows(); ++r) {
        std::int64_t const h = conv.row(run.at.p, r);
        for (int s = 0; s < conv.window_columns(); ++s) {
            std::int64_t const w = conv.column(run.at.q, s);
            std::int64_t const tap = (std::int64_t{r} * conv.window_columns() + s) * order.tap * tile_columns;
            int begin = 0, end = conv.has_row(h) ? run.count : 0;  // range of pixels whose tap is inside x
            while (begin < end && w + begin * step < 0) ++begin;
            while (begin < end && w + (end - 1) * step >= conv.x.layout.shape[3]) --end;
            for (int i = 0; i < run.count; i += piece++->count) {
                bool const inside = i >= begin && i < end;
                int const lane = (run.first + i) % tile_columns, until = inside                     ? end
                                                                         : i < begin && begin < end ? begin
                                                                                                    : run.count;
                piece->to = (run.first + i) / tile_columns * panel_floats + tap + lane;
                piece->from =
                    inside ? run.at.n * stride[0] + h * stride[2] + (w + i * step) * stride[3] : Piece::no_source;
                piece->count = static_cast<int>((min)(tile_columns - lane, until - i));
            }
        }
    }
    return piece;
}

/// Packs the windows of the pixels of a Run into panels[pixel / columns][k][pixel % columns], where k is the index of
/// GemmK and columns is tile_columns. Taps outside x are zero. `pieces` is scratch for the Pieces of one Run.
///
/// Channels are the outer loop, so that each channel's plane is read once, contiguously for all panels.
template <class Problem>
void pack_pixel_panels(typename Problem::Acc* panels, Problem const& conv, std::int64_t c0, GemmKOrder order,
                       Run const& run, Piece* pieces) {
    Piece const* const end = cut_into_pieces(pieces, conv, order, run);
    std::int64_t const plane = conv.x.layout.stride[1], step = conv.x.layout.stride[3] * conv.column_step();
    std::int64_t const channels = conv.group_c(), panel_step = order.channel * tile_columns;
    // prefetch distance in channels: a plane's rows are too short for the hardware prefetcher
    constexpr std::int64_t ahead = 8;
    for (std::int64_t c = 0; c < channels; ++c) {
        auto const* const x = conv.x.data + (c0 + c) * plane;
        auto const* const later = c + ahead < channels ? x + ahead * plane : x;
        auto* const to = panels + c * panel_step;
        for (Piece const* piece = pieces; piece != end; ++piece) {
            if (piece->from == Piece::no_source) {
                fill_zero(to + piece->to, piece->count);
            } else if (step == 1) {
                __builtin_prefetch(later + piece->from);
                if (piece->count == tile_columns)
                    for (int i = 0; i < tile_columns; i += lanes)
                        store(to + piece->to + i, load_widened(x + piece->from + i));
                else copy_widened(to + piece->to, x + piece->from, piece->count);
            } else {
                for (int i = 0; i < piece->count; ++i) to[piece->to + i] = detail::widened(x[piece->from + i * step]);
            }
        }
    }
}

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
