// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/row_tile.hpp"

namespace fusekit::hip {

/// A RowTile of bytes whose rows are two pixels each: at every two indices of GemmK four bytes, the indices of the first
/// pixel and those of the second.
template <class T, int Size, int RowBytes>
class PairTile : public RowTile<T, Size / 2, 2 * RowBytes> {
    static_assert(sizeof(T) == 1);

public:
    /// By which of four indices a sparse product has the first or the second pixel, in all of its fours.
    static constexpr std::uint32_t indices[] = {0x4444, 0xeeee};
};

}  // namespace fusekit::hip
