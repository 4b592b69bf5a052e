// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "fusekit/backend/host/conv_problem.hpp"
#include "fusekit/backend/host/gemm.hpp"

namespace fusekit::host {

/// Copies `count` <= tile_columns neighbouring elements as floats; as few vector moves as they take, overlapping.
template <Element T>
void copy_run(float* to, T const* from, int count) {
    if constexpr (std::same_as<T, float>) {
        using Quad [[gnu::vector_size(16)]] = float;
        if (count >= 2 * lanes) {
            for (int i = 0; i + lanes <= count; i += lanes) store(to + i, load(from + i));
            store(to + count - lanes, load(from + count - lanes));
        } else if (count >= lanes) {
            store(to, load(from));
            store(to + count - lanes, load(from + count - lanes));
        } else if (count >= 4) {
            for (int i = 0; i + 4 <= count; i += 4) std::memcpy(to + i, from + i, sizeof(Quad));
            std::memcpy(to + count - 4, from + count - 4, sizeof(Quad));
        } else {
            for (int i = 0; i < count; ++i) to[i] = from[i];
        }
    } else {
        int i = 0;
        for (; i + lanes <= count; i += lanes) store(to + i, load(from + i));
        for (; i < count; ++i) to[i] = from[i];
    }
}

/// Filters k0 ... k0 + tile_columns - 1 side by side: panel[(t C + c)][column], zero past `k_end`.
template <Element T>
void pack_filter_panel(float* panel, ConvProblem<T> const& conv, std::int64_t k0, std::int64_t k_end) {
    auto const& stride = conv.w.layout.stride;
    std::int64_t const channels = conv.group_c();
    constexpr std::int64_t block = 64;  // channels whose part of the panel stays in the L1 cache
    for (int r = 0; r < conv.filter.size[0]; ++r)
        for (int s = 0; s < conv.filter.size[1]; ++s)
            for (std::int64_t c0 = 0; c0 < channels; c0 += block) {
                std::int64_t const c_end = std::min(c0 + block, channels);
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

/// Filter k as one row of floats, in the given order of GemmK.
template <Element T>
void pack_filter_row(float* row, ConvProblem<T> const& conv, std::int64_t k, GemmKOrder order) {
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
            if (h < 0 || h >= conv.x.layout.shape[2] || w < 0 || w >= conv.x.layout.shape[3]) {
                std::fill_n(row, channels, 0.0f);
                continue;
            }
            T const* const from = &conv.x(at.n, c0, h, w);
            std::int64_t c = 0;
            if (stride == 1)
                for (; c + lanes <= channels; c += lanes) store(row + c, load(from + c));
            for (; c < channels; ++c) row[c] = from[c * stride];
        }
}

/// Pixels of a panel that lie in one row of one image.
struct Run {
    Pixel at;
    int lane, count;
};

/// Splits pixels m ... m + tile_columns - 1, but those past the last one, into runs. Returns how many there are.
template <Element T>
int split_into_runs(Run (&runs)[tile_columns], ConvProblem<T> const& conv, std::int64_t m) {
    int const total = static_cast<int>(std::min<std::int64_t>(tile_columns, conv.pixels() - m));
    int found = 0;
    for (int lane = 0; lane < total;) {
        Pixel const at = pixel_at(conv, m + lane);
        int const count = static_cast<int>(std::min<std::int64_t>(total - lane, conv.y[3] - at.q));
        runs[found++] = {at, lane, count};
        lane += count;
    }
    return found;
}

/// The windows of neighbouring pixels side by side: panel[k of GemmK][lane], taps outside x zero.
template <Element T>
void pack_pixel_panel(float* panel, ConvProblem<T> const& conv, std::int64_t c0, GemmKOrder order, Run const* runs,
                      int run_count) {
    auto const& stride = conv.x.layout.stride;
    std::int64_t const step = stride[3] * conv.filter.step[1], width = conv.x.layout.shape[3];
    Run const& last = runs[run_count - 1];
    if (last.lane + last.count < tile_columns) std::fill_n(panel, conv.gemm_k() * tile_columns, 0.0f);
    for (Run const* run = runs; run != runs + run_count; ++run)
        for (int r = 0; r < conv.filter.size[0]; ++r)
            for (int s = 0; s < conv.filter.size[1]; ++s) {
                std::int64_t const h = conv.row(run->at.p, r), w = conv.column(run->at.q, s);
                int begin = 0, end = run->count;  // lanes of the run whose tap is inside x
                if (h < 0 || h >= conv.x.layout.shape[2]) end = 0;
                while (begin < end && w + std::int64_t{begin} * conv.filter.step[1] < 0) ++begin;
                while (begin < end && w + std::int64_t{end - 1} * conv.filter.step[1] >= width) --end;
                float* to = panel + (std::int64_t{r} * conv.filter.size[1] + s) * order.tap * tile_columns + run->lane;
                T const* from = end ? conv.x.data + conv.x.layout.offset({{run->at.n, c0, h, 0}}) + w * stride[3] : nullptr;
                for (std::int64_t c = 0; c < conv.group_c(); ++c, to += order.channel * tile_columns) {
                    for (int i = 0; i < begin; ++i) to[i] = 0;
                    if (step == 1) copy_run(to + begin, from + begin, end - begin);
                    else for (int i = begin; i < end; ++i) to[i] = from[i * step];
                    for (int i = std::max(begin, end); i < run->count; ++i) to[i] = 0;
                    if (end) from += stride[1];
                }
            }
}

}  // namespace fusekit::host
