// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/collective/depthwise_thread.hpp"
#include "fusekit/backend/hip/copy/depthwise_rows.hpp"
#include "fusekit/backend/hip/copy/depthwise_weights.hpp"
#include "fusekit/backend/hip/epilogue/depthwise_store.hpp"
#include "fusekit/backend/hip/mainloop/depthwise_spread.hpp"

namespace fusekit::hip {

/// Depthwise convolution (schedule/depthwise.hpp). `fast` is the mode along which y is contiguous. The kernel contains
/// the code of all windows of the plan (WindowsOf); a launch selects one.
template <class Plan, class Schedule, Element T, Element U, detail::Axis fast>
class DepthwiseConv {
    using Head = typename Plan::Head;
    using Weight = typename Head::template WeightElement<T>;
    using Sum = detail::AccumulatorOf<T>;
    using Windows = WindowsOf<Head, static_cast<int>(sizeof(T))>;
    static constexpr bool along_channels = fast == detail::Axis::channel;
    template <class Window>
    using Shape = DepthwiseShape<Window, static_cast<int>(sizeof(T)), fast>;

    template <class... Window>
    static constexpr int most_weights(List<Window...>) {
        int most = 1;
        ((most = (max)(most, along_channels ? Window::taps * Shape<Window>::channels : 0)), ...);
        return most;
    }

public:
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    using Params = ConvParams<Plan, T, U>;
    /// Weights of the CTA's channels, [group of channels][channel][tap]: consecutive threads load consecutive weights.
    struct Shared {
        alignas(16) unsigned char weights[along_channels ? threads * most_weights(Windows{}) * sizeof(Weight) : 1];
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        with_window(Windows{}, params.depthwise.window, [&](auto window) {
            if constexpr (Windows::size == 1) run_window(window, params, shared, thread, block);
            else run_window(window, reload(params), shared, thread, block);
        });
    }

private:
    template <class Window>
    __device__ static DepthwiseOutputs outputs_of(Params const& params, unsigned thread, unsigned block) {
        DepthwiseTiles const& tiles = params.depthwise;
        return DepthwiseOutputs::of<Shape<Window>>(tiles, params.y.layout.shape,
                                                   block * static_cast<unsigned>(tiles.threads) + thread);
    }
    template <int width>
    __device__ static DepthwiseInput<T> input_of(Params const& params, Filter<2> const& filter,
                                                 DepthwiseOutputs const& of) {
        return DepthwiseInput<T>::template of<width>(params.x, params.depthwise, of,
                                                     of.p * filter.strides[0] - filter.pad_before[0],
                                                     of.q * filter.strides[1] - filter.pad_before[1]);
    }

    /// Sliding window: a thread walks down its columns of x and loads each row once. `sums` has the accumulators of the
    /// `depth` rows of y whose windows contain the current rows of x; sums[0] is completed and stored first. The next
    /// rows' loads are in flight during the FMAs.
    template <int R, int S, int StrideH, int StrideW>
    __device__ static void run_window(UnrolledWindow<R, S, StrideH, StrideW>, Params const& params, Shared& shared,
                                      unsigned thread, unsigned block) {
        using Window = UnrolledWindow<R, S, StrideH, StrideW>;
        constexpr int channels = Shape<Window>::channels, columns = Shape<Window>::columns, depth = Window::depth,
                      width = (columns - 1) * StrideW + S, left = (S - 1) / 2, center = columns * StrideW;
        using Row =
            std::conditional_t<along_channels, ChannelRow<T, width, channels>, PixelRow<T, width, left, center>>;
        using Weights =
            DepthwiseWeights<Window, channels, Weight, Sum, detail::is_transposed<typename Params::Geometry>>;
        // If false, the few windows above and below the thread's rows are computed, too, and not stored: without the
        // branches, an accumulator moves to its next register by its first FMA instead of a MOV.
        constexpr bool leaves_out = depth > 3;
        auto const conv = params.problem();
        auto const filters = depthwise_filters(conv);
        DepthwiseOutputs const of = outputs_of<Window>(params, thread, block);
        DepthwiseInput<T> const input = input_of<width>(params, detail::window_filter(conv.filter), of);
        int const height = static_cast<int>(params.x.layout.shape[2]);
        std::int64_t const stride = params.x.layout.stride[2];

        // Step p of the loop reads StrideH rows of x, from row p StrideH + R - StrideH of the first window on.
        int row = R - StrideH * depth;
        T const* next = input.data + row * stride;
        Zeros zeros;
        zeros.keep();
        // rows from `end` on are in none of the thread's windows; a thread without outputs loads no rows
        int const end = of.exist ? (of.rows - 1) * StrideH + R : -StrideH;
        Row loaded[StrideH];
        auto const load = [&](int u) {
            bool const valid = row < end && static_cast<unsigned>(input.row + row) < static_cast<unsigned>(height);
            loaded[u].load(zeros, next, opaque_per_thread(valid ? input.columns.mask : 0), input.columns);
            ++row, next += stride;
        };
#pragma unroll
        for (int u = 0; u < StrideH; ++u) load(u);
        if constexpr (along_channels) {
            Weights::stage(params, zeros, filters, shared.weights, thread, block);
            __syncthreads();
        }
        if (!of.exist) return;
        Sum weights[R][S][channels];
        if constexpr (along_channels) Weights::load_staged(params, shared.weights, thread, weights);
        else Weights::load(filters, of.k, weights);
        DepthwisePrologue<Plan, Sum, channels> const prologue(params, of);
        DepthwiseStore<Plan, T, U, fast, columns, channels> epilogue(params, {of.n, of.k, of.p, of.q}, of.channels);

        Sum sums[depth][columns][channels] = {};
#pragma unroll 1
        for (int p = 1 - depth; p < of.rows; ++p) {
#pragma unroll
            for (int u = 0; u < StrideH; ++u) {
                Sum values[width][channels];
                bool const valid = static_cast<unsigned>(input.row + row - StrideH) < static_cast<unsigned>(height);
#pragma unroll
                for (int j = 0; j < width; ++j)
#pragma unroll
                    for (int c = 0; c < channels; ++c)
                        values[j][c] = prologue.operand(loaded[u].at(j, c), c,
                                                        valid && (input.columns.mask >> j & 1) && c < of.channels);
                load(u);
#pragma unroll
                for (int i = 0; i < depth; ++i) {
                    constexpr int last = R - StrideH;
                    int const r = last - StrideH * i + u;
                    if (r < 0 || (leaves_out && (p + i < 0 || p + i >= of.rows))) continue;
#pragma unroll
                    for (int s = 0; s < S; ++s)
#pragma unroll
                        for (int j = 0; j < columns; ++j)
#pragma unroll
                            for (int c = 0; c < channels; ++c)
                                sums[i][j][c] += values[j * StrideW + s][c] * weights[r][s][c];
                }
            }
            if (p >= 0) epilogue.store(sums[0]);
#pragma unroll
            for (int i = 0; i < depth; ++i)
#pragma unroll
                for (int j = 0; j < columns; ++j)
#pragma unroll
                    for (int c = 0; c < channels; ++c)
                        sums[i][j][c] = i + 1 < depth ? sums[(min)(i + 1, depth - 1)][j][c] : 0;
        }
    }

    template <int R, int S, int StrideH, int StrideW, int Left>
    __device__ static void run_window(SpreadWindow<R, S, StrideH, StrideW, Left>, Params const& params, Shared& shared,
                                      unsigned thread, unsigned block) {
        using Window = SpreadWindow<R, S, StrideH, StrideW, Left>;
        DepthwiseSpread<Plan, Window, T, U, fast>::run(params, shared.weights, thread, block);
    }

    /// Windows of any size, strides and dilations: a thread loads each weight once for Shape::rows rows of y, and the
    /// elements of x that the weight multiplies.
    __device__ static void run_window(AnyWindow, Params const& params, Shared&, unsigned thread, unsigned block) {
        constexpr int channels = Shape<AnyWindow>::channels, columns = Shape<AnyWindow>::columns,
                      rows = Shape<AnyWindow>::rows;
        auto const conv = params.problem();
        DepthwiseOutputs const of = outputs_of<AnyWindow>(params, thread, block);
        if (!of.exist) return;
        Filter<2> const filter = detail::window_filter(conv.filter);
        DepthwiseInput<T> const input = input_of<1>(params, filter, of);
        TensorView<Weight const> const all = depthwise_filters(conv);
        Layout<4> const &x = params.x.layout, &w = all.layout;
        Weight const* const filters = all.data + of.k * w.stride[0];
        DepthwisePrologue<Plan, Sum, channels> const prologue(params, of);
        DepthwiseStore<Plan, T, U, fast, columns, channels> epilogue(params, {of.n, of.k, of.p, of.q}, of.channels);
        Zeros zeros;
        zeros.keep();
        RowColumns pixel = input.columns;
        if (!along_channels) pixel.vector = 1;
#pragma unroll 1
        for (int p = 0; p < of.rows; p += rows) {
            Sum sums[rows][columns][channels] = {};
#pragma unroll 1
            for (int r = 0; r < filter.size[0]; ++r)
#pragma unroll 1
                for (int s = 0; s < filter.size[1]; ++s) {
                    Sum weights[channels];
#pragma unroll
                    for (int c = 0; c < channels; ++c)
                        weights[c] = detail::widened_to<Sum>(
                            filters[(c < of.channels ? c : 0) * w.stride[0] + r * w.stride[2] + s * w.stride[3]]);
                    ChannelRow<T, 1, channels> loaded[rows][columns];
#pragma unroll
                    for (int i = 0; i < rows; ++i) {
                        int const row = (p + i) * filter.strides[0] + r * filter.dilations[0];
                        bool const valid = p + i < of.rows &&
                                           static_cast<unsigned>(input.row + row) < static_cast<unsigned>(x.shape[2]);
#pragma unroll
                        for (int j = 0; j < columns; ++j) {
                            int const column = j * filter.strides[1] + s * filter.dilations[1];
                            pixel.mask =
                                valid ? RowColumns::mask_of<1>(input.column + column, static_cast<int>(x.shape[3])) : 0;
                            loaded[i][j].load(zeros, input.data + row * x.stride[2] + column * x.stride[3], pixel.mask,
                                              pixel);
#pragma unroll
                            for (int c = 0; c < channels; ++c)
                                sums[i][j][c] += weights[c] * prologue.operand(loaded[i][j].at(0, c), c,
                                                                               pixel.mask != 0 && c < of.channels);
                        }
                    }
                }
#pragma unroll
            for (int i = 0; i < rows; ++i) {
                if (p + i < of.rows) epilogue.store(sums[i]);
            }
        }
    }
};

}  // namespace fusekit::hip
