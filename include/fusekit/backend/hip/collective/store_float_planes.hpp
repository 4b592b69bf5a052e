// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/collective/plane_grid.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// Takes the sums of a warpgroup, 64 channels of a product's places, through the epilogue to planes of y, as floats.
/// Lanes of two channels exchange every other sum, so that eight lanes of a warp store 32 neighbouring bytes.
template <class Plan, class Atom, class Tiles>
class StoreFloatPlanes {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;

public:
    /// Prepares the thread's two channels; of no channel of y, its last one's.
    template <class Params>
    __device__ StoreFloatPlanes(Params const& params, Tiles const& the_tiles, int the_first, unsigned the_thread)
        : tiles(the_tiles),
          arguments(params.bound.epilogue),
          y(params.y.data),
          image_stride(params.y.layout.stride[0]),
          count(static_cast<int>(params.y.layout.shape[1])),
          first(the_first),
          plane(tiles.y_height * tiles.y_width),
          thread(the_thread) {
        if constexpr (Epilogue::channelwise)
            for (int i = 0; i < 2; ++i)
                states[i] = Epilogue::prepare(std::int64_t{min(channel(i), count - 1)}, arguments);
    }

    /// Places from first_place on, of a part.
    __device__ void store(typename Atom::Sums const& sums, PlanePart const& part, int first_place) const {
        if (part.n < 0) return;
        bool const odd = thread / 4 % 2 != 0;
        int const pitch = tiles.pitch, width = tiles.y_width, gap = pitch - width, rows_of_step = 8 / pitch,
                  columns_of_step = 8 % pitch, place = first_place + static_cast<int>(thread % 4) * 2 + odd,
                  length = min(tiles.rows, tiles.y_height - part.row) * width;
        int column = place % pitch, at = place - place / pitch * gap;
        float* const to = y + part.n * image_stride + part.row * width;
#pragma unroll
        for (int block = 0; block < Atom::n / 8; ++block) {
            bool const exists = column < width && at < length;
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

private:
    Tiles const& tiles;
    typename Epilogue::Args const& arguments;
    float* y;
    std::int64_t image_stride;
    int count, first, plane;
    unsigned thread;
    State states[Epilogue::channelwise ? 2 : 1];

    __device__ int channel(int own) const { return first + Atom::row(static_cast<int>(thread), 2 * own); }

    __device__ float result(float sum, int own) const {
        return Epilogue::apply(sum, OutputCoord{0, channel(own), 0, 0}, Epilogue::channelwise ? states[own] : State{},
                               arguments);
    }
};

}  // namespace fusekit::hip
