// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/epilogue/nchw_channels.hpp"

namespace fusekit::hip {

/// Applies the epilogue to a warpgroup's accumulators, 64 channels x the pixels of one MMA, and stores them as floats
/// to planes of y (NCHW), or to channels-last y. A warp has 16 channels. Its lanes transpose blocks of 8 channels x 32
/// pixels, so that each store writes consecutive pixels of one channel.
template <class Plan, class Atom, class Tiles>
class NchwFloatStore : NchwChannels<Plan, Atom, float, Tiles> {
    using Base = NchwChannels<Plan, Atom, float, Tiles>;
    using Base::channel, Base::count, Base::image_stride, Base::length, Base::pixel, Base::plane, Base::result,
        Base::thread, Base::tiles, Base::y;
    /// Size of the blocks that the lanes of a warp transpose: 8 channels x 32 pixels.
    static constexpr int channels = 8, exchanged = 32;

public:
    using Base::Base;

    /// Stores the accumulators' first `columns` columns (pixels) to a PlanePart (rows of an image of y), from the
    /// part's pixel first_pixel on; pixels are counted with the gaps between rows.
    __device__ void store(typename Atom::Accumulators const& acc, PlanePart const& part, int first_pixel,
                          int columns) const {
        if (part.n < 0) return;
        if (tiles.channels_last) return store_pixels(acc, part, first_pixel, columns);
        int const pitch = tiles.pitch, width = tiles.y_width, gap = pitch - width, rows_of_step = exchanged / pitch,
                  columns_of_step = exchanged % pitch, elements = length(part);
        // After exchange(), the four lanes of lane group `group` (lane / 4) have pixel number `group` of each of the
        // eight 8-pixel blocks that the values came from; value i is of channel i.
        int const group = static_cast<int>(thread % 32 / 4),
                  of_lane = group / 2 * 8 + static_cast<int>(thread % 4) * 2 + group % 2,
                  tile_pixel = first_pixel + of_lane;
        int column = tile_pixel % pitch, at = tile_pixel - tile_pixel / pitch * gap;
        float* const to = y + part.n * image_stride + part.row * width;
#pragma unroll
        for (int from = 0; from < Atom::n; from += exchanged) {
            bool const in_bounds = column < width && at < elements && from + of_lane < columns;
#pragma unroll
            for (int own = 0; own < 2; ++own) {
                float results[channels];
#pragma unroll
                for (int i = 0; i < channels; ++i) {
                    int const block = from / 8 + i / 2;
                    results[i] = block < Atom::n / 8 ? result(acc[4 * block + 2 * own + i % 2], own) : 0;
                }
                exchange(results);
                int const c = channel(own) - group;
                float* here = to + std::int64_t{c} * plane + at;
#pragma unroll
                for (int i = 0; i < channels; ++i, here += plane)
                    if (in_bounds && c + i < count) *here = results[i];
            }
            column += columns_of_step, at += exchanged - rows_of_step * gap;
            if (column >= pitch) column -= pitch, at -= gap;
        }
    }

private:
    /// Stores the accumulators to channels-last y: eight lanes write consecutive channels of a pixel. Same parameters
    /// as store().
    __device__ void store_pixels(typename Atom::Accumulators const& acc, PlanePart const& part, int first_pixel,
                                 int columns) const {
        constexpr int block = 8;
        int const pitch = tiles.pitch, width = tiles.y_width, gap = pitch - width, elements = length(part),
                  rows_of_step = block / pitch, columns_of_step = block % pitch;
        float* const to = y + part.n * image_stride + std::int64_t{part.row} * width * pixel;
        int column[2], at[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            int const tile_pixel = first_pixel + static_cast<int>(thread % 4) * 2 + i;
            column[i] = tile_pixel % pitch, at[i] = tile_pixel - tile_pixel / pitch * gap;
        }
#pragma unroll
        for (int from = 0; from < Atom::n; from += block)
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                bool const in_bounds = column[i] < width && at[i] < elements && from < columns;
                float* const here = to + std::int64_t{at[i]} * pixel;
#pragma unroll
                for (int own = 0; own < 2; ++own) {
                    float const value = result(acc[from / 2 + 2 * own + i], own);
                    if (in_bounds && channel(own) < count) here[channel(own)] = value;
                }
                column[i] += columns_of_step, at[i] += block - rows_of_step * gap;
                if (column[i] >= pitch) column[i] -= pitch, at[i] -= gap;
            }
    }

    /// Transposes 8 x 8 values within a warp: value i of lane group g (four consecutive lanes) becomes value g of lane
    /// group i.
    __device__ void exchange(float (&values)[channels]) const {
#pragma unroll
        for (unsigned bit = 1; bit < channels; bit *= 2) {
            bool const upper = (thread / 4 & bit) != 0;
#pragma unroll
            for (unsigned i = 0; i < channels; ++i) {
                if (i & bit) continue;
                float const other = of_lane_xor(upper ? values[i] : values[i | bit], 4 * bit);
                values[i] = upper ? other : values[i];
                values[i | bit] = upper ? values[i | bit] : other;
            }
        }
    }
};

}  // namespace fusekit::hip
