// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/offset_coord.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// Packets of `lanes` contiguous channels that a thread has in every row that its group of `group` threads reduces:
/// packet `column` and every `group`-th from there on. `own`: the group's number in the CTA.
template <int lanes>
struct ThreadPackets {
    unsigned group, packets, own, column;

    /// packets: those of a row; group: a power of two.
    __device__ ThreadPackets(unsigned the_group, unsigned the_packets, unsigned thread)
        : group(the_group), packets(the_packets), own(thread / the_group), column(thread & (the_group - 1)) {}

    __device__ bool has(int i) const { return number(i) < packets; }
    __device__ std::int64_t channel(int i) const { return std::int64_t{number(i)} * lanes; }

private:
    __device__ unsigned number(int i) const { return column + static_cast<unsigned>(i) * group; }
};

/// Offset in a view of row `number`, the channels of a pixel: divisors are the pixels of an image and of a line (Q).
template <class View>
__device__ std::int64_t offset_of_row(View const& view, unsigned number, FastDivmod const& of_plane,
                                      FastDivmod const& of_line) {
    unsigned const image = of_plane.divide(number), pixel = number - image * of_plane.value(),
                   p = of_line.divide(pixel), q = pixel - p * of_line.value();
    Index<4> const& stride = view.layout.stride;
    return image * stride[0] + p * stride[2] + q * stride[3];
}

}  // namespace fusekit::hip
