// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/conv_problem.hpp"
#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/gemm.hpp"
#include "fusekit/backend/host/pack.hpp"
#include "fusekit/backend/host/tiling.hpp"
#include "fusekit/plan/pairwise.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Gradient of a convolution's weights, as one GEMM per group: dy (channels of y, pixels) times the windows of x
/// (pixels, columns). Columns are filter taps x channels, channels fastest, and a column of ones if the bias gradient
/// is requested. GemmK is all pixels.
///
/// A work item accumulates `slab` columns over `chunk` pixels; it packs the windows of `stretch` pixels at a time, and
/// `chunk` is a multiple of `stretch`. The sums of the chunks are merged pairwise. The order depends on extents alone,
/// so that results are bitwise identical for any number of threads.
template <class BoundPlan, Element T, detail::OutputElement U>
class WeightGradient {
    using Plan = typename BoundPlan::Plan;
    using Head = typename Plan::Head;
    using Epilogue = typename Plan::Epilogue;
    using Problem = ConvProblem<T, Head::collapsed_space>;

    static constexpr std::int64_t stretch = 256;  ///< pixels whose windows are packed at a time
    static constexpr std::int64_t slab = item_bytes / (stretch * std::int64_t{sizeof(float)}) / tile_columns *
                                         /// columns per work item: the windows of `stretch` pixels fit an L2 cache
                                         tile_columns;
    /// maximum of chunk / stretch; target number of work items
    static constexpr std::int64_t max_stretches = 64, items = 64;

public:
    static constexpr char const* name = "WeightGradient";

    WeightGradient(BoundPlan const& the_bound, detail::ImageView<T const> const& x, TensorView<U> const& the_dw)
        : bound(the_bound),
          dy(detail::typed<T>(the_bound.head.dy)),
          dw(the_dw),
          conv{{x, {nullptr, the_dw.layout}, dy.layout.shape, Head::geometry(the_bound.head)},
               {x.shape(), {dy.layout.shape, the_bound.head.dy.from}}},
          weights(conv.gemm_k()),
          columns(weights + the_bound.head.bias_gradient.given()),
          slabs(detail::divide_up(columns, slab)),
          row_floats(round_up(columns, tile_columns)) {
        std::int64_t const stretches = detail::divide_up(conv.gemm_m(), stretch);
        chunk = stretch * clamp(stretches * slabs * conv.groups() / items, 1, max_stretches);
        chunks = detail::divide_up(conv.gemm_m(), chunk);
    }

    std::int64_t sum_floats() const { return chunks * dw.layout.shape[0] * row_floats; }
    std::int64_t thread_floats() const { return slab * stretch + tile_rows * packed_row_stride(stretch); }

    void run(Device::RunContext& context) const {
        float* const sums = context.scratch(sum_floats());
        float* const own = context.scratch(thread_floats() * context.threads());
        std::int64_t const parts = slabs * conv.groups();
        context.parallel_for(chunks * parts, [&](std::int64_t item, int thread) {
            std::int64_t const at = item / parts, group = item % parts / slabs, first = item % slabs * slab;
            float* const to = sums + (at * dw.layout.shape[0] + conv.first_k(group)) * row_floats + first;
            add_chunk(to, own + thread * thread_floats(), group, first, at * chunk,
                      (min)(conv.gemm_m(), (at + 1) * chunk));
        });
        context.parallel_for(dw.layout.shape[0], [&](std::int64_t k, int) { merge(sums + k * row_floats, k); });
    }

private:
    BoundPlan const& bound;
    TensorView<T const> dy;
    TensorView<U> dw;
    Problem conv;
    std::int64_t weights, columns, slabs, row_floats, chunk, chunks;

    /// Accumulates pixels [begin, end) of dy for `slab` columns of dw from `column` on and all channels of y in a
    /// group.
    void add_chunk(float* to, float* panels, std::int64_t group, std::int64_t column, std::int64_t begin,
                   std::int64_t end) const {
        float* const rows = panels + slab * stretch;
        std::int64_t const width = (min)(slab, row_floats - column), channels = conv.group_k();
        for (std::int64_t first = begin; first < end; first += stretch) {
            std::int64_t const last = (min)(end, first + stretch), length = last - first;
            for (std::int64_t j = 0; j < width; j += tile_columns)
                pack_panel(panels + j * length, group, column + j, first, last);
            for (std::int64_t k = 0; k < channels; k += tile_rows) {
                std::int64_t const count = (min)(tile_rows, channels - k);
                KRange<float> range;
                for (std::int64_t i = 0; i < tile_rows; ++i)
                    range.row[i] = rows + (i < count ? i : 0) * packed_row_stride(stretch);
                range.length = length;
                pack_rows(rows, conv.first_k(group) + k, count, first, last);
                for (std::int64_t j = 0; j < width; j += tile_columns) {
                    TileAccumulators tile;
                    gemm_tile(tile, &range, 1, panels + j * length);
                    for (std::int64_t i = 0; i < count; ++i)
                        for (int part = 0; part < tile_vectors; ++part) {
                            float* const sum = to + (k + i) * row_floats + j + part * lanes;
                            Vector const value = tile.value[i][part];
                            store(sum, first == begin ? value : load(sum) + value);
                        }
                }
            }
        }
    }

    /// Packs `count` channels of dy from channel k on as rows of pixels [begin, end), packed_row_stride(stretch) apart.
    void pack_rows(float* rows, std::int64_t k, std::int64_t count, std::int64_t begin, std::int64_t end) const {
        std::int64_t const of_channel = dy.layout.stride[1], of_pixel = dy.layout.stride[3];
        detail::each_row(begin, end, conv.y[3], [&](std::int64_t row, std::int64_t first, std::int64_t last) {
            T const* const from = &dy(row / conv.y[2], k, row % conv.y[2], first);
            std::int64_t const length = last - first;
            if (of_pixel == 1)
                for (std::int64_t i = 0; i < count; ++i)
                    copy_widened(rows + i * packed_row_stride(stretch), from + i * of_channel, length);
            else
                for (std::int64_t j = 0; j < length; ++j)
                    for (std::int64_t i = 0; i < count; ++i)
                        rows[i * packed_row_stride(stretch) + j] = detail::widened(from[i * of_channel + j * of_pixel]);
            rows += length;
        });
    }

    /// Packs the windows of x at tile_columns columns (tap, channel of x) of dw, from column `column` on, as a panel:
    /// panel[pixel - begin][column] for pixels [begin, end) of dy. The column after the last one is ones, for the bias
    /// gradient.
    void pack_panel(float* panel, std::int64_t group, std::int64_t column, std::int64_t begin, std::int64_t end) const {
        std::int64_t const channels = conv.group_c();
        for (std::int64_t lane = 0, count; lane < tile_columns; lane += count) {
            std::int64_t const at = column + lane;
            if (at < weights) {
                count = (min)(channels - at % channels, tile_columns - lane);
                pack_tap(panel + lane, conv.first_c(group) + at % channels, count, static_cast<int>(at / channels),
                         begin, end);
            } else {
                count = 1;
                for (std::int64_t m = 0; m < end - begin; ++m) panel[m * tile_columns + lane] = at == weights;
            }
        }
    }

    /// Packs `count` channels of x from channel c on at one filter tap, for pixels [begin, end) of dy: to[pixel -
    /// begin][channel].
    void pack_tap(float* to, std::int64_t c, std::int64_t count, int tap, std::int64_t begin, std::int64_t end) const {
        int const r = tap / conv.window_columns(), s = tap % conv.window_columns();
        std::int64_t const of_pixel = conv.column_step() * conv.x.layout.stride[3];
        detail::each_row(begin, end, conv.y[3], [&](std::int64_t row, std::int64_t first, std::int64_t last) {
            std::int64_t const h = conv.row(row % conv.y[2], r), length = last - first;
            std::int64_t inside = 0, outside = conv.has_row(h) ? length : 0;  // range of pixels whose tap is inside x
            while (inside < outside && !conv.has_column(conv.column(first + inside, s))) ++inside;
            while (inside < outside && !conv.has_column(conv.column(first + outside - 1, s))) --outside;
            for (std::int64_t m = 0; m < length; ++m)
                if (m < inside || m >= outside) fill_zero(to + m * tile_columns, count);
            if (inside < outside)
                pack_pixels(to + inside * tile_columns, &conv.x(row / conv.y[2], c, h, conv.column(first + inside, s)),
                            count, outside - inside, of_pixel);
            to += length * tile_columns;
        });
    }

    /// Packs `count` channels of `length` pixels of x, which are of_pixel elements apart: to[pixel][channel], with rows
    /// tile_columns apart.
    void pack_pixels(float* to, T const* from, std::int64_t count, std::int64_t length, std::int64_t of_pixel) const {
        std::int64_t const of_channel = conv.x.layout.stride[1];
        if (of_channel == 1) {
            for (std::int64_t m = 0; m < length; ++m) copy_widened(to + m * tile_columns, from + m * of_pixel, count);
            return;
        }
        std::int64_t i = 0;
        if (of_pixel == 1)
            for (; i + lanes <= count; i += lanes)
                for (std::int64_t m = 0; m < length; m += lanes)
                    pack_contiguous(to + m * tile_columns + i, from + i * of_channel + m, of_channel, lanes,
                                    static_cast<int>((min)(lanes, length - m)));
        for (; i < count; ++i)
            for (std::int64_t m = 0; m < length; ++m)
                to[m * tile_columns + i] = detail::widened(from[i * of_channel + m * of_pixel]);
    }

    /// Merges the sums of filter k over all chunks, applies the epilogue and writes dw[k] and the bias gradient.
    void merge(float const* sums, std::int64_t k) const {
        std::int64_t const step = dw.layout.shape[0] * row_floats, channels = conv.group_c();
        auto const state = Epilogue::prepare(k, bound.epilogue);
        for (std::int64_t column = 0; column < columns; column += lanes) {
            Vector values{};  // zeros, for a sum over no pixels
            if (chunks > 0)
                values = detail::pairwise(
                    0, chunks, 1, [&](std::int64_t at, std::int64_t) { return load(sums + at * step + column); },
                    [](Vector a, Vector b) { return a + b; });
            for (std::int64_t j = column; j < (min)(columns, column + lanes); ++j) {
                float const value = values[j - column];
                if (j >= weights) {
                    bound.head.bias_gradient.data[k * bound.head.bias_gradient.layout.stride[0]] = value;
                    continue;
                }
                std::int64_t const tap = j / channels;
                OutputCoord const at{k, j % channels, tap / conv.window_columns(), tap % conv.window_columns()};
                dw(at.n, at.k, at.p, at.q) = U(Epilogue::apply(value, at, state, bound.epilogue));
            }
        }
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
