// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/row_tile.hpp"

namespace fusekit::hip {

/// A RowTile whose rows are two pixels each. Every two indices of GemmK have four elements there: of bytes, both
/// indices of the first pixel, then of the second; of others, both pixels of the first index, then of the second.
template <class T, int Size, int RowBytes>
class PairTile : public RowTile<T, Size / 2, 2 * RowBytes> {
public:
    /// The indices by which a sparse product has the first pixel, and the second, in all of its fours.
    static constexpr std::uint32_t indices[] = {sizeof(T) == 1 ? 0x4444 : 0x8888, sizeof(T) == 1 ? 0xeeee : 0xdddd};
};

}  // namespace fusekit::hip
