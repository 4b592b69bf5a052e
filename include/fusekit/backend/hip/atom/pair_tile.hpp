// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/row_tile.hpp"

namespace fusekit::hip {

/// RowTile whose rows hold two pixels each, the b operand of sparse MMAs. Every two indices of GemmK have four
/// elements. One-byte elements: both indices of the first pixel, then of the second. Wider elements: both pixels of the
/// first index, then of the second.
template <class T, int Size, int RowBytes>
class PairTile : public RowTile<T, Size / 2, 2 * RowBytes> {
public:
    /// Sparsity indices that select the first pixel, and the second, from each group of four.
    static constexpr std::uint32_t indices[] = {sizeof(T) == 1 ? 0x4444 : 0x8888, sizeof(T) == 1 ? 0xeeee : 0xdddd};
};

}  // namespace fusekit::hip
