// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/collective/depthwise_thread.hpp"
#include "fusekit/backend/hip/copy/depthwise_rows.hpp"
#include "fusekit/backend/hip/copy/depthwise_weights.hpp"
#include "fusekit/backend/hip/epilogue/depthwise_store.hpp"

namespace fusekit::hip {

/// Depthwise transposed convolution with a stride (SpreadWindow): a thread computes all phases of the stride, in blocks
/// of `stride_h` rows of y. It walks down its columns of x and adds each row to the `depth` blocks to which the row
/// contributes. Blocks begin at row -(top % stride_h) of y, where `top` is the padding, so that each row of x completes
/// exactly one block.
template <class Plan, class Window, Element T, Element U, detail::Axis fast>
class DepthwiseSpread {
    using Head = typename Plan::Head;
    using Weight = typename Head::template WeightElement<T>;
    using Sum = detail::AccumulatorOf<T>;
    using Params = ConvParams<Plan, T, U>;
    using Shape = DepthwiseShape<Window, static_cast<int>(sizeof(T)), fast>;
    static constexpr bool along_channels = fast == detail::Axis::channel;
    static constexpr int R = Window::rows, S = Window::columns, channels = Shape::channels, columns = Shape::columns,
                         depth = Window::depth, block_rows = Window::stride_h, width = Window::width(columns),
                         before = Window::before(), center = columns / Window::stride_w,
                         words = center * static_cast<int>(sizeof(T)) / 4, top = Head::filter.pad_before[0],
                         first_row = top % block_rows;
    /// A row of x that is contiguous along pixels; without vectors if fewer than 4 bytes of it are aligned.
    using PixelsOfRow =
        std::conditional_t<words == 0, PixelRow<T, width, width, 0>, PixelRow<T, width, before, center>>;
    using Row = std::conditional_t<along_channels, ChannelRow<T, width, channels>, PixelsOfRow>;
    using Weights = DepthwiseWeights<Window, channels, Weight, Sum>;

public:
    __device__ static void run(Params const& params, void* shared, unsigned thread, unsigned block) {
        DepthwiseTiles const& tiles = params.depthwise;
        auto const filters = depthwise_filters(params.problem());
        auto const of = DepthwiseOutputs::of<Shape, first_row>(tiles, params.y.layout.shape,
                                                               block * static_cast<unsigned>(tiles.threads) + thread);
        int const blocks = (of.rows + block_rows - 1) / block_rows;
        // step b of the loop reads row b of x, which completes block b
        auto const input = DepthwiseInput<T>::template of<width>(params.x, tiles, of, (of.p + top) / block_rows,
                                                                 of.q / Window::stride_w - before);
        int const height = static_cast<int>(params.x.layout.shape[2]);
        std::int64_t const stride = params.x.layout.stride[2];
        int row = 1 - depth;
        T const* next = input.data + row * stride;
        Zeros zeros;
        zeros.keep();
        int const end = of.exist ? blocks : -depth;  // threads without outputs load no row
        Row loaded;
        auto const load = [&] {
            bool const valid = row < end && static_cast<unsigned>(input.row + row) < static_cast<unsigned>(height);
            loaded.load(zeros, next, opaque_per_thread(valid ? input.columns.mask : 0), input.columns);
            ++row, next += stride;
        };
        wait_for_previous_kernel();
        load();
        if constexpr (along_channels) {
            Weights::stage(params, zeros, filters, shared, thread, block);
            __syncthreads();
        }
        if (!of.exist) return;
        Sum weights[R][S][channels];
        if constexpr (along_channels) Weights::load_staged(params, shared, thread, weights);
        else Weights::load(filters, of.k, weights);
        DepthwisePrologue<Plan, Sum, channels> const prologue(params, of);
        DepthwiseStore<Plan, T, U, fast, columns, channels> epilogue(params, {of.n, of.k, of.p, of.q}, of.channels);

        Sum sums[depth][block_rows][columns][channels] = {};
#pragma unroll 1
        for (int b = 1 - depth; b < blocks; ++b) {
            Sum values[width][channels];
            bool const valid = static_cast<unsigned>(input.row + b) < static_cast<unsigned>(height);
#pragma unroll
            for (int j = 0; j < width; ++j)
#pragma unroll
                for (int c = 0; c < channels; ++c)
                    values[j][c] =
                        prologue.operand(loaded.at(j, c), c, valid && (input.columns.mask >> j & 1) && c < of.channels);
            load();
#pragma unroll
            for (int e = 0; e < depth; ++e) {
                if (b + e >= 0 && b + e < blocks) add(values, weights, e, sums[e]);
            }
#pragma unroll
            for (int u = 0; u < block_rows; ++u) {
                if (b < 0) break;
                int const p = of.p + b * block_rows + u;
                if (p >= 0 && b * block_rows + u < of.rows) epilogue.store(sums[0][u]);
                else epilogue.skip();
            }
#pragma unroll
            for (int e = 0; e < depth; ++e)
#pragma unroll
                for (int u = 0; u < block_rows; ++u)
#pragma unroll
                    for (int j = 0; j < columns; ++j)
#pragma unroll
                        for (int c = 0; c < channels; ++c)
                            sums[e][u][j][c] = e + 1 < depth ? sums[(min)(e + 1, depth - 1)][u][j][c] : 0;
        }
    }

private:
    /// Adds a row of x to the block that is e blocks below the one that the row completes: row u of the block gets the
    /// products with row u + block_rows e of the filter.
    __device__ static void add(Sum const (&values)[width][channels], Sum const (&weights)[R][S][channels], int e,
                               Sum (&sums)[block_rows][columns][channels]) {
#pragma unroll
        for (int u = 0; u < block_rows; ++u) {
            int const r = u + block_rows * e;
            if (r >= R) continue;
#pragma unroll
            for (int j = 0; j < columns; ++j)
#pragma unroll
                for (int s = 0; s < S; ++s) {
                    if (!Window::reads(j, s)) continue;
#pragma unroll
                    for (int c = 0; c < channels; ++c)
                        sums[u][j][c] += values[Window::column(j, s)][c] * weights[r][s][c];
                }
        }
    }
};

}  // namespace fusekit::hip
