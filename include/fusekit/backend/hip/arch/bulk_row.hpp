// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/abi.hpp"

namespace fusekit::hip {

/// Bytes of a swizzled row in shared memory, for `elements` contiguous elements of a tile: 64 if they fit, otherwise
/// 128. The swizzle has the same width.
FUSEKIT_H constexpr int bulk_row_bytes(int elements, int element_bytes) {
    return elements * element_bytes <= 64 ? 64 : 128;
}

}  // namespace fusekit::hip
