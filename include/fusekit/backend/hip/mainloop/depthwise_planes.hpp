// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/collective/depthwise_slide.hpp"
#include "fusekit/backend/hip/collective/depthwise_thread.hpp"
#include "fusekit/backend/hip/copy/depthwise_planes.hpp"
#include "fusekit/backend/hip/copy/depthwise_weights.hpp"
#include "fusekit/backend/hip/epilogue/depthwise_store.hpp"

namespace fusekit::hip {

/// Depthwise convolution of NCHW tensors whose planes are dense (schedule/depthwise.hpp). A CTA's part of x, and its
/// part of y, are consecutive elements: cp.async copies x to SMEM in packets of 16 bytes, also where rows of pixels are
/// shorter or misaligned; threads compute from SMEM, and store y to SMEM, from which it is copied in packets. The
/// kernel contains the code of the plan's filter types with few taps, or with more (is_unrolled); a launch selects one.
template <class Plan, class Schedule, Element T, Element U, bool few_taps>
class DepthwisePlanesConv {
    using Head = typename Plan::Head;
    using Weight = typename Head::template WeightElement<T>;
    using Sum = detail::AccumulatorOf<T>;
    using Tiles = DepthwisePlaneTiles;
    using Windows = WindowsOf<Head, static_cast<int>(sizeof(T))>;

public:
    static constexpr int threads = Tiles::max_threads, blocks = Tiles::resident_threads(few_taps) / threads;
    static constexpr bool waits_for_previous_kernel = true;
    using Architecture = arch::Sm80;
    using Params = ConvParams<Plan, T, U>;
    /// The CTA's parts of x and of y. A launch requests only the bytes of its tile.
    struct DynamicShared {
        alignas(16) unsigned char bytes[Tiles::max_shared_bytes];
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        with_window(Windows{}, params.depthwise.window, [&]<class Window>(Window window) {
            if constexpr (is_unrolled<Window, few_taps>) compute(window, reload(params), shared.bytes, thread, block);
        });
    }

private:
    template <int R, int S, int StrideH, int StrideW>
    __device__ static void compute(UnrolledWindow<R, S, StrideH, StrideW>, Params const& params, unsigned char* shared,
                                   unsigned thread, unsigned block) {
        using Window = UnrolledWindow<R, S, StrideH, StrideW>;
        using Shape = DepthwiseShape<Window, static_cast<int>(sizeof(T)), detail::Axis::pixel>;
        constexpr int columns = Shape::columns, width = (columns - 1) * StrideW + S, left = (S - 1) / 2;
        using Row = PixelRow<T, width, left, columns * StrideW>;
        using Weights = DepthwiseWeights<Window, 1, Weight, Sum, detail::is_transposed<typename Params::Geometry>>;
        Tiles const& tiles = params.depthwise_planes;
        auto const conv = params.problem();
        Filter<2> const filter = detail::window_filter(conv.filter);
        Layout<4> const &x = params.x.layout, &y = params.y.layout;
        int const height = static_cast<int>(x.shape[2]), pitch = static_cast<int>(x.shape[3]),
                  y_height = static_cast<int>(y.shape[2]), y_width = static_cast<int>(y.shape[3]),
                  multiplier = params.depthwise.multiplier;

        unsigned const in_bands = tiles.bands.divide(block), n = tiles.plane_blocks.divide(in_bands);
        int const band = static_cast<int>(block - in_bands * tiles.bands.value()),
                  first = static_cast<int>(in_bands - n * tiles.plane_blocks.value()) * tiles.planes,
                  planes = (min)(tiles.planes, static_cast<int>(y.shape[1]) - first), p = band * tiles.rows,
                  count = (min)(tiles.rows, y_height - p);
        // the CTA's part of x: rows `top` to `bottom` - 1 of one channel, or all rows of several
        int const first_channel = first / multiplier, channels = (first + planes - 1) / multiplier - first_channel + 1,
                  start = p * StrideH - filter.pad_before[0], end = start + (count - 1) * StrideH + R;
        bool const whole = channels > 1;
        int const top = whole ? 0 : (min)((max)(start, 0), height),
                  bottom = whole ? height : (max)((min)(end, height), top);
        PacketCopy<T const> const part(
            params.x.data + n * x.stride[0] + first_channel * x.stride[1] + top * std::int64_t{pitch},
            ((channels - 1) * height + bottom - top) * pitch);
        wait_for_previous_kernel();
        part.load(shared, thread, tiles.threads);
        commit_copies();
        if constexpr (few_taps) start_next_kernel();

        unsigned const a = tiles.column_groups.divide(thread), plane = tiles.row_groups.divide(a);
        int const q = static_cast<int>(thread - a * tiles.column_groups.value()) * columns,
                  row_of_band = static_cast<int>(a - plane * tiles.row_groups.value()) * tiles.thread_rows;
        bool const exists = static_cast<int>(plane) < planes && row_of_band < count;
        int const k = exists ? first + static_cast<int>(plane) : first,
                  rows = (min)(tiles.thread_rows, count - row_of_band);
        DepthwiseOutputs const of{static_cast<int>(n), k, 1, p + row_of_band, q, rows, exists};
        Sum weights[R][S][1];
        Weights::load(depthwise_filters(conv), k, weights);
        DepthwisePrologue<Plan, Sum, 1> const prologue(params, of);
        unsigned char* const shared_y = shared + tiles.y_offset;
        PacketCopy<U> const results(params.y.data + n * y.stride[0] + first * y.stride[1] + p * std::int64_t{y_width},
                                    ((planes - 1) * y_height + count) * y_width);
        DepthwiseStore<Plan, T, U, detail::Axis::pixel, columns, 1> epilogue(
            params, {of.n, of.k, of.p, of.q}, 1,
            results.in_shared(shared_y) + ((k - first) * y_height + row_of_band) * y_width + q);

        int const row_of_x = of.p * StrideH - filter.pad_before[0], column = q * StrideW - filter.pad_before[1];
        RowColumns const pixels{RowColumns::mask_of<width>(column, pitch), 1, 1, 0, params.depthwise.x_vector};
        int row = R - StrideH * Window::depth;
        int const stop = exists ? (rows - 1) * StrideH + R : 0;
        T const* next = part.in_shared(shared) +
                        ((k / multiplier - first_channel) * height + row_of_x + row - top) * pitch + column;
        Row loaded[StrideH];
        auto const is_valid = [&](int at) {
            return at >= 0 && at < stop && static_cast<unsigned>(row_of_x + at) < static_cast<unsigned>(height);
        };
        auto const load = [&](int u) {
            loaded[u].load(SharedLoads{}, next, is_valid(row) ? pixels.mask : 0, pixels);
            ++row, next += pitch;
        };
        wait_for_groups<0>();
        __syncthreads();
        if (exists) {
#pragma unroll
            for (int u = 0; u < StrideH; ++u) load(u);
            auto const operand = [&](Row const& from, int j, int c) {
                return prologue.operand(from.at(j, c), c, is_valid(row - StrideH) && (pixels.mask >> j & 1));
            };
            slide_window<Window, columns, 1>(rows, weights, loaded, load, operand,
                                             [&](auto const& sums) { epilogue.store(sums); });
        }
        __syncthreads();
        results.store(shared_y, thread, tiles.threads);
    }
};

}  // namespace fusekit::hip
