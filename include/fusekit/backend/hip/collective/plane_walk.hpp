// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/collective/pixel_chunks.hpp"
#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// Where a block's steps are in planes of x and dy, and which of them load whole chunks: all but the last of each
/// image, and those whose windows reach to before the first element of x, or past the last. All threads know the same
/// numbers.
template <Element T>
class PlaneWalk {
    using Chunk = PixelChunk<T>;
    static constexpr int step = Chunk::step_pixels;

public:
    std::uint32_t at = 0;     ///< the step, in bytes from the start of the planes
    std::uint32_t whole = 0;  ///< the next step that loads single elements

    /// From pixel `the_pixel` of an image on, of `the_plane`, where those count that are none.
    template <class Problem>
    __device__ PlaneWalk(Problem const& conv, int image, int the_pixel, int the_plane, int the_steps)
        : plane(the_plane),
          image_of_x(of_wave(static_cast<int>(conv.x.layout.stride[0]))),
          image_of_dy(of_wave(static_cast<int>(conv.y_stride[0]))),
          pixel(the_pixel),
          steps(the_steps) {
        Index<4> const &shape = conv.x.layout.shape, &stride = conv.x.layout.stride;
        std::int64_t const window = conv.input_offset(conv.window({0, 0, 0})),
                           reach = conv.input_offset(conv.distance(conv.window_rows() - 1, conv.window_columns() - 1)),
                           before = image * stride[0] + window;
        first = of_wave(static_cast<int>(-before));
        last = of_wave(static_cast<int>((shape[0] - 1) * stride[0] + (shape[2] - 1) * stride[2] + shape[3] - step -
                                        before - reach));
        look();
    }

    /// After a step that loaded single elements: moves what loads x and dy to the next step's image, and goes to the
    /// step before that.
    template <class X, class Dy>
    __device__ void look_further(X& x, Dy& dy) {
        bool const ends = pixel + step == plane;
        int const of_x = ends ? image_of_x : 0, of_dy = ends ? image_of_dy : 0;
        x.move(in_bytes(of_x));
        dy.move(in_bytes(of_dy));
        first -= of_x;
        last -= of_x;
        pixel = ends ? 0 : pixel + step;
        if (steps > 0) --steps;
        look();
        at -= Chunk::step_bytes;
    }

private:
    int plane, image_of_x, image_of_dy;  ///< how far it is to the next image
    int pixel, steps;  ///< of the next step that loads single elements; and steps from there on
    int first, last;  ///< the pixels from which whole steps may be loaded, counted from the first image's first

    __device__ void look() {
        int const end = (min)(last + 1, plane - step), until = pixel >= first && end > pixel ? end - pixel : 0,
                  count = of_wave((min)(steps, (until + step - 1) / step));
        at = in_bytes(pixel);
        pixel += count * step;
        steps -= count;
        whole = in_bytes(pixel);
    }
    __device__ static std::uint32_t in_bytes(int elements) {
        return static_cast<std::uint32_t>(elements) * static_cast<std::uint32_t>(sizeof(T));
    }
};

}  // namespace fusekit::hip
