// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

#include "fusekit/backend/host/conv_problem.hpp"
#include "fusekit/backend/host/pack.hpp"
#include "fusekit/backend/host/tiling.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Addresses of the windows that the register tiles of ConvChannelLanes read as rows, in one of three ways:
///
/// - a range of GemmK per filter tap: the channels of a pixel of x, read in place;
/// - a range per row of the window: the channels of adjacent pixels, contiguous in x and read in place. For few
///   channels, whose taps are too short a range. Windows that reach past a row of x are packed. Elements other than
///   float are converted, a row of the windows of all pixels of a tile at once;
/// - one range: each window is packed.
///
/// Packing costs a copy per element of the window, which many panels of filters amortise; reading in place costs cache
/// conflicts if pixels are a multiple of 2 KB apart.
template <class Problem, Element T>
class PixelRows {
    using Acc = typename Problem::Acc;
    static constexpr bool may_be_in_place = std::same_as<T, float>;

public:
    PixelRows(Problem const& the_conv, std::int64_t panels) : conv(the_conv) {
        if constexpr (may_be_in_place) {
            Index<4> const& stride = conv.x.layout.stride;
            if (group_c == 0 || stride[1] != 1) return;
            bool const apart = apart_in_cache(stride[3]), dense = stride[3] == group_c;
            per_window_row = group_c < 32 && dense && conv.window_columns() > 1 && has_contiguous_window_rows();
            per_tap = !per_window_row &&
                      (conv.taps() == 1 ? panels <= 8 || apart || dense : group_c >= 4 && (panels <= 8 || apart));
        } else if constexpr (Problem::has_steps) {
            Index<4> const& stride = conv.x.layout.stride;
            std::int64_t const columns = conv.window_columns(), step = conv.column_step();
            per_window_row = group_c > 0 && stride[1] == 1 && stride[3] == group_c && step <= columns &&
                             (columns == 1 || has_contiguous_window_rows()) && apart_in_cache(step * group_c);
        }
        if (per_tap) length = group_c;
        linear = per_tap && Problem::of_channels && detail::is_single_pixels(conv.filter) &&
                 problem::pixels_are_equidistant(conv.x.layout);
        if (per_window_row) length = conv.window_columns() * group_c;
    }

    /// Ranges of GemmK per tile.
    std::int64_t ranges() const { return per_tap ? conv.taps() : per_window_row ? conv.window_rows() : 1; }
    /// Floats of scratch per row of a tile, for packed windows.
    std::int64_t packed_floats() const { return per_tap ? 0 : packed_row_stride(conv.gemm_k()); }
    /// Floats of activations per row of a tile, which a work item reads again for each panel of filters.
    std::int64_t floats() const { return per_tap ? group_c : packed_row_stride(conv.gemm_k()); }
    /// Floats of zeros that padding reads.
    std::int64_t zeros() const { return round_up(group_c * (per_window_row ? conv.window_columns() : 1), 16); }

    /// True if rows are the pixels of x in order, a constant distance apart, and none is outside x.
    bool are_linear() const { return linear; }

    /// Sets the ranges of `count` linear rows, from row `first` on; rows past `last` repeat it.
    void gather_linear(KRange<Acc>* to, std::int64_t count, std::int64_t group, std::int64_t first,
                       std::int64_t last) const {
        if constexpr (may_be_in_place) {
            std::int64_t const step = conv.x.layout.stride[3];
            T const* const x = conv.x.data + conv.first_c(group);
            for (std::int64_t row = first; row < first + count; row += tile_rows, ++to) {
                to->length = group_c;
                for (int i = 0; i < tile_rows; ++i) to->row[i] = x + (min)(row + i, last) * step;
            }
        }
    }

    /// Sets the ranges of `count` rows, in whole tiles, of one group of channels; at(row) is a row's pixel. `packed`:
    /// scratch of packed_floats() per row; `zero`: zeros() zeros.
    template <class At>
    void gather(KRange<Acc>* to, std::int64_t count, std::int64_t group, Acc* packed, Acc const* zero,
                At const& at) const {
        std::int64_t const c0 = conv.first_c(group), per_tile = ranges(), row_floats = packed_floats();
        for (std::int64_t row = 0; row < count; row += tile_rows, to += per_tile) {
            Pixel const &first = at(row), &last = at(row + tile_rows - 1);
            bool const adjacent = last.q == first.q + tile_rows - 1 && last.p == first.p && last.n == first.n;
            if (adjacent && point_at_run(to, first, c0, packed + row * row_floats, zero)) continue;
            for (int i = 0; i < tile_rows; ++i) {
                Pixel const& pixel = at(row + i);
                if constexpr (may_be_in_place)
                    if (per_tap) {
                        point_at_taps(to, i, pixel, c0, zero);
                        continue;
                    }
                Acc* const window = packed + (row + i) * row_floats;
                pack_pixel_row(window, conv, pixel, c0);
                for (std::int64_t r = 0; r < per_tile; ++r) to[r].row[i] = window + r * length;
            }
            for (std::int64_t r = 0; r < per_tile; ++r) to[r].length = length;
        }
    }

private:
    Problem const& conv;
    std::int64_t const group_c = conv.group_c();
    bool per_tap = false, per_window_row = false, linear = false;
    std::int64_t length = conv.gemm_k();  ///< of a range

    /// True if adjacent columns of a window are adjacent columns of x.
    bool has_contiguous_window_rows() const {
        if constexpr (!Problem::has_steps) return false;
        else return conv.column(0, 1) == conv.column(0, 0) + 1;
    }

    void point_at_taps(KRange<Acc>* k_range, int i, Pixel const& at, std::int64_t c0, Acc const* zero) const {
        for (int r = 0; r < conv.window_rows(); ++r) {
            std::int64_t const h = conv.row(at.p, r);
            for (int s = 0; s < conv.window_columns(); ++s, ++k_range) {
                std::int64_t const w = conv.column(at.q, s);
                k_range->row[i] = conv.has_row(h) && conv.has_column(w) ? &conv.x(at.n, c0, h, w) : zero;
            }
        }
    }

    /// Sets the ranges of a tile of adjacent pixels of a row of y, from pixel `at` on. Returns false if they have to be
    /// set one pixel at a time: windows are packed, or reach past a row of x. `packed`: the tile's scratch.
    bool point_at_run(KRange<Acc>* k_range, Pixel const& at, std::int64_t c0, [[maybe_unused]] Acc* packed,
                      Acc const* zero) const {
        if constexpr (!Problem::has_steps) return false;
        else {
            if (!per_tap && !per_window_row) return false;
            std::int64_t const columns = conv.window_columns(), step = conv.column_step();
            std::int64_t const of_first = conv.column(at.q, 0), of_last = conv.column(at.q, int(columns) - 1);
            std::int64_t const low = (min)(of_first, of_last), high = (max)(of_first, of_last);
            if (low < 0 || high + (tile_rows - 1) * step >= conv.x.layout.shape[3]) return false;
            std::int64_t const pixel = conv.x.layout.stride[3], apart = step * pixel;
            for (int r = 0; r < conv.window_rows(); ++r) {
                std::int64_t const h = conv.row(at.p, r);
                bool const inside = conv.has_row(h);
                auto const set = [&](Acc const* from) {
                    for (int i = 0; i < tile_rows; ++i) k_range->row[i] = inside ? from + i * apart : zero;
                    k_range++->length = length;
                };
                if constexpr (may_be_in_place) {
                    T const* const row = inside ? &conv.x(at.n, c0, h, 0) : zero;
                    for (int s = 0; s < (per_tap ? columns : 1); ++s)
                        set(inside ? row + conv.column(at.q, s) * pixel : zero);
                } else {
                    std::int64_t const count = (tile_rows - 1) * apart + length;
                    if (inside) copy_widened(packed, &conv.x(at.n, c0, h, low), count);
                    set(packed);
                    packed += count;
                }
            }
            return true;
        }
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
