// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/async_copy.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/collective/split_k.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_params.hpp"
#include "fusekit/config.hpp"

namespace fusekit::hip {

/// Weight gradient of a depthwise convolution of 16-bit elements, channels-last. A CTA has 32 channels. It copies
/// items, tiles of dy and the pixels of x that their windows read, to SMEM (cp.async) one item ahead, zero-filled out
/// of bounds. A thread has two channels and all taps, or those of one row of the filter; half a warp has one segment of
/// a row of dy at a time: it walks along the segment with a window of x in registers, so that each column costs one
/// SMEM read of dy and one per row of the filter and per stride of x. Sums of an item are added to the thread's totals,
/// which bounds rounding errors. Columns past dy are not multiplied: an infinity in x times a zero is NaN. CTAs add
/// their totals by split-K.
template <class Plan, Element T, detail::OutputElement U>
class DepthwiseHaloWeightGradient {
    static constexpr auto filter =
        Plan::Head::collapsed;  // for constants only: a use in code would load it from memory
    using Shape = DepthwiseHaloGradientShape<filter.size[0], filter.size[1]>;
    using Tiles = DepthwiseHaloGradientTiles;
    static constexpr int R = filter.size[0], S = filter.size[1], stride_h = filter.strides[0],
                         stride_w = filter.strides[1], dilation_h = filter.dilations[0], unit = Tiles::unit,
                         pixel_bytes = Tiles::pixel_bytes, row_groups = Shape::row_groups,
                         thread_rows = Shape::thread_rows, row_warps = R / thread_rows;
    using Pair = Packet<T, 2>;

public:
    static constexpr int threads = Shape::threads, blocks = Shape::blocks;
    using Architecture = arch::Sm80;
    using Params = WeightGradientParams<Plan, T, U>;
    /// rows: taps, then the sum of dy, which is the bias gradient; columns: channels
    using Accumulators = AccumulatorTile<R * S + 1, unit, 1, false, 1>;
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
    /// A thread's sums: taps of its rows of the filter x two channels.
    using Sums = float[thread_rows][S][2];

    /// An item: its first image, row and column of dy.
    struct Item {
        int n, p, q;

        __device__ Item(Tiles const& tiles, unsigned item) {
            unsigned const line = tiles.column_tiles.divide(item), image = tiles.row_tiles.divide(line);
            n = static_cast<int>(image) * tiles.images;
            p = static_cast<int>(line - image * tiles.row_tiles.value()) * tiles.rows;
            q = static_cast<int>(item - line * tiles.column_tiles.value()) * tiles.columns;
        }
    };

    __device__ static void add_items(Params const& params, unsigned char* bytes, unsigned thread, unsigned number,
                                     unsigned split, Sums& totals, float (&bias)[2]) {
        Tiles const& tiles = params.depthwise.halo;
        TensorView<T const> const dy = detail::typed<T>(params.bound.head.dy);
        int const lane = static_cast<int>(thread % 32), warp = static_cast<int>(thread / 32),
                  r = warp % row_warps * thread_rows, slot = warp / row_warps * 2 + lane / 16, channel = lane % 16 * 4,
                  stage_bytes = tiles.stage_bytes(), dy_bytes = tiles.dy_bytes();
        unsigned const step = params.split_k.count();
        bool const has_bias = params.bound.head.bias_gradient.given() && r == 0;
        auto const copy_item = [&](unsigned item, int stage) {
            if (item < tiles.items) {
                Item const at(tiles, item);
                unsigned char* const to = bytes + stage * stage_bytes;
                int const images = (min)(tiles.images, static_cast<int>(dy.layout.shape[0]) - at.n);
                auto const copy_boxes = [&]<int bytes_at_once>(std::integral_constant<int, bytes_at_once>) {
                    copy<bytes_at_once>(dy, tiles.of_dy, to, thread, number, at.n, images, at.p, at.q);
                    copy<bytes_at_once>(params.x, tiles.of_x, to + dy_bytes, thread, number, at.n, images,
                                        at.p * stride_h - filter.pad_before[0], at.q * stride_w - filter.pad_before[1]);
                };
                if (tiles.vector_bytes == 16) copy_boxes(std::integral_constant<int, 16>{});
                else copy_boxes(std::integral_constant<int, 4>{});
            }
            commit_copies();
        };
        copy_item(split, 0);
        int stage = 0;
#pragma unroll 1
        for (unsigned item = split; item < tiles.items; item += step) {
            copy_item(item + step, stage ^ 1);
            wait_for_groups<1>();
            __syncthreads();
            Item const at(tiles, item);
            int const images = (min)(tiles.images, static_cast<int>(dy.layout.shape[0]) - at.n),
                      rows = (min)(tiles.rows, static_cast<int>(dy.layout.shape[2]) - at.p),
                      columns = (min)(tiles.columns, static_cast<int>(dy.layout.shape[3]) - at.q);
            unsigned char const* const of_dy = bytes + stage * stage_bytes;
            Sums sums = {};
            float of_bias[2] = {};
#pragma unroll 1
            for (int i = slot; i < tiles.segments; i += 2 * row_groups) {
                // The two halves of a warp read different rows, whose banks differ.
                int const across = static_cast<int>(tiles.lines.divide(static_cast<unsigned>(i))),
                          line = i - across * static_cast<int>(tiles.lines.value()),
                          image = static_cast<int>(tiles.image_rows.divide(static_cast<unsigned>(line))),
                          row = line - image * tiles.rows, first = across * tiles.segment,
                          count = (min)(tiles.segment, columns - first);
                if (image >= images || row >= rows || count <= 0) continue;
                unsigned char const* const from_dy =
                    of_dy + line * tiles.of_dy.row_bytes + first * pixel_bytes + channel;
                unsigned char const* const from_x =
                    of_dy + dy_bytes +
                    (image * tiles.of_x.rows + row * stride_h + r * dilation_h) * tiles.of_x.row_bytes +
                    first * stride_w * pixel_bytes + channel;
                multiply_row(from_dy, from_x, tiles.of_x.row_bytes * dilation_h, count, sums);
                if (has_bias)
                    for (int j = 0; j < count; ++j)
#pragma unroll
                        for (int c = 0; c < 2; ++c) of_bias[c] += read(from_dy, j).values[c];
            }
#pragma unroll
            for (int c = 0; c < 2; ++c) {
#pragma unroll
                for (int i = 0; i < thread_rows; ++i)
#pragma unroll
                    for (int s = 0; s < S; ++s) totals[i][s][c] += sums[i][s][c];
                bias[c] += of_bias[c];
            }
            stage ^= 1;
            __syncthreads();  // the item has been read
        }
        wait_for_copies();
    }

    /// Issues the copies of a box of pixels, from row `top` and column `left` of image n on, of the CTA's channels, for
    /// `images` images; a thread copies `vector_bytes` bytes of a pixel at once.
    template <int vector_bytes>
    __device__ static void copy(TensorView<T const> const& view, Tiles::Box const& box, unsigned char* to,
                                unsigned thread, unsigned number, int n, int images, int top, int left) {
        constexpr int vectors = pixel_bytes / vector_bytes, pixels_at_once = threads / vectors;
        Layout<4> const& layout = view.layout;
        unsigned const pixel = thread / vectors;
        int const block = static_cast<int>(thread % vectors),
                  c = static_cast<int>(number) * unit + block * (vector_bytes / 2),
                  columns = static_cast<int>(box.columns.value()), height = static_cast<int>(layout.shape[2]),
                  width = static_cast<int>(layout.shape[3]);
        bool const has_channels = c < static_cast<int>(layout.shape[1]);
        int const first_row = static_cast<int>(box.columns.divide(pixel)),
                  first_column = static_cast<int>(pixel) - first_row * columns;
        std::int64_t const row_stride = layout.stride[2], column_stride = layout.stride[3],
                           step = box.step_rows * row_stride + box.step_columns * column_stride,
                           wrap = row_stride - columns * column_stride;
        int const step_bytes = box.step_rows * box.row_bytes + box.step_columns * pixel_bytes,
                  wrap_bytes = box.row_bytes - columns * pixel_bytes;
#pragma unroll 1
        for (int image = 0; image < images; ++image, to += box.rows * box.row_bytes) {
            int row = first_row, column = first_column;
            T const* from = view.data + (n + image) * layout.stride[0] + c + (top + row) * row_stride +
                            (left + column) * column_stride;
            unsigned char* at = to + row * box.row_bytes + column * pixel_bytes + block * vector_bytes;
#pragma unroll 2
            for (int i = static_cast<int>(pixel); i < box.pixels; i += pixels_at_once) {
                bool const valid = has_channels && static_cast<unsigned>(top + row) < static_cast<unsigned>(height) &&
                                   static_cast<unsigned>(left + column) < static_cast<unsigned>(width);
                copy_async<vector_bytes>(at, valid ? from : view.data, valid);
                row += box.step_rows, column += box.step_columns, from += step, at += step_bytes;
                if (column >= columns) column -= columns, ++row, from += wrap, at += wrap_bytes;
            }
        }
    }

    struct Values {
        float values[2];
    };
    __device__ static Values read(unsigned char const* row, int column) {
        Pair const pair = *reinterpret_cast<Pair const*>(row + column * pixel_bytes);
        return {detail::widened(pair.values[0]), detail::widened(pair.values[1])};
    }

    /// Adds the products of `columns` columns of a row of dy and thread_rows rows of x, `row_bytes` bytes apart. Column
    /// i of a row's window is in window[row][i % S].
    __device__ __forceinline__ static void multiply_row(unsigned char const* dy, unsigned char const* x, int row_bytes,
                                                        int columns, Sums& sums) {
        Values window[thread_rows][S];
#pragma unroll
        for (int r = 0; r < thread_rows; ++r)
#pragma unroll
            for (int i = 0; i < S - stride_w; ++i) window[r][i] = read(x + r * row_bytes, i);
        int q = 0;
#pragma unroll 1
        for (; q + S <= columns; q += S, dy += S * pixel_bytes, x += S * stride_w * pixel_bytes)
            multiply_columns<true>(dy, x, row_bytes, S, window, sums);
        if (q < columns) multiply_columns<false>(dy, x, row_bytes, columns - q, window, sums);
    }
    template <bool whole>
    __device__ __forceinline__ static void multiply_columns(unsigned char const* dy, unsigned char const* x,
                                                            int row_bytes, int columns,
                                                            Values (&window)[thread_rows][S], Sums& sums) {
#pragma unroll
        for (int j = 0; j < S; ++j) {
            if (!whole && j >= columns) break;
#pragma unroll
            for (int r = 0; r < thread_rows; ++r)
#pragma unroll
                for (int i = 0; i < stride_w; ++i) {
                    int const column = j * stride_w + S - stride_w + i;
                    window[r][column % S] = read(x + r * row_bytes, column);
                }
            Values const factor = read(dy, j);
#pragma unroll
            for (int r = 0; r < thread_rows; ++r)
#pragma unroll
                for (int s = 0; s < S; ++s)
#pragma unroll
                    for (int c = 0; c < 2; ++c)
                        sums[r][s][c] += window[r][(j * stride_w + s) % S].values[c] * factor.values[c];
        }
    }

    /// Adds the totals of the warps' halves and of the groups of warps, in a fixed order, to `acc`.
    __device__ static void put_totals(Accumulators& acc, unsigned thread, Sums& totals, float (&bias)[2]) {
        int const lane = static_cast<int>(thread % 32), warp = static_cast<int>(thread / 32),
                  r = warp % row_warps * thread_rows;
        auto const add = [&](int row, int c, float value, bool is_first) {
            float& to = acc.rows[row][lane / 2].values[lane % 2 * 2 + c];
            to = is_first ? value : to + value;
        };
#pragma unroll
        for (int c = 0; c < 2; ++c) {
#pragma unroll
            for (int i = 0; i < thread_rows; ++i)
#pragma unroll
                for (int s = 0; s < S; ++s) totals[i][s][c] += of_lane_xor(totals[i][s][c], 16);
            bias[c] += of_lane_xor(bias[c], 16);
        }
#pragma unroll 1
        for (int group = 0; group < row_groups; ++group) {
            if (warp / row_warps == group && lane < 16) {
#pragma unroll
                for (int c = 0; c < 2; ++c) {
#pragma unroll
                    for (int i = 0; i < thread_rows; ++i)
#pragma unroll
                        for (int s = 0; s < S; ++s) add((r + i) * S + s, c, totals[i][s][c], group == 0);
                    if (r == 0) add(R * S, c, bias[c], group == 0);
                }
            }
            __syncthreads();
        }
    }
};

}  // namespace fusekit::hip
