// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/conv_problem.hpp"
#include "fusekit/backend/host/gemm.hpp"
#include "fusekit/backend/host/integer.hpp"

namespace fusekit::host::inline FUSEKIT_SIMD {

inline void fill_zero(float* to, std::int64_t count) { std::memset(to, 0, static_cast<std::size_t>(count) * sizeof(float)); }

/// Neighbouring elements as floats.
template <Element T>
void copy_floats(float* to, T const* from, std::int64_t count) {
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) store(to + i, load(from + i));
    if constexpr (std::same_as<T, float>) {
        using Quad [[gnu::vector_size(16)]] = float;
        if (count >= lanes) return i < count ? store(to + count - lanes, load(from + count - lanes)) : void();
        for (; i + 4 <= count; i += 4) std::memcpy(to + i, from + i, sizeof(Quad));
    }
    for (; i < count; ++i) to[i] = from[i];
}

/// Filters k0 ... k0 + tile_columns - 1 side by side: panel[(t C + c)][column], zero past `k_end`.
template <Element T>
void pack_filter_panel(float* panel, ConvProblem<T> const& conv, std::int64_t k0, std::int64_t k_end) {
    auto const& stride = conv.w.layout.stride;
    std::int64_t const channels = conv.group_c();
    constexpr std::int64_t block = 256;  // channels whose part of the panel stays in the L1 cache
    for (int r = 0; r < conv.filter.size[0]; ++r)
        for (int s = 0; s < conv.filter.size[1]; ++s)
            for (std::int64_t c0 = 0; c0 < channels; c0 += block) {
                std::int64_t const c_end = min(c0 + block, channels);
                float* const to = panel + ((std::int64_t{r} * conv.filter.size[1] + s) * channels) * tile_columns;
                for (int column = 0; column < tile_columns; ++column) {
                    if (k0 + column >= k_end) {
                        for (std::int64_t c = c0; c < c_end; ++c) to[c * tile_columns + column] = 0;
                        continue;
                    }
                    T const* const from = &conv.w(k0 + column, 0, r, s);
                    for (std::int64_t c = c0; c < c_end; ++c) to[c * tile_columns + column] = from[c * stride[1]];
                }
            }
}

/// Whether each filter lies in memory as one row in this order of GemmK.
template <Element T>
bool filter_is(ConvProblem<T> const& conv, GemmKOrder order) {
    Index<4> const shape = conv.w.layout.shape, stride = conv.w.layout.stride;
    return (shape[1] == 1 || stride[1] == order.channel) && (shape[3] == 1 || stride[3] == order.tap) &&
           (shape[2] == 1 || stride[2] == order.tap * shape[3]);
}

/// Filter k as one row of floats, in the given order of GemmK.
template <Element T>
void pack_filter_row(float* row, ConvProblem<T> const& conv, std::int64_t k, GemmKOrder order) {
    if (filter_is(conv, order)) return copy_floats(row, &conv.w(k, 0, 0, 0), conv.gemm_k());
    for (std::int64_t c = 0; c < conv.group_c(); ++c)
        for (int r = 0; r < conv.filter.size[0]; ++r)
            for (int s = 0; s < conv.filter.size[1]; ++s)
                row[c * order.channel + (r * conv.filter.size[1] + s) * order.tap] = conv.w(k, c, r, s);
}

/// The window of one output pixel as one row of floats, taps outside x zero: row[t C + c].
template <Element T>
void pack_pixel_row(float* row, ConvProblem<T> const& conv, Pixel const& at, std::int64_t c0) {
    std::int64_t const channels = conv.group_c(), stride = conv.x.layout.stride[1];
    for (int r = 0; r < conv.filter.size[0]; ++r)
        for (int s = 0; s < conv.filter.size[1]; ++s, row += channels) {
            std::int64_t const h = conv.row(at.p, r), w = conv.column(at.q, s);
            if (!conv.inside(h, w)) {
                fill_zero(row, channels);
                continue;
            }
            T const* const from = &conv.x(at.n, c0, h, w);
            if (stride == 1) copy_floats(row, from, channels);
            else for (std::int64_t c = 0; c < channels; ++c) row[c] = from[c * stride];
        }
}

/// Neighbouring pixels in one row of one image: `count` of them, from pixel `first` of an item on.
struct Run {
    Pixel at;
    int first, count;
};

/// What one tap of the filter gives to a run: pixels [begin, end) of it, from an element of x on; the others see
/// padding.
struct Tap {
    std::int64_t offset;
    int begin, end;
};

template <Element T>
Tap tap_of_run(ConvProblem<T> const& conv, Run const& run, int r, int s) {
    auto const& stride = conv.x.layout.stride;
    std::int64_t const h = conv.row(run.at.p, r), w = conv.column(run.at.q, s), step = conv.filter.step[1];
    int begin = 0, end = h < 0 || h >= conv.x.layout.shape[2] ? 0 : run.count;
    while (begin < end && w + begin * step < 0) ++begin;
    while (begin < end && w + (end - 1) * step >= conv.x.layout.shape[3]) --end;
    return {run.at.n * stride[0] + h * stride[2] + (w + begin * step) * stride[3], begin, end};
}

/// Calls copy(offset into the panels, pixel, count) for pixels [begin, end) of a run, panel by panel.
template <class Copy>
void each_panel(Run const& run, int begin, int end, std::int64_t panel_floats, Copy const& copy) {
    for (int i = begin; i < end;) {
        int const lane = (run.first + i) % tile_columns;
        int const count = static_cast<int>(min(tile_columns - lane, end - i));
        copy((run.first + i) / tile_columns * panel_floats + lane, i, count);
        i += count;
    }
}

/// The windows of neighbouring pixels side by side: panels[pixel / columns][k of GemmK][pixel % columns], columns
/// being tile_columns. Taps outside x are zero. `taps` is scratch for every tap of the filter.
///
/// Channels are the outer loop, so that a channel's plane is read once, and in one stretch for all panels.
template <Element T>
void pack_pixel_panels(float* panels, ConvProblem<T> const& conv, std::int64_t c0, GemmKOrder order, Run const& run, Tap* taps) {
    std::int64_t const channel_stride = conv.x.layout.stride[1], step = conv.x.layout.stride[3] * conv.filter.step[1];
    std::int64_t const panel_floats = conv.gemm_k() * tile_columns, tap_count = conv.taps();
    constexpr std::int64_t ahead = 8;  // channels: a stretch is too short for the processor's own prefetcher to learn
    for (int t = 0; t < tap_count; ++t) taps[t] = tap_of_run(conv, run, t / conv.filter.size[1], t % conv.filter.size[1]);
    for (std::int64_t c = 0; c < conv.group_c(); ++c) {
        T const* const plane = conv.x.data + (c0 + c) * channel_stride;
        std::int64_t const later = c + ahead < conv.group_c() ? ahead * channel_stride : 0;
        for (std::int64_t t = 0; t < tap_count; ++t) {
            auto const [offset, begin, end] = taps[t];
            float* const to = panels + (c * order.channel + t * order.tap) * tile_columns;
            auto const zero = [=](std::int64_t at, int, int count) { fill_zero(to + at, count); };
            if (begin > 0) each_panel(run, 0, begin, panel_floats, zero);
            if (end < run.count) each_panel(run, begin > end ? begin : end, run.count, panel_floats, zero);
            if (begin >= end) continue;
            T const* const from = plane + offset;
            each_panel(run, begin, end, panel_floats, [=, first = begin](std::int64_t at, int i, int count) {
                if (step == 1) {
                    __builtin_prefetch(from + (i - first) + later);
                    copy_floats(to + at, from + (i - first), count);
                } else {
                    for (int j = 0; j < count; ++j) to[at + j] = from[(i - first + j) * step];
                }
            });
        }
    }
}

}  // namespace fusekit::host::inline FUSEKIT_SIMD
