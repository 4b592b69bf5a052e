// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/bulk_maps.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/stride_phases.hpp"
#include "fusekit/backend/hip/tile_order.hpp"

namespace fusekit::hip {

/// Tile of one phase (stride_phases.hpp). `m`, its first pixel, is an index among the phase's pixels.
struct PhaseTile : TileStart {
    unsigned phase;
};

/// Kernel argument: one phase of a strided transposed convolution as an ordinary convolution of x with stride 1, whose
/// result is the phase's pixels of y.
struct TmaPhase {
    TensorMap x;  ///< (C, W, H, N), im2col mode; not encoded for a phase without taps
    TensorMap y;  ///< (K, Q, P, N) of the phase's pixels, im2col mode: boxes of consecutive pixels
    std::int64_t y_offset = 0;  ///< offset in bytes from y's first pixel to the phase's first pixel
    Filter<2> windows = {};  ///< geometry of the phase's windows over x; its size is 0 for a phase without taps
    /// tap 0 of `windows` has the weights of the filter's tap last_tap, tap 1 those of tap last_tap - tap_step, and so
    /// on
    PerMode<2> last_tap = {}, tap_step = {};
    /// number of the phase's pixels per mode; pixel i has index remainder + i * stride in y
    PerMode<2> pixels = {}, remainder = {}, stride = {};
    unsigned end_tile = 0;  ///< index of the first tile after the phase's; tiles are numbered through all phases

    FUSEKIT_HD constexpr int taps() const { return windows.size[0] * windows.size[1]; }
    FUSEKIT_HD constexpr int pixels_of_image() const { return pixels[0] * pixels[1]; }
    /// Pixel with index m in the phase; its row and column are counted among the phase's rows and columns.
    FUSEKIT_HD constexpr Pixel position(int m) const {
        auto const at = static_cast<unsigned>(m), q = static_cast<unsigned>(pixels[1]),
                   plane = static_cast<unsigned>(pixels_of_image());
        unsigned const n = at / plane, rest = at - n * plane, p = rest / q;
        return {static_cast<int>(n), static_cast<int>(p), static_cast<int>(rest - p * q)};
    }
};

/// Kernel argument: the tensor maps of `count` phases, in order of decreasing numbers of taps, and of the filters.
template <int count>
struct PhaseMaps {
    TmaPhase phases[count];
    TensorMap w, w_last;  ///< (K, S, R, C), as in BulkMaps
    bool in_use = false, has_rows_of_taps = false;

    /// Maps of all pixels of x and y, for a kernel whose tiles have pixels of all phases: those of phases[0].
    FUSEKIT_H TmaPhase& whole() {
        phases[0].windows.size = phases[0].pixels = {1, 1};  // replace_memory() replaces both
        return phases[0];
    }
    FUSEKIT_H void replace_memory(void const* of_x, void const* of_y) {
        for (TmaPhase& phase : phases) {
            if (phase.taps() > 0) hip::replace_memory(phase.x, of_x);
            if (phase.pixels_of_image() > 0)
                hip::replace_memory(phase.y, static_cast<unsigned char const*>(of_y) + phase.y_offset);
        }
    }
};

/// Kernel argument: tensor maps, one per phase, of a tensor of y's shape that an operator of the epilogue reads.
template <int count>
struct PhaseReadMaps {
    TensorMap maps[count];
};

namespace detail {

/// Sets to.windows in one mode: the window of the phase's pixel i reads x at i - pad_before and then at steps of
/// `dilation`. `in` and `out` are the extents of x and of the phase's pixels.
template <class Phase>
FUSEKIT_H void set_windows(TmaPhase& to, Phase const& from, Filter<2> const& filter, int mode, int in, int out) {
    int const taps = from.taps[mode], step = from.step[mode], stride = filter.strides[mode],
              dilation = step * filter.dilations[mode] / stride, reach = taps > 0 ? (taps - 1) * dilation : 0,
              first = from.first_tap[mode];
    int const begin =
        taps > 0 ? (from.remainder[mode] + filter.pad_before[mode] - first * filter.dilations[mode]) / stride : 0;
    Filter<2>& windows = to.windows;
    windows.size[mode] = taps, windows.strides[mode] = 1, windows.dilations[mode] = dilation;
    windows.pad_before[mode] = reach - begin;
    windows.pad_after[mode] = out - in + begin;
    to.last_tap[mode] = first + (taps - 1) * step, to.tap_step[mode] = step;
    to.pixels[mode] = out, to.remainder[mode] = from.remainder[mode], to.stride[mode] = stride;
}

/// Sets all members of TmaPhase except tensor maps, for all phases. Tiles have tile_m pixels; y has `columns` tiles
/// along its channels.
template <class Phases, int count>
FUSEKIT_H void set_phases(PhaseMaps<count>& maps, Index<4> const& x, Index<4> const& y, int tile_m,
                          std::int64_t columns) {
    std::int64_t tiles = 0;
    for (int i = 0; i < count; ++i) {
        typename Phases::Phase const from = Phases::phase(i);
        TmaPhase& to = maps.phases[i];
        to.windows.group_count = 1;
        for (int mode = 0; mode < 2; ++mode)
            set_windows(to, from, Phases::geometry(), mode, static_cast<int>(x[2 + mode]),
                        from.pixels(mode, static_cast<int>(y[2 + mode])));
        if (to.pixels_of_image() == 0) to.windows.size = {};
        tiles += divide_up(y[0] * to.pixels_of_image(), tile_m) * columns;
        to.end_tile = static_cast<unsigned>(tiles);
    }
}

/// Returns the first limit of TMA's im2col mode that a phase's windows exceed; a met condition if there is none.
template <int count>
FUSEKIT_H Unmet unmet_by_phases(PhaseMaps<count> const& maps) {
    for (TmaPhase const& phase : maps.phases)
        if (phase.taps() > 0)
            if (Unmet const unmet = unmet_by_im2col(phase.windows)) return unmet;
    return {};
}

/// View of a phase's pixels of y, or of a tensor of y's shape.
template <class U>
FUSEKIT_H TensorView<U> pixels_of_phase(TensorView<U> view, TmaPhase const& phase) {
    for (int mode = 0; mode < 2; ++mode) {
        view.data += phase.remainder[mode] * view.layout.stride[2 + mode];
        view.layout.shape[2 + mode] = phase.pixels[mode];
        view.layout.stride[2 + mode] *= phase.stride[mode];
    }
    return view;
}

/// Encodes a tensor map of a phase's pixels of y, or of a tensor of y's shape, in boxes of `rows` pixels x 64 channels.
template <class U>
[[gnu::cold]] FUSEKIT_H bool encode_pixels_of_phase(TensorMap& map, TensorView<U> const& view, TmaPhase const& phase,
                                                    int rows) {
    if (phase.pixels_of_image() == 0) return true;
    return encode_windows(map, pixels_of_phase(view, phase), filter(1, 1), 64, static_cast<std::uint32_t>(rows));
}

}  // namespace detail

/// Encodes the tensor maps of all phases for tiles of tile_m pixels. Precondition: detail::set_phases() was called. w
/// is C x K x R x S, for x of K channels.
template <class T, class U, int count>
[[gnu::cold]] FUSEKIT_H bool encode_phases(PhaseMaps<count>& maps, TensorView<T const> const& x,
                                           TensorView<T const> const& w, TensorView<U> const& y, int tile_m) {
    std::uint32_t const channels = detail::channels_of_row<T>;
    maps.in_use = detail::encode_transposed_filters(maps, transposed(w, 0, 1), channels);
    for (TmaPhase& phase : maps.phases) {
        if (phase.taps() > 0)
            maps.in_use = maps.in_use && detail::encode_windows(phase.x, x, phase.windows, channels,
                                                                static_cast<std::uint32_t>(tile_m));
        maps.in_use = maps.in_use && detail::encode_pixels_of_phase(phase.y, y, phase, tile_m);
        phase.y_offset = (detail::pixels_of_phase(y, phase).data - y.data) * static_cast<std::int64_t>(sizeof(U));
    }
    return maps.in_use;
}

}  // namespace fusekit::hip
