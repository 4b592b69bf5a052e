// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/runtime/platform.hpp"

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

}  // namespace fusekit::hip
