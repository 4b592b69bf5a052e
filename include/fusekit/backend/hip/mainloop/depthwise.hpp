// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/collective/prologue.hpp"
#include "fusekit/backend/hip/copy/depthwise_rows.hpp"
#include "fusekit/backend/hip/copy/depthwise_weights.hpp"
#include "fusekit/backend/hip/epilogue/depthwise_store.hpp"

namespace fusekit::hip {

/// Depthwise convolution (schedule/depthwise.hpp). `fast` is the mode along which y is contiguous. The kernel contains
/// the code of all windows of the plan (WindowsOf); a launch selects one.
template <class Plan, class Schedule, Element T, Element U, detail::Axis fast>
class DepthwiseConv {
    using Prologue = typename Plan::Prologue;
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
        run_selected(Windows{}, params, shared, thread, block);
    }

private:
    template <class... Window>
    __device__ static void run_selected(List<Window...>, Params const& params, Shared& shared, unsigned thread,
                                        unsigned block) {
        if constexpr (sizeof...(Window) == 1) {
            (run_window(Window{}, params, shared, thread, block), ...);
        } else {
            int number = 0;
            static_cast<void>(((number++ == params.depthwise.window &&
                                (run_window(Window{}, reload(params), shared, thread, block), true)) ||
                               ...));
        }
    }

    /// Outputs of one thread: rows p to p + rows - 1 of columns from q on, of `channels` channels from k on.
    struct Outputs {
        int n, k, channels, p, q, rows;
        bool exist;
    };
    template <class Window>
    __device__ static Outputs outputs_of(Params const& params, unsigned id) {
        DepthwiseTiles const& tiles = params.depthwise;
        Index<4> const& y = params.y.layout.shape;
        unsigned const a = tiles.inner.divide(id), b = tiles.middle.divide(a), n = tiles.outer.divide(b);
        int const inner = static_cast<int>(id - a * tiles.inner.value()),
                  middle = static_cast<int>(a - b * tiles.middle.value()),
                  outer = static_cast<int>(b - n * tiles.outer.value());
        int const channel = along_channels ? inner : outer, column = along_channels ? middle : inner,
                  row = along_channels ? outer : middle;
        int const k = channel * Shape<Window>::channels, p = row * tiles.rows;
        return {static_cast<int>(n),
                k,
                (min)(static_cast<int>(y[1]) - k, Shape<Window>::channels),
                p,
                column * Shape<Window>::columns,
                (min)(static_cast<int>(y[2]) - p, tiles.rows),
                id < tiles.items};
    }

    /// Address of channel c of x, of the first row and column that the thread's windows read, and these columns.
    struct Input {
        T const* data;
        int row, column;
        RowColumns columns;
    };
    template <int width, class Conv>
    __device__ static Input input_of(Params const& params, Conv const& conv, Outputs const& of) {
        Layout<4> const& x = params.x.layout;
        int const multiplier = params.depthwise.multiplier, c = of.k / multiplier;
        int const row = of.p * conv.filter.strides[0] - conv.filter.pad_before[0],
                  column = of.q * conv.filter.strides[1] - conv.filter.pad_before[1];
        std::int64_t const next = (of.k + 1) / multiplier - c;
        return {params.x.data + of.n * x.stride[0] + c * x.stride[1] + row * x.stride[2] + column * x.stride[3],
                row,
                column,
                {RowColumns::mask_of<width>(column, static_cast<int>(x.shape[3])), static_cast<int>(x.stride[3]),
                 of.channels, next * x.stride[1], params.depthwise.x_vector}};
    }

    /// Prepared prologue of the thread's channels of x.
    template <int channels>
    struct PrologueOf {
        typename Prologue::template State<float> states[channels];
        typename Prologue::Args const& args;

        __device__ PrologueOf(Params const& params, Outputs const& of) : args(params.bound.prologue) {
#pragma unroll
            for (int c = 0; c < channels; ++c)
                states[c] = Prologue::prepare(
                    std::int64_t{(of.k + (c < of.channels ? c : 0)) / params.depthwise.multiplier}, args);
        }
        /// Operand of an element of x; zero in padding, which the prologue does not change.
        __device__ Sum operand(T value, int channel, bool valid) const {
            if constexpr (Prologue::size == 0) return detail::widened(value);
            else
                return valid && channel >= 0 ? detail::widened(before_conv<Prologue>(value, states[channel], args))
                                             : Sum(0);
        }
    };

    /// A thread slides down its columns of x. `sums` has the sums of the window that the next rows of x complete, and
    /// of the windows below it that these rows are part of. The loads of the next rows are in flight meanwhile.
    template <int R, int S, int StrideH, int StrideW>
    __device__ static void run_window(UnrolledWindow<R, S, StrideH, StrideW>, Params const& params, Shared& shared,
                                      unsigned thread, unsigned block) {
        using Window = UnrolledWindow<R, S, StrideH, StrideW>;
        constexpr int channels = Shape<Window>::channels, columns = Shape<Window>::columns, depth = Window::depth,
                      width = (columns - 1) * StrideW + S, left = (S - 1) / 2, center = columns * StrideW;
        using Row =
            std::conditional_t<along_channels, ChannelRow<T, width, channels>, PixelRow<T, width, left, center>>;
        using Weights = DepthwiseWeights<Window, channels, Weight, Sum>;
        auto const conv = params.problem();
        DepthwiseTiles const& tiles = params.depthwise;
        Outputs const of = outputs_of<Window>(params, block * static_cast<unsigned>(tiles.threads) + thread);
        Input const input = input_of<width>(params, conv, of);
        int const height = static_cast<int>(params.x.layout.shape[2]);
        std::int64_t const stride = params.x.layout.stride[2];

        // Step p of the loop reads rows p StrideH + R - StrideH and following, from the window's first row on.
        int row = R - StrideH * depth;
        T const* next = input.data + row * stride;
        Zeros zeros;
        zeros.keep();
        // no row from `end` on is part of a window; threads without outputs load none
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
            Weights::stage(params, zeros, conv.w, shared.weights, thread, block);
            __syncthreads();
        }
        if (!of.exist) return;
        Sum weights[R][S][channels];
        if constexpr (along_channels) Weights::load_staged(params, shared.weights, thread, weights);
        else Weights::load(conv.w, of.k, weights);
        PrologueOf<channels> const prologue(params, of);
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
                    if (r < 0 || p + i < 0 || p + i >= of.rows) continue;
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

    /// Windows of any size, strides and dilations: a thread loads each weight once for Shape::rows rows of y, and the
    /// elements of x that the weight multiplies.
    __device__ static void run_window(AnyWindow, Params const& params, Shared&, unsigned thread, unsigned block) {
        constexpr int channels = Shape<AnyWindow>::channels, columns = Shape<AnyWindow>::columns,
                      rows = Shape<AnyWindow>::rows;
        auto const conv = params.problem();
        DepthwiseTiles const& tiles = params.depthwise;
        Outputs const of = outputs_of<AnyWindow>(params, block * static_cast<unsigned>(tiles.threads) + thread);
        if (!of.exist) return;
        Input const input = input_of<1>(params, conv, of);
        auto const& filter = conv.filter;
        Layout<4> const &x = params.x.layout, &w = conv.w.layout;
        Weight const* const filters = conv.w.data + of.k * w.stride[0];
        PrologueOf<channels> const prologue(params, of);
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
