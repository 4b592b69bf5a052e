// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// The pixels of y in quads of a row, and so in slots: a row's last quad may have slots without a pixel. Images end
/// with their last quad, so that it may begin with pixels of the quad before.
struct RowSlots {
    FUSEKIT_HD static constexpr std::int64_t of_row(std::int64_t pixels) { return (pixels + 3) / 4 * 4; }
    FUSEKIT_HD static constexpr std::int64_t of_image(std::int64_t rows, std::int64_t pixels) {
        return rows * of_row(pixels);
    }
};

/// The slots of a block.
struct SlotRange {
    int begin, end;

    template <class Params, class Problem>
    __device__ SlotRange(Params const& params, Problem const& conv, int first) : begin(of_wave(first)) {
        auto const slot_count = static_cast<int>(RowSlots::of_image(conv.y[2], conv.y[3]) * conv.y[0]);
        end = of_wave((min)(begin + params.part_pixels, slot_count));
    }
};

/// Steps of a block, of `slots_per_step` each, that may have edges, quads whose bytes reach beyond x: they are in the
/// first image's first rows, and in the last image's last rows. Under single taps there are none.
template <int slots_per_step>
class EdgeSteps {
public:
    template <class Problem>
    __device__ EdgeSteps(Problem const& conv, int begin) {
        int const rows = conv.extent(conv.y, 2), row_slots = static_cast<int>(RowSlots::of_row(conv.y[3])),
                  stride = conv.filter.strides[0], of_first = -conv.window({0, 0, 0})[0],
                  of_last =
                      conv.extent(conv.x.layout.shape, 2) - 1 + of_first - conv.distance(conv.window_rows() - 1, 0)[0],
                  last_row = (conv.extent(conv.y, 0) - 1) * rows + ((max)(of_last, 0) + stride - 1) / stride;
        first_end = of_wave((of_first / stride + 1) * row_slots);
        last_begin = of_wave(begin + (max)(last_row * row_slots - begin, 0) / slots_per_step * slots_per_step);
        if (detail::is_single_pixels(conv.filter)) first_end = 0, last_begin = (std::numeric_limits<int>::max)();
    }
    /// The first from `slot` on.
    __device__ int from(int slot) const { return slot < first_end ? slot : (max)(slot, last_begin); }

private:
    int first_end, last_begin;
};

}  // namespace fusekit::hip
