// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/async_copy.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/collective/split_k.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_params.hpp"
#include "fusekit/config.hpp"

namespace fusekit::hip {

/// Weight gradient of a depthwise convolution of 16-bit elements, channels-last. A CTA has 32 channels. It copies an
/// item, a tile of dy and the pixels of x that its windows read, to SMEM (cp.async), zero-filled out of bounds. A warp
/// has one row of the filter, half a warp one row of dy at a time, a thread two channels: it walks along the row with a
/// window of x in registers, so that each column costs one SMEM read of dy and one per stride of x. Several CTAs on an
/// SM overlap copies and arithmetic. Sums of an item are added to the thread's totals, which bounds rounding errors.
/// Columns past dy are not multiplied: an infinity in x times a zero is NaN. CTAs add their totals by split-K.
template <class Plan, Element T, detail::OutputElement U>
class DepthwiseHaloWeightGradient {
    static constexpr auto filter =
        Plan::Head::collapsed;  // for constants only: a use in code would load it from memory
    using Shape = DepthwiseHaloGradientShape<filter.size[0], filter.size[1]>;
    using Tiles = DepthwiseHaloGradientTiles;
    static constexpr int R = filter.size[0], S = filter.size[1], stride_h = filter.strides[0],
                         stride_w = filter.strides[1], dilation_h = filter.dilations[0], unit = Tiles::unit,
                         pixel_bytes = Tiles::pixel_bytes, row_groups = Shape::row_groups;
    using Pair = Packet<T, 2>;

public:
    static constexpr int threads = Shape::threads, blocks = Tiles::blocks;
    using Architecture = arch::Sm80;
    using Params = WeightGradientParams<Plan, T, U>;
    /// rows: taps, then the sum of dy, which is the bias gradient; columns: channels
    using Accumulators = AccumulatorTile<R * S + 1, unit>;
    struct DynamicShared {
        alignas(16) unsigned char bytes[Tiles::max_shared_bytes];
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        Tiles const& tiles = params.depthwise.halo;
        SplitKGroups const& split_k = params.split_k;
        unsigned const rank = block % split_k.cluster, number = block / split_k.cluster % tiles.units,
                       group = block / split_k.cluster / tiles.units;
        Sums totals = {};
        float bias[2] = {};
        add_items(params, shared.bytes, thread, number, group * split_k.cluster + rank, totals, bias);
        __syncthreads();
        auto& acc = *reinterpret_cast<Accumulators*>(shared.bytes);
        put_totals(acc, thread, totals, bias);
        RowRange const rows = reduce_split_k<threads>(acc, split_k, number, group, rank, thread);
        int const filters = static_cast<int>(params.y.layout.shape[0]);
        store_sums<threads>(
            acc, rows, unit, thread, [&](int column) { return static_cast<int>(number) * unit + column; },
            [&](float sum, int row, int k) {
                if (k >= filters) return;
                if (row < R * S) params.store(sum, {k, 0, row / S, row % S});
                else if (params.bound.head.bias_gradient.given()) params.store_bias(sum, k);
            });
        finish_split_k(split_k);
    }

private:
    /// A thread's sums: taps of a row of the filter x two channels.
    using Sums = float[S][2];

    __device__ static void add_items(Params const& params, unsigned char* bytes, unsigned thread, unsigned number,
                                     unsigned split, Sums& totals, float (&bias)[2]) {
        Tiles const& tiles = params.depthwise.halo;
        TensorView<T const> const dy = detail::typed<T>(params.bound.head.dy);
        unsigned char* const of_x = bytes + tiles.dy_bytes();
        int const lane = static_cast<int>(thread % 32), warp = static_cast<int>(thread / 32), r = warp % R,
                  slot = warp / R * 2 + lane / 16, channel = lane % 16 * 4;
        unsigned const step = params.split_k.count();
        bool const has_bias = params.bound.head.bias_gradient.given() && r == 0;
#pragma unroll 1
        for (unsigned item = split; item < tiles.items; item += step) {
            unsigned const line = tiles.column_tiles.divide(item), n = tiles.row_tiles.divide(line);
            int const p = static_cast<int>(line - n * tiles.row_tiles.value()) * tiles.rows,
                      q = static_cast<int>(item - line * tiles.column_tiles.value()) * tiles.columns;
            __syncthreads();  // the previous item has been read
            copy(dy, tiles.of_dy, bytes, tiles.dy_row_bytes, thread, number, n, p, q);
            copy(params.x, tiles.of_x, of_x, tiles.x_row_bytes, thread, number, n, p * stride_h - filter.pad_before[0],
                 q * stride_w - filter.pad_before[1]);
            wait_for_copies();
            __syncthreads();
            int const rows = (min)(tiles.rows, static_cast<int>(dy.layout.shape[2]) - p),
                      columns = (min)(tiles.columns, static_cast<int>(dy.layout.shape[3]) - q);
            Sums sums = {};
            float of_bias[2] = {};
#pragma unroll 1
            for (int row = slot; row < rows; row += 2 * row_groups) {
                unsigned char const* const from_dy = bytes + row * tiles.dy_row_bytes + channel;
                multiply_row(from_dy, of_x + (row * stride_h + r * dilation_h) * tiles.x_row_bytes + channel, columns,
                             sums);
                if (has_bias)
                    for (int j = 0; j < columns; ++j)
#pragma unroll
                        for (int c = 0; c < 2; ++c) of_bias[c] += read(from_dy, j).values[c];
            }
#pragma unroll
            for (int c = 0; c < 2; ++c) {
#pragma unroll
                for (int s = 0; s < S; ++s) totals[s][c] += sums[s][c];
                bias[c] += of_bias[c];
            }
        }
    }

    /// Issues the copies of a box of pixels, from row `top` and column `left` of image n on, of the CTA's channels.
    __device__ static void copy(TensorView<T const> const& view, Tiles::Box const& box, unsigned char* to,
                                int row_bytes, unsigned thread, unsigned number, unsigned n, int top, int left) {
        Layout<4> const& layout = view.layout;
        int const block = static_cast<int>(thread % 4), c = static_cast<int>(number) * unit + block * 8,
                  pixels = box.pixels, columns = static_cast<int>(box.columns.value());
        bool const has_channels = c < static_cast<int>(layout.shape[1]);
        T const* const from = view.data + n * layout.stride[0] + c;
#pragma unroll 2
        for (int i = static_cast<int>(thread / 4); i < pixels; i += threads / 4) {
            int const row = static_cast<int>(box.columns.divide(static_cast<unsigned>(i))), column = i - row * columns,
                      h = top + row, w = left + column;
            bool const valid = has_channels && static_cast<unsigned>(h) < static_cast<unsigned>(layout.shape[2]) &&
                               static_cast<unsigned>(w) < static_cast<unsigned>(layout.shape[3]);
            copy_async<16>(to + row * row_bytes + column * pixel_bytes + block * 16,
                           valid ? from + h * layout.stride[2] + w * layout.stride[3] : view.data, valid);
        }
    }

    struct Values {
        float values[2];
    };
    __device__ static Values read(unsigned char const* row, int column) {
        Pair const pair = *reinterpret_cast<Pair const*>(row + column * pixel_bytes);
        return {detail::widened(pair.values[0]), detail::widened(pair.values[1])};
    }

    /// Adds the products of `columns` columns of a row of dy. The window's column i is in window[i % S].
    __device__ __forceinline__ static void multiply_row(unsigned char const* dy, unsigned char const* x, int columns,
                                                        Sums& sums) {
        Values window[S];
#pragma unroll
        for (int i = 0; i < S - stride_w; ++i) window[i] = read(x, i);
        int q = 0;
#pragma unroll 1
        for (; q + S <= columns; q += S, dy += S * pixel_bytes, x += S * stride_w * pixel_bytes)
            multiply_columns<true>(dy, x, S, window, sums);
        if (q < columns) multiply_columns<false>(dy, x, columns - q, window, sums);
    }
    template <bool whole>
    __device__ __forceinline__ static void multiply_columns(unsigned char const* dy, unsigned char const* x,
                                                            int columns, Values (&window)[S], Sums& sums) {
#pragma unroll
        for (int j = 0; j < S; ++j) {
            if (!whole && j >= columns) break;
#pragma unroll
            for (int i = 0; i < stride_w; ++i) {
                int const column = j * stride_w + S - stride_w + i;
                window[column % S] = read(x, column);
            }
            Values const factor = read(dy, j);
#pragma unroll
            for (int s = 0; s < S; ++s)
#pragma unroll
                for (int c = 0; c < 2; ++c) sums[s][c] += window[(j * stride_w + s) % S].values[c] * factor.values[c];
        }
    }

    /// Adds the totals of the warps' halves and of the groups of warps, in a fixed order, to `acc`.
    __device__ static void put_totals(Accumulators& acc, unsigned thread, Sums& totals, float (&bias)[2]) {
        int const lane = static_cast<int>(thread % 32), warp = static_cast<int>(thread / 32), r = warp % R;
        auto const add = [&](int row, int c, float value, bool is_first) {
            float& to = acc.rows[row][lane / 2].values[lane % 2 * 2 + c];
            to = is_first ? value : to + value;
        };
#pragma unroll
        for (int c = 0; c < 2; ++c) {
#pragma unroll
            for (int s = 0; s < S; ++s) totals[s][c] += of_lane_xor(totals[s][c], 16);
            bias[c] += of_lane_xor(bias[c], 16);
        }
#pragma unroll 1
        for (int group = 0; group < row_groups; ++group) {
            if (warp / R == group && lane < 16) {
#pragma unroll
                for (int c = 0; c < 2; ++c) {
#pragma unroll
                    for (int s = 0; s < S; ++s) add(r * S + s, c, totals[s][c], group == 0);
                    if (r == 0) add(R * S, c, bias[c], group == 0);
                }
            }
            __syncthreads();
        }
    }
};

}  // namespace fusekit::hip
