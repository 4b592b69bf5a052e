// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/collective/depthwise_thread.hpp"
#include "fusekit/backend/hip/collective/split_k.hpp"
#include "fusekit/backend/hip/copy/depthwise_rows.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_params.hpp"

namespace fusekit::hip {

/// Weight gradient of a depthwise convolution, groups of one channel of x. `fast` is the mode along which dy is
/// contiguous. A thread has the sums of all taps of its channels in registers. In each of its items it walks down its
/// columns of dy and x, and multiplies each row of x by all rows of dy whose windows contain it. Sums of an item are
/// added to the thread's totals in SMEM, which bounds rounding errors; then a CTA adds the totals of its threads
/// pairwise, and the CTAs of a tile of dw add theirs (split-K).
template <class Plan, Element T, detail::OutputElement U, detail::Axis fast>
class DepthwiseWeightGradient {
    static constexpr auto filter =
        Plan::Head::collapsed;  // for constants only: a use in code would load it from memory
    using Shape = detail::GradientShapeOf<filter, static_cast<int>(sizeof(T)), fast>;
    static constexpr bool along_channels = Shape::along_channels;
    static constexpr int R = filter.size[0], S = filter.size[1], channels = Shape::channels, columns = Shape::columns,
                         depth = Shape::depth, width = Shape::width(columns), stride_h = filter.strides[0],
                         stride_w = filter.strides[1], sums = Shape::sums, dilation_h = filter.dilations[0],
                         dilation_w = filter.dilations[1], top = filter.pad_before[0], left = filter.pad_before[1],
                         center = columns * stride_w;
    /// Columns from `left` on are aligned vectors if the row is long enough and fits a mask; else all are single loads.
    using PixelsOfX = std::conditional_t<(left < width && left + center <= Shape::max_width),
                                         PixelRow<T, width, left, center>, PixelRow<T, width, width, 0>>;
    using RowOfX = std::conditional_t<along_channels, ChannelRow<T, width, channels>, PixelsOfX>;
    using RowOfDy =
        std::conditional_t<along_channels, ChannelRow<T, columns, channels>, PixelRow<T, columns, 0, columns>>;

public:
    static constexpr int threads = Shape::threads, blocks = Shape::blocks;
    using Params = WeightGradientParams<Plan, T, U>;
    using Accumulators = AccumulatorTile<sums, Shape::max_lanes>;
    struct Shared {
        float totals[sums][threads];
        Accumulators acc;
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        DepthwiseGradientTiles const& tiles = params.depthwise;
        SplitKGroups const& split_k = params.split_k;
        unsigned const rank = block % split_k.cluster, number = block / split_k.cluster % tiles.tiles,
                       group = block / split_k.cluster / tiles.tiles;
        add_items(params, shared, thread, number, group * split_k.cluster + rank);
        add_threads(params, shared, thread);
        RowRange const rows = reduce_split_k<threads>(shared.acc, split_k, number, group, rank, thread);
        store(reload(params), shared.acc, rows, number, thread);
        finish_split_k(split_k);
    }

private:
    static constexpr unsigned all = threads, thread_bits = all == 256 ? 8 : 7;
    static_assert(1u << thread_bits == all);

    /// Sums of one item, or of all items of a thread: [r S + s] is tap (r, s) of the weight gradient, [R S] the bias
    /// gradient.
    using Sums = float[R * S + 1][channels];

    /// A thread's channels (lane) and items (slot) among those of its CTA. Consecutive threads have consecutive
    /// channels, or items of the same channel.
    struct Position {
        unsigned lane, slot;
    };
    __device__ static Position position_of(DepthwiseGradientTiles const& tiles, unsigned thread) {
        unsigned const bits = along_channels ? tiles.lane_bits : thread_bits - tiles.lane_bits, high = thread >> bits,
                       low = thread & ((1u << bits) - 1);
        return along_channels ? Position{low, high} : Position{high, low};
    }

    /// Adds all items of a thread to its totals. Part `split` of the CTAs of a tile of dw has every count()-th item.
    __device__ static void add_items(Params const& params, Shared& shared, unsigned thread, unsigned number,
                                     unsigned split) {
        DepthwiseGradientTiles const& tiles = params.depthwise;
        Position const at = position_of(tiles, thread);
        unsigned const item_threads = all >> tiles.lane_bits;
        Index<4> const& of_dy = params.bound.head.dy.layout.shape;
#pragma unroll 1
        for (int i = 0; i < sums; ++i) shared.totals[i][thread] = 0;
        DepthwiseOutputs of{};
        of.k = static_cast<int>((number << tiles.lane_bits) + at.lane) * channels;
        of.channels = (min)(static_cast<int>(of_dy[1]) - of.k, channels);
        if (of.channels <= 0) return;
        unsigned const step = params.split_k.count() * item_threads;
#pragma unroll 1
        for (unsigned item = split * item_threads + at.slot; item < tiles.items; item += step) {
            unsigned const row = tiles.column_tiles.divide(item), image = tiles.row_tiles.divide(row);
            of.n = static_cast<int>(image);
            of.p = static_cast<int>(row - image * tiles.row_tiles.value()) * tiles.rows;
            of.q = static_cast<int>(item - row * tiles.column_tiles.value()) * columns;
            of.rows = (min)(static_cast<int>(of_dy[2]) - of.p, tiles.rows);
            Sums result = {};
            int const remaining = static_cast<int>(of_dy[3]) - of.q;
            // AMD's scalar registers hold the masks of one loop only
            if (!arch::has<arch::Amd> && remaining >= columns) add_item<true>(params, of, remaining, result);
            else add_item<false>(reload(params), of, remaining, result);
#pragma unroll
            for (int i = 0; i < sums; ++i) shared.totals[i][thread] += result[i / channels][i % channels];
        }
    }

    /// Computes the sums of one item. `whole`: all of the item's columns are in dy, else `remaining` of them are. The
    /// others are not multiplied: an infinity in x times a zero is NaN.
    template <bool whole>
    __device__ __forceinline__ static void add_item(Params const& params, DepthwiseOutputs const& of, int remaining,
                                                    Sums& result) {
        DepthwiseGradientTiles const& tiles = params.depthwise;
        TensorView<T const> const dy = detail::typed<T>(params.bound.head.dy);
        auto const input =
            DepthwiseInput<T>::template of<width>(params.x, tiles, of, of.p * stride_h - top, of.q * stride_w - left);
        Index<4> const& dy_stride = dy.layout.stride;
        RowColumns const dy_columns{RowColumns::mask_of<columns>(of.q, static_cast<int>(dy.layout.shape[3])),
                                    static_cast<int>(dy_stride[3]), of.channels, dy_stride[1], tiles.dy_vector};
        int const height = static_cast<int>(params.x.layout.shape[2]);
        std::int64_t const stride = params.x.layout.stride[2];
        // Step p of the loop reads rows p stride_h + window_rows - stride_h and following of x, from the item's first
        // window on, and row p + depth - 1 of dy.
        int row = Shape::window_rows - stride_h * depth, dy_row = 0;
        T const *next = input.data + row * stride, *next_dy = dy.data + of.n * dy_stride[0] + of.k * dy_stride[1] +
                                                              of.p * dy_stride[2] + of.q * dy_stride[3];
        int const end = (of.rows - 1) * stride_h + Shape::window_rows;
        Zeros zeros;
        zeros.keep();
        RowOfX loaded[stride_h];
        RowOfDy loaded_dy;
        auto const load = [&](int u) {
            bool const valid = row < end && static_cast<unsigned>(input.row + row) < static_cast<unsigned>(height);
            if (is_read(u))
                loaded[u].load(zeros, next, opaque_per_thread(valid ? input.columns.mask : 0), input.columns);
            ++row, next += stride;
        };
        auto const load_dy = [&] {
            loaded_dy.load(zeros, next_dy, opaque_per_thread(dy_row < of.rows ? dy_columns.mask : 0), dy_columns);
            ++dy_row, next_dy += dy_stride[2];
        };
        load_dy();
#pragma unroll
        for (int u = 0; u < stride_h; ++u) load(u);
        float factors[depth][columns][channels] = {};  // rows p to p + depth - 1 of dy
#pragma unroll 1
        for (int p = 1 - depth; p < of.rows; ++p) {
#pragma unroll
            for (int i = 0; i < depth; ++i)
#pragma unroll
                for (int j = 0; j < columns; ++j)
#pragma unroll
                    for (int c = 0; c < channels; ++c)
                        factors[i][j][c] = i + 1 < depth ? factors[(min)(i + 1, depth - 1)][j][c]
                                                         : detail::widened(loaded_dy.at(j, c));
            load_dy();
#pragma unroll
            for (int j = 0; j < columns; ++j)
#pragma unroll
                for (int c = 0; c < channels; ++c) result[R * S][c] += factors[depth - 1][j][c];
#pragma unroll
            for (int u = 0; u < stride_h; ++u) {
                float values[width][channels];
#pragma unroll
                for (int j = 0; j < width; ++j)
#pragma unroll
                    for (int c = 0; c < channels; ++c)
                        values[j][c] = is_read(u) ? detail::widened(loaded[u].at(j, c)) : 0;
                load(u);
#pragma unroll
                for (int i = 0; i < depth; ++i) {
                    if (tap_row(u, i) >= 0 && p + i >= 0 && p + i < of.rows)
                        multiply<whole>(values, factors[i], tap_row(u, i), remaining, result);
                }
            }
        }
    }
    /// Filter row by which row u of a step's rows of x is multiplied in window i of the step; -1 if none.
    FUSEKIT_HD static constexpr int tap_row(int u, int i) {
        int const distance = Shape::window_rows - stride_h + u - stride_h * i;
        return distance >= 0 && distance % dilation_h == 0 ? distance / dilation_h : -1;
    }
    FUSEKIT_HD static constexpr bool is_read(int u) {
        for (int i = 0; i < depth; ++i)
            if (tap_row(u, i) >= 0) return true;
        return false;
    }
    /// Adds the products of a row of x and a row of dy to the sums of row r of the filter.
    template <bool whole>
    __device__ __forceinline__ static void multiply(float const (&values)[width][channels],
                                                    float const (&factors)[columns][channels], int r, int remaining,
                                                    Sums& result) {
#pragma unroll
        for (int j = 0; j < columns; ++j) {
            if (whole || j < static_cast<int>(opaque_per_thread(static_cast<unsigned>(remaining)))) {
#pragma unroll
                for (int s = 0; s < S; ++s)
#pragma unroll
                    for (int c = 0; c < channels; ++c)
                        result[r * S + s][c] += values[j * stride_w + s * dilation_w][c] * factors[j][c];
            }
        }
    }

    /// Adds the totals of the CTA's threads of the same channels pairwise, in a fixed order, to shared.acc.
    __device__ static void add_threads(Params const& params, Shared& shared, unsigned thread) {
        DepthwiseGradientTiles const& tiles = params.depthwise;
        unsigned const lane_bits = tiles.lane_bits, slot_bits = thread_bits - lane_bits;
#pragma unroll 1
        for (unsigned bits = slot_bits; bits-- > 0;) {  // slots 0 to 2^bits - 1 add those after them
            __syncthreads();
            unsigned const pair_bits = bits + lane_bits;
#pragma unroll 1
            for (unsigned i = thread; i < unsigned{sums} << pair_bits; i += all) {
                unsigned const pair = i & ((1u << pair_bits) - 1),
                               to = along_channels ? pair : (pair >> bits << slot_bits) + (pair & ((1u << bits) - 1));
                float* const of_sum = shared.totals[i >> pair_bits];
                of_sum[to] += of_sum[to + (1u << (along_channels ? pair_bits : bits))];
            }
        }
        __syncthreads();
#pragma unroll 1
        for (unsigned i = thread; i < sums * Shape::max_lanes; i += all) {
            unsigned const sum = i / Shape::max_lanes, lane = i % Shape::max_lanes;
            shared.acc.rows[sum][lane / 4].values[lane % 4] =
                lane < 1u << lane_bits ? shared.totals[sum][along_channels ? lane : lane << slot_bits] : 0;
        }
    }

    /// Stores the sums of the rows of the tile that this CTA has reduced.
    __device__ static void store(Params const& params, Accumulators const& acc, RowRange const& rows, unsigned number,
                                 unsigned thread) {
        DepthwiseGradientTiles const& tiles = params.depthwise;
        auto const filters = static_cast<int>(params.y.layout.shape[0]);
        auto const first_channel = [&](int lane) {
            return (static_cast<int>(number << tiles.lane_bits) + lane) * channels;
        };
        store_sums<threads>(acc, rows, 1 << tiles.lane_bits, thread, first_channel, [&](float sum, int row, int first) {
            int const k = first + row % channels, tap = row / channels;
            if (k >= filters) return;
            if (tap < R * S) params.store(sum, {k, 0, tap / S, tap % S});
            else if (params.bound.head.bias_gradient.given()) params.store_bias(sum, k);
        });
    }
};

}  // namespace fusekit::hip
