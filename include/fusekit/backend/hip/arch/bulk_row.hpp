// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/abi.hpp"

namespace fusekit::hip {

/// How many bytes a row of a swizzled box has in shared memory, where so many elements of a tile neighbour: 64 where
/// they fill no more, else 128. The swizzle is as wide.
FUSEKIT_H constexpr int bulk_row_bytes(int elements, int element_bytes) {
    return elements * element_bytes <= 64 ? 64 : 128;
}

}  // namespace fusekit::hip
