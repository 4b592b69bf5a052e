// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/ops/conv/window.hpp"

namespace fusekit::host {

/// A convolution as loops see it, of two or three modes of space, collapsed into rows and columns. GemmM = N P Q, GemmN
/// = K, GemmK = C R S, the last two per group.
template <Element T, int Space>
struct ConvProblem {
    TensorView<T const> x;  // (N, C, H, W)
    TensorView<T const> w;  // (K, C / G, R, S)
    Index<4> y;  // (N, K, P, Q)
    Filter<Space> filter;
    [[no_unique_address]] SliceHeights<Space> heights;

    std::int64_t groups() const { return filter.group_count; }
    std::int64_t group_c() const { return w.layout.shape[1]; }
    std::int64_t group_k() const { return y[1] / groups(); }
    int window_rows() const { return fusekit::window_rows(filter); }
    int window_columns() const { return fusekit::window_columns(filter); }
    std::int64_t taps() const { return std::int64_t{window_rows()} * window_columns(); }
    std::int64_t gemm_k() const { return group_c() * taps(); }
    std::int64_t pixels() const { return y[0] * y[2] * y[3]; }

    /// Row of x under row r of the window of output row p; outside [0, H) where that is padding.
    std::int64_t row(std::int64_t p, int r) const { return row_under(filter, heights, p, r); }
    std::int64_t column(std::int64_t q, int s) const { return column_under(filter, q, s); }
    std::int64_t column_step() const { return filter.strides[Space - 1]; }

    bool has_row(std::int64_t h) const { return h >= 0 && h < x.layout.shape[2]; }
    bool has_column(std::int64_t column) const { return column >= 0 && column < x.layout.shape[3]; }
};

template <Element T, int Space>
struct ConvAndOutput {
    ConvProblem<T, Space> conv;
    TensorView<T> y;
};

/// A convolution of single pixels of planes without gaps, with each plane as one long row; any other as it is.
template <Element T, int Space>
ConvAndOutput<T, Space> flattened(ConvProblem<T, Space> const& conv, TensorView<T> const& y) {
    auto const has_gaps = [](Layout<4> const& layout) {
        return layout.stride[2] != layout.shape[3] * layout.stride[3];
    };
    ConvAndOutput<T, Space> flat{conv, y};
    if (!is_single_pixels(conv.filter) || has_gaps(conv.x.layout) || has_gaps(y.layout)) return flat;
    for (Layout<4>* layout : {&flat.conv.x.layout, &flat.y.layout})
        layout->shape = {{layout->shape[0], layout->shape[1], 1, layout->shape[2] * layout->shape[3]}};
    flat.conv.y = flat.y.layout.shape;
    flat.conv.heights = {flat.conv.x.layout.shape, flat.conv.y};
    return flat;
}

/// One output pixel.
struct Pixel {
    std::int64_t n, p, q;
};

template <Element T, int Space>
Pixel pixel_at(ConvProblem<T, Space> const& conv, std::int64_t m) {
    std::int64_t const plane = conv.y[2] * conv.y[3], in_plane = m % plane;
    return {m / plane, in_plane / conv.y[3], in_plane % conv.y[3]};
}

/// The pixel after `at`.
template <Element T, int Space>
Pixel next(ConvProblem<T, Space> const& conv, Pixel at) {
    if (++at.q < conv.y[3]) return at;
    at.q = 0;
    if (++at.p < conv.y[2]) return at;
    return {at.n + 1, 0, 0};
}

/// Pixel m where pixels are counted window by window of 2 x 2.
template <Element T, int Space>
Pixel pixel_of_windows(ConvProblem<T, Space> const& conv, std::int64_t m) {
    std::int64_t const window = m / 4, columns = conv.y[3] / 2, plane = conv.y[2] / 2 * columns, of = window % plane;
    return {window / plane, of / columns * 2 + m % 4 / 2, of % columns * 2 + m % 2};
}

/// Where k of GemmK lies for channel c and tap t = r S + s, t fastest or c fastest.
struct GemmKOrder {
    std::int64_t channel, tap;
};

}  // namespace fusekit::host
