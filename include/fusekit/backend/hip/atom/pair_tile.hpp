// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/row_tile.hpp"

namespace fusekit::hip {

/// Operand tile b of sparse MMAs: a RowTile whose rows hold two pixels each. Every four consecutive elements of a row
/// are of two pixels at two indices k0, k1: for one-byte elements (k0, k1) of the first pixel, then of the second; for
/// wider elements both pixels at k0, then both at k1.
template <class T, int Size, int RowBytes>
class PairTile : public RowTile<T, Size / 2, 2 * RowBytes> {
public:
    /// Sparsity indices of the MMA: indices[0] selects the first pixel from each four elements of a row, indices[1] the
    /// second.
    static constexpr std::uint32_t indices[] = {sizeof(T) == 1 ? 0x4444 : 0x8888, sizeof(T) == 1 ? 0xeeee : 0xdddd};
};

}  // namespace fusekit::hip
