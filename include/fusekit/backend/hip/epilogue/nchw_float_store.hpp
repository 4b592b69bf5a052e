// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/epilogue/nchw_channels.hpp"

namespace fusekit::hip {

/// Applies the epilogue to a warpgroup's accumulators, 64 channels x the pixels of one MMA, and stores them to planes
/// of y as floats. A warp has 16 channels. Its lanes transpose blocks of 8 channels x 32 pixels, so that each store
/// writes consecutive pixels of one channel.
template <class Plan, class Atom, class Tiles>
class NchwFloatStore : NchwChannels<Plan, Atom, float, Tiles> {
    using Base = NchwChannels<Plan, Atom, float, Tiles>;
    using Base::channel, Base::count, Base::image_stride, Base::length, Base::pixel, Base::plane, Base::result,
        Base::thread, Base::tiles, Base::y;
    static constexpr int channels = 8, places = 32;  ///< block of channels x pixels that the lanes of a warp transpose

public:
    using Base::Base;

    /// Stores `columns` columns (pixels) of the accumulators to a part of y, from the part's pixel first_place on.
    __device__ void store(typename Atom::Sums const& sums, PlanePart const& part, int first_place, int columns) const {
        if (part.n < 0) return;
        if (tiles.channels_last) return store_pixels(sums, part, first_place, columns);
        int const pitch = tiles.pitch, width = tiles.y_width, gap = pitch - width, rows_of_step = places / pitch,
                  columns_of_step = places % pitch, elements = length(part);
        // After the exchange, the four lanes of `group` have pixel `group` of each block that the eight values came
        // from: value i is of the thread's channel i.
        int const group = static_cast<int>(thread % 32 / 4),
                  of_places = group / 2 * 8 + static_cast<int>(thread % 4) * 2 + group % 2,
                  place = first_place + of_places;
        int column = place % pitch, at = place - place / pitch * gap;
        float* const to = y + part.n * image_stride + part.row * width;
#pragma unroll
        for (int from = 0; from < Atom::n; from += places) {
            bool const exists = column < width && at < elements && from + of_places < columns;
#pragma unroll
            for (int own = 0; own < 2; ++own) {
                float results[channels];
#pragma unroll
                for (int i = 0; i < channels; ++i) {
                    int const block = from / 8 + i / 2;
                    results[i] = block < Atom::n / 8 ? result(sums[4 * block + 2 * own + i % 2], own) : 0;
                }
                exchange(results);
                int const c = channel(own) - group;
                float* here = to + std::int64_t{c} * plane + at;
#pragma unroll
                for (int i = 0; i < channels; ++i, here += plane)
                    if (exists && c + i < count) *here = results[i];
            }
            column += columns_of_step, at += places - rows_of_step * gap;
            if (column >= pitch) column -= pitch, at -= gap;
        }
    }

private:
    /// Stores to channels-last y: eight lanes write consecutive channels of a pixel.
    __device__ void store_pixels(typename Atom::Sums const& sums, PlanePart const& part, int first_place,
                                 int columns) const {
        constexpr int block = 8;
        int const pitch = tiles.pitch, width = tiles.y_width, gap = pitch - width, elements = length(part),
                  rows_of_step = block / pitch, columns_of_step = block % pitch;
        float* const to = y + part.n * image_stride + std::int64_t{part.row} * width * pixel;
        int column[2], at[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            int const place = first_place + static_cast<int>(thread % 4) * 2 + i;
            column[i] = place % pitch, at[i] = place - place / pitch * gap;
        }
#pragma unroll
        for (int from = 0; from < Atom::n; from += block)
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                bool const exists = column[i] < width && at[i] < elements && from < columns;
                float* const here = to + std::int64_t{at[i]} * pixel;
#pragma unroll
                for (int own = 0; own < 2; ++own) {
                    float const value = result(sums[from / 2 + 2 * own + i], own);
                    if (exists && channel(own) < count) here[channel(own)] = value;
                }
                column[i] += columns_of_step, at[i] += block - rows_of_step * gap;
                if (column[i] >= pitch) column[i] -= pitch, at[i] -= gap;
            }
    }

    /// Transposes 8 x 8 values within a warp: value i of lane group g (four lanes) becomes value g of lane group i.
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
