// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/abi.hpp"

namespace fusekit::hip {

/// Returns the bytes of a swizzled row in shared memory (and the width of its swizzle) for a tile with `elements`
/// contiguous elements: 64 if they fit, otherwise 128.
FUSEKIT_H constexpr int bulk_row_bytes(int elements, int element_bytes) {
    return elements * element_bytes <= 64 ? 64 : 128;
}

}  // namespace fusekit::hip
