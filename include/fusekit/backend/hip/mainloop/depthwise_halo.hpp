// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/copy/depthwise_halo.hpp"
#include "fusekit/backend/hip/copy/depthwise_rows.hpp"
#include "fusekit/backend/hip/copy/depthwise_weights.hpp"
#include "fusekit/backend/hip/epilogue/depthwise_store.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// Depthwise convolution of NHWC tensors of 16-bit elements on NVIDIA's GPUs (schedule/depthwise.hpp). cp.async fills a
/// ring of rows of x, with zeros in padding, two steps ahead; in a step, a thread computes the outputs of a
/// DepthwiseHaloShape in multiply-adds of float, without tests of bounds. The kernel contains the code of all
/// DepthwiseHaloWindows of the plan; a launch selects one.
template <class Plan, class Schedule, Element T, Element U>
class DepthwiseHaloConv {
    using Head = typename Plan::Head;
    using Weight = typename Head::template WeightElement<T>;
    using Tiles = DepthwiseHaloTiles;
    template <class Window>
    using Shape = DepthwiseHaloShape<Window>;
    using Windows = WindowsOf<Head, static_cast<int>(sizeof(T))>;

public:
    static constexpr int threads = Tiles::max_threads, blocks = 512 / threads;
    using Architecture = arch::Sm80;
    using Params = ConvParams<Plan, T, U>;
    /// The weights, and then the halo. A launch requests only the bytes of its tile.
    struct DynamicShared {
        alignas(16) unsigned char bytes[Tiles::max_shared_bytes];
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        with_window(Windows{}, params.depthwise.window, [&]<class Window>(Window) {
            if constexpr (Shape<Window>::fits) compute<Window>(reload(params), shared, thread, block);
        });
    }

private:
    template <class Window>
    __device__ static void compute(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        constexpr int channels = Shape<Window>::channels, columns = Shape<Window>::columns, rows = Shape<Window>::rows,
                      lanes = Tiles::planes / channels, stride = Window::stride_h;
        using Weights = DepthwiseHaloWeights<Window, Weight, detail::is_transposed<typename Params::Geometry>>;
        bool const dense = params.depthwise.dense_weights;
        using Load = DepthwiseHaloLoad<T>;
        Tiles const& tiles = params.depthwise_halo;
        auto const conv = params.problem();
        Filter<2> const window = detail::window_filter(conv.filter);
        auto const coord = DepthwiseHaloCoord::template of<Shape<Window>>(tiles, block);
        Index<4> const& y = params.y.layout.shape;
        auto& weights_of = *reinterpret_cast<Weights*>(shared.bytes);
        unsigned char* const halo = shared.bytes + sizeof(Weights);
        int const last = (min)(coord.p + tiles.rows, static_cast<int>(y[2])), count = last - coord.p,
                  step_rows = tiles.step_rows * stride, pitch = Load::row_bytes(tiles);

        Load load(tiles, params.x, coord.plane, coord.p * stride - window.pad_before[0],
                  coord.q * Window::stride_w - window.pad_before[1], (count - 1) * stride + Window::rows, halo, thread);
        weights_of.stage(tiles, dense, depthwise_filters(conv), coord.plane, thread);
        load.copy_rows(tiles, params.x.layout, step_rows + Window::rows - stride);
#pragma unroll
        for (int i = 2; i < Tiles::stages; ++i) load.copy_rows(tiles, params.x.layout, step_rows);

        unsigned const lane = thread % lanes, group = thread / lanes, row_group = tiles.column_groups.divide(group),
                       column_group = group - row_group * tiles.column_groups.value(),
                       plane = coord.plane + lane * channels, n = tiles.channels.divide(plane);
        int const k = static_cast<int>(plane - n * tiles.channels.value()),
                  q = coord.q + static_cast<int>(column_group) * columns,
                  first = coord.p + static_cast<int>(row_group) * rows;
        bool const exists =
            n < static_cast<unsigned>(y[0]) && q < y[3] && row_group < static_cast<unsigned>(tiles.row_groups);
        wait_for_groups<Tiles::stages - 2>();
        __syncthreads();
        float weights[Window::rows][Window::columns][channels];
        weights_of.load(dense, static_cast<int>(lane) * channels, weights);
        DepthwiseStore<Plan, T, U, detail::Axis::channel, columns, channels, true> epilogue(
            params, {exists ? static_cast<int>(n) : 0, exists ? k : 0, first, q}, channels);

        int const column = static_cast<int>(column_group) * columns * Window::stride_w;
        unsigned char const* const from =
            halo + (column * Tiles::planes + static_cast<int>(lane) * channels) * static_cast<int>(sizeof(T));
        int const ring_bytes = tiles.ring_rows * pitch, step_bytes = step_rows * pitch;
        int offset = static_cast<int>(row_group) * rows * stride * pitch;
#pragma unroll 1
        for (int p = 0; p < count; p += tiles.step_rows) {
            wait_for_groups<Tiles::stages - 2>();
            __syncthreads();
            load.copy_rows(tiles, params.x.layout, step_rows);
            int const rows_left = last - first - p;
            if (exists && rows_left > 0) step(weights, epilogue, from, offset, pitch, ring_bytes, rows_left, Window{});
            epilogue.skip(tiles.step_rows - rows);
            offset += step_bytes;
            if (offset >= ring_bytes) offset -= ring_bytes;
        }
        wait_for_groups<0>();
    }

    /// Computes and stores the outputs of a step. The thread's first row of x is `offset` bytes from `from`.
    template <int R, int S, int StrideH, int StrideW, int channels, class Store>
    __device__ static void step(float const (&weights)[R][S][channels], Store& epilogue, unsigned char const* from,
                                int offset, int pitch, int ring_bytes, int rows_left,
                                UnrolledWindow<R, S, StrideH, StrideW>) {
        using Of = Shape<UnrolledWindow<R, S, StrideH, StrideW>>;
        using Vector = Packet<T, channels>;
        using Registers = detail::RegistersFor<T, channels>;
        constexpr int columns = Of::columns, rows = Of::rows, width = Of::width,
                      pixel_bytes = Tiles::planes * static_cast<int>(sizeof(T)), buffers = Of::prefetches ? 2 : 1;
        Registers loaded[buffers][width];
        auto const load_row = [&](int i, Registers(&to)[width]) {
            unsigned const at = static_cast<unsigned>(offset + i * pitch),
                           wrapped = at - static_cast<unsigned>(ring_bytes);
            unsigned char const* const row = from + (at < wrapped ? at : wrapped);
#pragma unroll
            for (int j = 0; j < width; ++j) to[j] = *reinterpret_cast<Registers const*>(row + j * pixel_bytes);
        };
        float sums[rows][columns][channels] = {};
        if constexpr (Of::prefetches) load_row(0, loaded[0]);
#pragma unroll
        for (int i = 0; i < Of::height; ++i) {
            if constexpr (Of::prefetches) {
                if (i + 1 < Of::height) load_row(i + 1, loaded[(i + 1) % buffers]);
            } else {
                load_row(i, loaded[0]);
            }
            float values[width][channels];
#pragma unroll
            for (int j = 0; j < width; ++j) {
                auto const pixel = config::bit_cast<Vector>(loaded[i % buffers][j]);
#pragma unroll
                for (int c = 0; c < channels; ++c) values[j][c] = detail::widened(pixel.values[c]);
            }
#pragma unroll
            for (int o = 0; o < rows; ++o) {
                int const r = i - o * StrideH;
                if (r < 0 || r >= R) continue;
#pragma unroll
                for (int s = 0; s < S; ++s)
#pragma unroll
                    for (int j = 0; j < columns; ++j)
#pragma unroll
                        for (int c = 0; c < channels; ++c)
                            sums[o][j][c] += values[j * StrideW + s][c] * weights[r][s][c];
            }
            if (i >= R - 1 && (i - R + 1) % StrideH == 0) {
                constexpr int most = rows - 1;
                int const o = (i - R + 1) / StrideH;
                epilogue.store(sums[o < most ? o : most], o < rows_left);
            }
        }
    }
};

}  // namespace fusekit::hip
