// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/conv_problem.hpp"
#include "fusekit/backend/host/depthwise_tile.hpp"
#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/integer.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/backend/host/pack.hpp"
#include "fusekit/backend/host/tile_totals.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Depthwise convolution with channels along lanes, for channels-last outputs: each output channel reads one input
/// channel.
///
/// A work item is a few rows of y and a block of channels. For each row, a thread writes the addresses of the pixels of
/// x that the row reads; padding reads a pixel of zeros. Register tiles of depthwise_columns pixels then walk the row,
/// each through all vectors of the block: the channels of a pixel are contiguous, those of adjacent pixels may map to
/// the same sets of L1.
template <class Epilogue, Element T, detail::OutputElement U, int Space, Element W = T, class Geometry = Filter<Space>>
class DepthwiseChannelLanes {
    using Problem = ConvProblem<T, Space, W, problem::ChannelGroups, Geometry>;
    using Acc = detail::AccumulatorOf<T>;

public:
    static constexpr char const* name = "DepthwiseChannelLanes";

    DepthwiseChannelLanes(int the_threads, Problem const& the_conv, typename Epilogue::Args const& the_args,
                          TensorView<U> const& the_y)
        : threads(the_threads), conv(the_conv), args(the_args), y(the_y) {}

    std::int64_t scratch_floats() const { return state_floats + weight_floats + zero_floats + threads * thread_floats; }

    void run(Device::RunContext& context) {
        states = reinterpret_cast<State*>(context.scratch(scratch_floats()));
        weights = reinterpret_cast<Acc*>(states) + state_floats;
        zeros = reinterpret_cast<T*>(weights + weight_floats);
        address_memory = reinterpret_cast<T const**>(weights + weight_floats + zero_floats);
        if (context.packs()) {
            fill_zero(weights + weight_floats, zero_floats);
            context.parallel_for(blocks, [this](std::int64_t item, int) {
                for (std::int64_t v = item * block; v < (min)(vectors, (item + 1) * block); ++v) prepare(v);
            });
        }
        if (context.only_packs()) return;
        context.parallel_for(detail::divide_up(rows, item_rows) * blocks, [this](std::int64_t item, int thread) {
            run_item(item / blocks, item % blocks * block, address_memory + thread * (thread_floats / 2));
        });
        if constexpr (Epilogue::collects) totals().save(context);
    }

private:
    using State = typename Epilogue::template State<Vector>;
    using Collected = typename TileTotals<Epilogue>::template Accumulator<detail::Axis::channel>;
    static constexpr std::int64_t max_block = depthwise_vectors;

    int const threads;
    Problem const& conv;
    typename Epilogue::Args const& args;
    TensorView<U> const& y;

    std::int64_t const channels = conv.y[1], vectors = detail::divide_up(channels, lanes);
    std::int64_t const rows = conv.y[0] * conv.y[2], taps = conv.taps();
    /// True if vectors of x are loads; false if x has other strides, or fewer channels than lanes.
    bool const contiguous = conv.x.layout.stride[1] == 1 && channels >= lanes;
    std::int64_t const blocks = detail::divide_up(vectors, max_block);
    std::int64_t const block = detail::divide_up(vectors, (max)(1, blocks));
    /// Rows of y per work item; with statistics, the rows of one statistics total.
    std::int64_t const item_rows = Epilogue::collects ? detail::divide_up(total_pixels, conv.y[3])
                                                      : clamp(detail::divide_up(rows * blocks, 4 * threads), 1, 16);

    /// Columns of y whose pixels are addressed at once, in whole register tiles. The window of the first column begins
    /// at column `lowest` of x. `shared`: adjacent windows share addresses; otherwise each tap has its own.
    std::int64_t const chunk =
        Problem::has_steps
            ? std::int64_t{depthwise_tiles * depthwise_columns}
            : round_up(clamp(4096 / (max)(1, taps), 1, depthwise_tiles* depthwise_columns), depthwise_columns);
    std::int64_t const lowest = (min)(conv.column(0, 0), conv.column(0, conv.window_columns() - 1));
    std::int64_t const dilation = conv.window_columns() > 1 ? conv.column(0, 1) - conv.column(0, 0) : std::int64_t{0};
    std::int64_t const span = (conv.window_columns() - 1) * (dilation < 0 ? -dilation : dilation);
    std::int64_t const shared_width = (chunk - 1) * step() + span + 1, tap_width = chunk * conv.window_columns();
    bool const shared = Problem::has_steps && shared_width <= 2 * tap_width;
    std::int64_t const row_pixels = shared ? shared_width : tap_width;

    std::int64_t const state_floats =
        round_up(detail::divide_up(vectors * std::int64_t{sizeof(State)}, sizeof(float)), 16);
    std::int64_t const weight_floats = round_up(taps * vectors * lanes, 16);
    std::int64_t const zero_floats =
        round_up(detail::divide_up((channels + lanes) * std::int64_t{sizeof(T)}, sizeof(float)), 16);
    std::int64_t const thread_floats = round_up(2 * conv.window_rows() * row_pixels, 16);
    State* states = nullptr;  // (vectors)
    Acc* weights = nullptr;  // (vectors, taps, lanes)
    T* zeros = nullptr;  // (channels): the pixel that taps in padding read
    T const** address_memory = nullptr;  // (threads, window rows, row_pixels)

    std::int64_t step() const {
        if constexpr (Problem::has_steps) return conv.column_step();
        else return 1;
    }
    auto totals() const { return TileTotals<Epilogue>(args, channels, conv.gemm_m(), item_rows * conv.y[3]); }

    int used(std::int64_t v) const { return static_cast<int>((min)(lanes, channels - v * lanes)); }
    /// First channel that vector v loads: the last vector ends at the last channel.
    std::int64_t first_channel(std::int64_t v) const {
        return contiguous ? (min)(v * lanes, channels - lanes) : v * lanes;
    }

    void prepare(std::int64_t v) const {
        states[v] = Epilogue::template prepare_lanes<Vector>(v * lanes, used(v), args);
        std::int64_t const first = first_channel(v), count = (min)(lanes, channels - first);
        Acc* const to = weights + v * taps * lanes;
        if (count < lanes) fill_zero(to, taps * lanes);
        Index<4> const& stride = conv.w.layout.stride;
        if (count == lanes && taps >= lanes && problem::dense(conv.w.layout, Index<2>{{2, 3}}))
            return pack_dense(to, conv.weights_of(first), conv.weights_of(first + 1) - conv.weights_of(first));
        for (int i = 0; i < count; ++i) {
            W const* row = conv.weights_of(first + i);
            Acc* tap = to + i;
            for (int r = 0; r < conv.window_rows(); ++r, row += stride[2])
                for (int s = 0; s < conv.window_columns(); ++s, tap += lanes)
                    *tap = detail::widened_to<Acc>(row[s * stride[3]]);
        }
    }

    /// Packs `lanes` filters whose taps are contiguous; the last block of taps overlaps the one before it.
    void pack_dense(Acc* to, W const* from, std::int64_t filter_stride) const {
        for (std::int64_t tap = 0; tap < taps; tap += lanes) {
            std::int64_t const t = (min)(tap, taps - lanes);
            RegisterOf<Acc> filters[lanes];
            for (int i = 0; i < lanes; ++i) filters[i] = load_widened_to<Acc>(from + i * filter_stride + t);
            transpose(filters);
            for (int i = 0; i < lanes; ++i) store(to + (t + i) * lanes, filters[i]);
        }
    }

    void run_item(std::int64_t tile, std::int64_t v0, T const** addresses) const {
        Collected collected[max_block];
        std::int64_t const v_end = (min)(vectors, v0 + block);
        std::int64_t const end = (min)((tile + 1) * item_rows, rows);
        for (std::int64_t q = 0; q < conv.y[3]; q += chunk)
            for (std::int64_t row = tile * item_rows; row < end; ++row)
                run_chunk({row / conv.y[2], 0, row % conv.y[2], q}, v0, v_end, addresses, collected);
        if constexpr (Epilogue::collects)
            for (std::int64_t v = v0; v < v_end; ++v) totals().put(tile, v * lanes, collected[v - v0].total(), used(v));
    }

    /// Computes vectors v0 ... v_end - 1 of up to `chunk` pixels of a row of y, from column at.q on.
    void run_chunk(OutputCoord at, std::int64_t v0, std::int64_t v_end, T const** addresses,
                   Collected* collected) const {
        std::int64_t const end = (min)(conv.y[3], at.q + chunk);
        // Rows in padding are not skipped: an infinite weight times padding is NaN.
        for (int r = 0; r < conv.window_rows(); ++r)
            address_row(addresses + r * row_pixels, at, conv.row(at.p, r), end - at.q);
        DepthwisePixels<T> window{addresses + (shared && dilation < 0 ? span : 0),
                                  row_pixels,
                                  shared ? dilation : chunk,
                                  shared ? step() : 1,
                                  conv.window_rows(),
                                  conv.window_columns()};
        int const count = static_cast<int>(end - at.q);
        DepthwiseAccumulators sum;
        store(sum.past_end, Vector{});
        if (!contiguous) {
            static_assert(depthwise_tiles <= depthwise_vectors);
            for (std::int64_t v = v0; v < v_end; ++v) {
                at.k = v * lanes;
                depthwise_strided_row(sum, window, count, at.k, conv.x.layout.stride[1], used(v),
                                      weights + v * taps * lanes);
                finish(sum.value, at, count, used(v), y.layout.stride[1], states[v], collected[v - v0]);
            }
            return;
        }
        DepthwiseTile<T, Acc> const sum_tile = depthwise_tile_for<T, Acc>(window);
        DepthwiseVectors<Acc> const of_tile{v0 * lanes, static_cast<int>(v_end - v0), channels - lanes,
                                            weights + v0 * taps * lanes};
        for (int done = 0; done < count; done += depthwise_columns, at.q += depthwise_columns) {
            sum_tile(sum, window, of_tile);
            window.first += depthwise_columns * window.pixel_step;
            int const pixels = static_cast<int>((min)(depthwise_columns, count - done));
            std::int64_t v = v0;
            if constexpr (!Epilogue::collects && !Epilogue::pixelwise)
                if (pixels == depthwise_columns && y.layout.stride[1] == 1) v = finish_tile(sum, at, v0, v_end);
            for (; v < v_end; ++v) {
                at.k = v * lanes;
                float const(*of_vector)[lanes] = sum.value + (v - v0) * depthwise_columns;
                if (used(v) == lanes && y.layout.stride[1] == 1)
                    finish(of_vector, at, pixels, std::integral_constant<int, lanes>{},
                           std::integral_constant<int, 1>{}, states[v], collected[v - v0]);
                else finish(of_vector, at, pixels, used(v), y.layout.stride[1], states[v], collected[v - v0]);
            }
        }
    }

    /// Writes the addresses of the pixels that `count` columns of y, from at.q on, read from row h of x.
    void address_row(T const** to, OutputCoord const& at, std::int64_t h, std::int64_t count) const {
        T const* const outside = contiguous ? zeros : nullptr;
        std::int64_t const stride = conv.x.layout.stride[3];
        bool const has_row = conv.has_row(h);
        T const* const row = has_row ? &conv.x(at.n, 0, h, 0) : nullptr;
        std::int64_t const whole = round_up(count, depthwise_columns);  // columns past the last read zeros
        if (shared) {
            std::int64_t const w0 = lowest + at.q * step(), width = (whole - 1) * step() + span + 1;
            std::int64_t const begin = has_row ? clamp(-w0, 0, width) : width;
            std::int64_t const stop = (max)(begin, (min)(width, conv.x.layout.shape[3] - w0));
            std::int64_t i = 0;
            for (; i < begin; ++i) to[i] = outside;
            for (T const* from = row + (w0 + i) * stride; i < stop; ++i, from += stride) to[i] = from;
            for (; i < width; ++i) to[i] = outside;
        } else {
            for (int s = 0; s < conv.window_columns(); ++s)
                for (std::int64_t j = 0; j < whole; ++j) {
                    std::int64_t const w = j < count ? conv.column(at.q + j, s) : -1;
                    to[s * chunk + j] = has_row && conv.has_column(w) ? row + w * stride : outside;
                }
        }
    }

    /// finish() for the pixels of a register tile and all vectors that have `lanes` channels, contiguous in y; returns
    /// the first vector that has fewer. The epilogue depends on channels alone.
    std::int64_t finish_tile(DepthwiseAccumulators const& sum, OutputCoord const& at, std::int64_t v0,
                             std::int64_t v_end) const {
        auto const& of_plan = args;
        std::int64_t const step = y.layout.stride[3], end = (min)(v_end, channels / lanes);
        U* to = &y(at.n, v0 * lanes, at.p, at.q);
        float const(*from)[lanes] = sum.value;
        for (std::int64_t v = v0; v < end; ++v, to += lanes, from += depthwise_columns) {
            State const state = states[v];
            for (int j = 0; j < depthwise_columns; ++j)
                store(to + j * step,
                      Epilogue::apply(load(from[j]), LaneCoord<detail::Axis::channel>{at, lanes, 1}, state, of_plan));
        }
        return (max)(v0, end);
    }

    /// Applies the epilogue to `count` channels, `stride` apart in y, of `pixels` pixels from `at` on, and stores them.
    void finish(float const (*sum)[lanes], OutputCoord at, int pixels, auto count, auto stride, State const& state,
                Collected& collected) const {
        std::int64_t const step = y.layout.stride[3];
        int const skipped = contiguous ? lanes - count : 0;
        U* to = &y(at.n, at.k, at.p, at.q);
        for (int j = 0; j < pixels; ++j, ++at.q, to += step)
            store(to, stride, count,
                  Epilogue::apply(load(sum[j] + skipped), LaneCoord<detail::Axis::channel>{at, count, conv.y[3]}, state,
                                  args, [&](Vector x) { collected.add(x, count); }));
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
