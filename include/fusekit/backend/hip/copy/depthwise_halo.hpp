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

/// Copies rows of x to the ring of a CTA in SMEM, [row][column][plane], asynchronously. Padding is zeros.
template <Element T>
class DepthwiseHaloLoad {
    static constexpr int planes = DepthwiseHaloTiles::planes, bytes = static_cast<int>(sizeof(T)),
                         pixel_bytes = planes * bytes;

public:
    /// The ring begins at `to`; its first row and column are (top, left) of x, and it has `rows` rows.
    __device__ DepthwiseHaloLoad(DepthwiseHaloTiles const& tiles, TensorView<T const> const& x, unsigned first_plane,
                                 int top, int the_left, int rows, unsigned char* to, unsigned thread)
        : left(the_left), row(top), end(top + rows) {
        Layout<4> const& layout = x.layout;
        auto const packets = static_cast<unsigned>(planes / tiles.vector);
        unsigned const packet = thread & (packets - 1),
                       plane = first_plane + packet * static_cast<unsigned>(tiles.vector),
                       n = tiles.channels.divide(plane);
        // copies nothing for planes that do not exist, whose outputs are not stored
        column = n < static_cast<unsigned>(layout.shape[0]) ? static_cast<int>(thread / packets) : tiles.halo_columns;
        from = x.data + n * layout.stride[0] + (plane - n * tiles.channels.value()) + left * layout.stride[3];
        ring = to + packet * static_cast<unsigned>(tiles.vector * bytes);
    }
    __device__ static int row_bytes(DepthwiseHaloTiles const& tiles) { return tiles.halo_columns * pixel_bytes; }

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
    int left, column;
    int row, end;  ///< row of x of the next copy, and of the end of the ring
    int slot = 0;  ///< row of the ring of the next copy

    template <int vector_bytes>
    __device__ void copy(DepthwiseHaloTiles const& tiles, Layout<4> const& x, int count) {
        int const height = static_cast<int>(x.shape[2]), width = static_cast<int>(x.shape[3]), pitch = row_bytes(tiles),
                  stop = (min)(row + count, end);
#pragma unroll 1
        for (int i = column; i < tiles.halo_columns; i += tiles.copied_columns) {
            bool const valid = static_cast<unsigned>(left + i) < static_cast<unsigned>(width);
            T const* source = from + std::int64_t{row} * x.stride[2] + i * x.stride[3];
            unsigned char* const first = ring + i * pixel_bytes;
            unsigned char* to = first + slot * pitch;
            int until_end = tiles.ring_rows - slot;
#pragma unroll 1
            for (int h = row; h < stop; ++h) {
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

/// Weights of a CTA's planes in SMEM: [plane][tap]. `rotated`: those of a view of filters that is rotated by 180
/// degrees are in the order of memory, before the rotation, if filters are dense.
template <class Window, Element Weight, bool rotated>
struct DepthwiseHaloWeights {
    static constexpr int planes = DepthwiseHaloTiles::planes, taps = Window::taps;

    alignas(16) unsigned char bytes[planes * taps * sizeof(Weight)];

    /// Copies the weights, asynchronously if filters are dense. All threads of the CTA call it.
    __device__ void stage(DepthwiseHaloTiles const& tiles, bool dense, TensorView<Weight const> const& w,
                          unsigned first_plane, unsigned thread) {
        Index<4> const& stride = w.layout.stride;
        constexpr int word = (max)(4 / static_cast<int>(sizeof(Weight)), 1);  // weights of a copy
        auto const step = static_cast<unsigned>(tiles.threads);
        if (dense && sizeof(Weight) != 1) {
            unsigned const first = tiles.channels.remainder(first_plane) * taps;
            Weight const* const from = rotated ? w.data - (taps - 1) : w.data;
#pragma unroll 1
            for (unsigned i = thread; i < planes * taps / word; i += step)
                copy_async<(max)(4, static_cast<int>(sizeof(Weight)))>(
                    bytes + i * word * sizeof(Weight), from + tiles.weights.remainder(first + i * word), true);
        } else {
            auto* const to = reinterpret_cast<Packet<Weight, 1>*>(bytes);
#pragma unroll 1
            for (unsigned i = thread; i < planes * taps; i += step) {
                unsigned const plane = i / taps, tap = i % taps, k = tiles.channels.remainder(first_plane + plane);
                to[dense && rotated ? plane * taps + taps - 1 - tap : i] = *reinterpret_cast<Packet<Weight, 1> const*>(
                    w.data + k * stride[0] + tap / Window::columns * stride[2] + tap % Window::columns * stride[3]);
            }
        }
    }
    template <int channels>
    __device__ void load(bool dense, int plane, float (&weights)[Window::rows][Window::columns][channels]) const {
        auto const* const from = reinterpret_cast<Packet<Weight, 1> const*>(bytes) + plane * taps;
        bool const reversed = dense && rotated;
#pragma unroll
        for (int i = 0; i < taps; ++i)
#pragma unroll
            for (int c = 0; c < channels; ++c)
                weights[i / Window::columns][i % Window::columns][c] =
                    detail::widened_to<float>(from[c * taps + (reversed ? taps - 1 - i : i)].values[0]);
    }
};

}  // namespace fusekit::hip
