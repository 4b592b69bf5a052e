// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>

#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::host {

/// A convolution as loops see it. GemmM = N P Q, GemmN = K, GemmK = C R S, the last two per group.
template <Element T>
struct ConvProblem {
    TensorView<T const> x;   // (N, C, H, W)
    TensorView<T const> w;   // (K, C / G, R, S)
    Index<4> y;              // (N, K, P, Q)
    Filter<2> filter;

    std::int64_t groups() const { return filter.group_count; }
    std::int64_t group_c() const { return w.layout.shape[1]; }
    std::int64_t group_k() const { return y[1] / groups(); }
    std::int64_t taps() const { return std::int64_t{filter.size[0]} * filter.size[1]; }
    std::int64_t gemm_k() const { return group_c() * taps(); }
    std::int64_t pixels() const { return y[0] * y[2] * y[3]; }

    /// Row of x under tap r of output row p; outside [0, H) where that is padding.
    std::int64_t row(std::int64_t p, int r) const {
        return p * filter.step[0] - filter.before[0] + std::int64_t{r} * filter.spread[0];
    }
    std::int64_t column(std::int64_t q, int s) const {
        return q * filter.step[1] - filter.before[1] + std::int64_t{s} * filter.spread[1];
    }

    bool inside(std::int64_t h, std::int64_t w) const {
        return h >= 0 && h < x.layout.shape[2] && w >= 0 && w < x.layout.shape[3];
    }
};

template <Element T>
struct ConvAndOutput {
    ConvProblem<T> conv;
    TensorView<T> y;
};

/// A 1x1 convolution of planes without gaps, with each plane as one long row; any other convolution as it is.
template <Element T>
ConvAndOutput<T> flattened(ConvProblem<T> const& conv, TensorView<T> const& y) {
    auto const has_gaps = [](Layout<4> const& layout) {
        return layout.stride[2] != layout.shape[3] * layout.stride[3];
    };
    ConvAndOutput<T> flat{conv, y};
    if (conv.filter != fusekit::filter(1, 1).groups(conv.filter.group_count) || has_gaps(conv.x.layout) ||
        has_gaps(y.layout))
        return flat;
    for (Layout<4>* layout : {&flat.conv.x.layout, &flat.y.layout})
        layout->shape = {{layout->shape[0], layout->shape[1], 1, layout->shape[2] * layout->shape[3]}};
    flat.conv.y = flat.y.layout.shape;
    return flat;
}

/// One output pixel.
struct Pixel {
    std::int64_t n, p, q;
};

template <Element T>
Pixel pixel_at(ConvProblem<T> const& conv, std::int64_t m) {
    std::int64_t const plane = conv.y[2] * conv.y[3], in_plane = m % plane;
    return {m / plane, in_plane / conv.y[3], in_plane % conv.y[3]};
}

/// Where k of GemmK lies for channel c and tap t = r S + s, t fastest or c fastest.
struct GemmKOrder {
    std::int64_t channel, tap;
};

}  // namespace fusekit::host
