// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/row_tile.hpp"

namespace fusekit::hip {

/// A RowTile whose rows are two pixels each: at every two indices of GemmK four elements. Of bytes they are the indices
/// of the first pixel and those of the second, else the pixels of the first index and those of the second.
template <class T, int Size, int RowBytes>
class PairTile : public RowTile<T, Size / 2, 2 * RowBytes> {
public:
    /// By which of four indices a sparse product has the first or the second pixel, in all of its fours.
    static constexpr std::uint32_t indices[] = {sizeof(T) == 1 ? 0x4444 : 0x8888, sizeof(T) == 1 ? 0xeeee : 0xdddd};
};

}  // namespace fusekit::hip
