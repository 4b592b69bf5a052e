// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/plane_grid.hpp"

namespace fusekit::hip {

/// The two channels of a thread's accumulators, among the 64 channels of its warpgroup's MMA, with their prepared
/// epilogue parameters. Base of the stores to y in planes (NCHW).
template <class Plan, class Atom, class U, class Tiles>
class NchwChannels {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;

public:
    /// Prepares the parameters of the thread's two channels; a channel out of bounds of y gets those of y's last
    /// channel. `the_first` is the warpgroup's first channel of y.
    template <class Params>
    __device__ NchwChannels(Params const& params, Tiles const& the_tiles, int the_first, unsigned the_thread)
        : tiles(the_tiles),
          y(params.y.data),
          image_stride(params.y.layout.stride[0]),
          count(static_cast<int>(params.y.layout.shape[1])),
          first(the_first),
          plane(tiles.y_height * tiles.y_width),
          pixel(static_cast<int>(detail::step_of_pixels(params.y.layout))),
          thread(the_thread),
          arguments(params.bound.epilogue) {
        if constexpr (Epilogue::channelwise) {
            for (int i = 0; i < 2; ++i)
                states[i] = Epilogue::prepare(std::int64_t{(min)(channel(i), count - 1)}, arguments);
        }
    }

protected:
    Tiles const& tiles;
    U* y;
    std::int64_t image_stride;
    int count, first, plane;
    int pixel;  ///< for channels-last y: elements from a pixel of y to the next
    unsigned thread;

    /// Returns the index in y of the thread's channel number `own`, 0 or 1.
    __device__ int channel(int own) const { return first + Atom::row(static_cast<int>(thread), 2 * own); }

    /// Applies the epilogue to `sum`, an accumulator of the thread's channel number `own`, 0 or 1.
    __device__ float result(float sum, int own) const {
        State state{};
        if constexpr (Epilogue::channelwise) {
            state = states[0];
            if (own > 0) state = states[1];
        }
        return Epilogue::apply(sum, OutputCoord{0, channel(own), 0, 0}, state, arguments);
    }

    /// Returns the number of pixels of y in a PlanePart (rows of an image), without the gaps between rows.
    __device__ int length(PlanePart const& part) const {
        return (min)(tiles.rows, tiles.y_height - part.row) * tiles.y_width;
    }

private:
    typename Epilogue::Args const& arguments;
    State states[Epilogue::channelwise ? 2 : 1];
};

}  // namespace fusekit::hip
