// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/collective/plane_channels.hpp"

namespace fusekit::hip {

/// Takes the sums of a warpgroup, 64 channels of a product's places, through the epilogue to planes of y, as floats.
/// Lanes of two channels exchange every other sum, so that eight lanes of a warp store 32 neighbouring bytes.
template <class Plan, class Atom, class Tiles>
class StoreFloatPlanes : PlaneChannels<Plan, Atom, float, Tiles> {
    using Base = PlaneChannels<Plan, Atom, float, Tiles>;
    using Base::channel, Base::count, Base::image_stride, Base::length, Base::plane, Base::result, Base::thread,
        Base::tiles, Base::y;

public:
    using Base::Base;

    /// Places from first_place on, of a part.
    __device__ void store(typename Atom::Sums const& sums, PlanePart const& part, int first_place) const {
        if (part.n < 0) return;
        bool const odd = thread / 4 % 2 != 0;
        int const pitch = tiles.pitch, width = tiles.y_width, gap = pitch - width, rows_of_step = 8 / pitch,
                  columns_of_step = 8 % pitch, place = first_place + static_cast<int>(thread % 4) * 2 + odd,
                  elements = length(part);
        int column = place % pitch, at = place - place / pitch * gap;
        float* const to = y + part.n * image_stride + part.row * width;
#pragma unroll
        for (int block = 0; block < Atom::n / 8; ++block) {
            bool const exists = column < width && at < elements;
#pragma unroll
            for (int own = 0; own < 2; ++own) {
                int const e = 4 * block + 2 * own, even_channel = channel(own) - odd;
                float const low = result(sums[e], own), high = result(sums[e + 1], own),
                            other = of_lane_xor(odd ? low : high, 4);
                float* const here = to + std::int64_t{even_channel} * plane + at;
                if (exists && even_channel < count) here[0] = odd ? other : low;
                if (exists && even_channel + 1 < count) here[plane] = odd ? high : other;
            }
            column += columns_of_step, at += 8 - rows_of_step * gap;
            if (column >= pitch) column -= pitch, at -= gap;
        }
    }
};

}  // namespace fusekit::hip
