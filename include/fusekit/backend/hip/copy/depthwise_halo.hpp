// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/async_copy.hpp"
#include "fusekit/backend/hip/depthwise_halo_tiles.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// Tile of a CTA of a DepthwiseHalo kernel: planes from `plane` on, and rows and columns of y from (p, q) on.
struct DepthwiseHaloCoord {
    unsigned plane;
    int p, q;

    template <class Shape>
    __device__ static DepthwiseHaloCoord of(DepthwiseHaloTiles const& tiles, unsigned block) {
        unsigned const a = tiles.plane_blocks.divide(block), b = tiles.tiles_across.divide(a);
        return {(block - a * tiles.plane_blocks.value()) * DepthwiseHaloTiles::planes, static_cast<int>(b) * tiles.rows,
                static_cast<int>((a - b * tiles.tiles_across.value()) * tiles.column_groups.value()) * Shape::columns};
    }
};

/// Copies rows of x to the ring of a CTA in SMEM, [row][column % StrideW][column / StrideW][plane], asynchronously.
/// Padding is zeros.
template <Element T, int StrideW>
class DepthwiseHaloLoad {
    static constexpr int planes = DepthwiseHaloTiles::planes, bytes = static_cast<int>(sizeof(T)),
                         pixel_bytes = planes * bytes;

public:
    /// The ring begins at `to`; its first row and column are (top, left) of x, and it has the rows before `the_end`.
    __device__ DepthwiseHaloLoad(DepthwiseHaloTiles const& tiles, TensorView<T const> const& x, unsigned first_plane,
                                 int the_top, int the_left, int the_end, unsigned char* to, unsigned thread)
        : top(the_top), left(the_left), end(the_end) {
        Layout<4> const& layout = x.layout;
        unsigned const packets = static_cast<unsigned>(planes / tiles.vector), packet = thread & (packets - 1),
                       plane = first_plane + packet * static_cast<unsigned>(tiles.vector),
                       n = tiles.channels.divide(plane);
        column = static_cast<int>(thread / packets), step = tiles.threads / static_cast<int>(packets);
        exists = n < static_cast<unsigned>(layout.shape[0]);
        from = x.data + n * layout.stride[0] + (plane - n * tiles.channels.value()) + top * layout.stride[2] +
               left * layout.stride[3];
        ring = to + packet * static_cast<unsigned>(tiles.vector * bytes);
    }
    /// Number of pixels of a row of the ring whose columns are equal modulo StrideW.
    __device__ static int part(DepthwiseHaloTiles const& tiles) { return (tiles.halo_columns + StrideW - 1) / StrideW; }
    __device__ static int row_bytes(DepthwiseHaloTiles const& tiles) { return part(tiles) * StrideW * pixel_bytes; }

    /// Issues the copies of the next `count` rows, and makes them a group.
    __device__ void copy_rows(DepthwiseHaloTiles const& tiles, Layout<4> const& x, int count) {
        if (tiles.vector * bytes == 16) copy<16>(tiles, x, count);
        else if (tiles.vector * bytes == 8) copy<8>(tiles, x, count);
        else copy<4>(tiles, x, count);
        commit_copies();
    }

private:
    T const* from;
    unsigned char* ring;
    int top, left, end, column, step;
    int row = 0, slot = 0;  ///< of the next copy
    bool exists;

    template <int vector_bytes>
    __device__ void copy(DepthwiseHaloTiles const& tiles, Layout<4> const& x, int count) {
        int const height = static_cast<int>(x.shape[2]), width = static_cast<int>(x.shape[3]), part = this->part(tiles),
                  pitch = row_bytes(tiles), stop = (min)(row + count, end);
#pragma unroll 1
        for (int i = column; i < tiles.halo_columns; i += step) {
            bool const valid = exists && static_cast<unsigned>(left + i) < static_cast<unsigned>(width);
            T const* source = from + std::int64_t{row} * x.stride[2] + i * x.stride[3];
            unsigned char* const first = ring + (i % StrideW * part + i / StrideW) * pixel_bytes;
            unsigned char* to = first + slot * pitch;
            int until_end = tiles.ring_rows - slot;
#pragma unroll 1
            for (int h = top + row; h < top + stop; ++h) {
                copy_async<vector_bytes>(to, source, valid && static_cast<unsigned>(h) < static_cast<unsigned>(height));
                source += x.stride[2], to += pitch;
                if (--until_end == 0) to = first;
            }
        }
        slot += (max)(stop - row, 0);
        if (slot >= tiles.ring_rows) slot -= tiles.ring_rows;
        row = (max)(stop, row);
    }
};

/// Weights of a CTA's planes in SMEM, as floats: [tap][plane].
template <class Window>
struct DepthwiseHaloWeights {
    static constexpr int planes = DepthwiseHaloTiles::planes, taps = Window::taps,
                         pitch = planes + 2;  ///< so that stores of consecutive taps have different banks

    alignas(16) float values[taps * pitch];

    /// All threads of the CTA call it.
    template <Element Weight>
    __device__ void stage(DepthwiseHaloTiles const& tiles, Zeros const& zeros, TensorView<Weight const> const& w,
                          unsigned first_plane, unsigned thread) {
        constexpr int all = taps * planes, batch = (min)((all + 127) / 128, 7);  // loads in flight at once
        Index<4> const& stride = w.layout.stride;
#pragma unroll 1
        for (int start = static_cast<int>(thread); start < all; start += batch * tiles.threads) {
            Packet<Weight, 1> loaded[batch];
#pragma unroll
            for (int b = 0; b < batch; ++b) {
                int const i = start + b * tiles.threads, tap = i % taps;
                unsigned const k = tiles.channels.remainder(first_plane + static_cast<unsigned>(i / taps));
                loaded[b] = zeros.load_if(i < all, reinterpret_cast<Packet<Weight, 1> const*>(
                                                       w.data + k * stride[0] + tap / Window::columns * stride[2] +
                                                       tap % Window::columns * stride[3]));
            }
#pragma unroll
            for (int b = 0; b < batch; ++b) {
                int const i = start + b * tiles.threads;
                if (i < all) values[i % taps * pitch + i / taps] = detail::widened_to<float>(loaded[b].values[0]);
            }
        }
    }
    template <int channels>
    __device__ void load(int plane, float (&weights)[Window::rows][Window::columns][channels]) const {
#pragma unroll
        for (int i = 0; i < taps; ++i) {
            auto const vector = *reinterpret_cast<Packet<float, channels> const*>(values + i * pitch + plane);
#pragma unroll
            for (int c = 0; c < channels; ++c) weights[i / Window::columns][i % Window::columns][c] = vector.values[c];
        }
    }
};

}  // namespace fusekit::hip
