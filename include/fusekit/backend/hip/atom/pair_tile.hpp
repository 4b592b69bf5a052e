// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/row_tile.hpp"

namespace fusekit::hip {

/// Operand tile b of sparse MMAs: a RowTile whose rows hold two pixels each. Each group of four elements of a row has
/// two indices k of GemmK for two pixels: for one-byte elements (k0, k1) of the first pixel, then of the second; for
/// wider elements both pixels at k0, then both at k1.
template <class T, int Size, int RowBytes>
class PairTile : public RowTile<T, Size / 2, 2 * RowBytes> {
public:
    /// Sparsity indices of the MMA: indices[0] selects the first pixel, indices[1] the second, from each group of four
    /// elements.
    static constexpr std::uint32_t indices[] = {sizeof(T) == 1 ? 0x4444 : 0x8888, sizeof(T) == 1 ? 0xeeee : 0xdddd};
};

}  // namespace fusekit::hip
