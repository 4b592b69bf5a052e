// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/multicast.hpp"
#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/backend/integer.hpp"

namespace fusekit::hip {

/// First pixel (m, an index in GemmM) and first channel (n) of a tile of y.
struct TileStart {
    int m, n;
    int group = 0;  ///< of channels
};

/// Rasterization: the order in which y's tiles are numbered. CTAs with consecutive indices run concurrently, so
/// consecutive tiles should have an operand in common, which is then read from memory once: the pixels of x, or the
/// filters if those are larger. If the filters are common, at most `raster_group` consecutive tiles along the pixels
/// have them, so that these pixels are still in L2 when the tiles of the next channels read them. The filters are also
/// common if a tile has more channels than pixels and y exceeds L2 (measured).
///
/// With statistics (`totalled`), consecutive tiles have pixels in common. A column of tiles is all tiles of the same
/// channels. If the number of columns divides the number of warpgroups in the grid, all tiles of a warpgroup are in one
/// column, and the warpgroup writes one total per channel.
///
/// With `multicast`, tiles 2 i and 2 i + 1 have this operand in common; their number is even.
///
/// If `grouped`, the convolution may have several groups of channels, whose tiles are numbered like those of channels.
template <int TileM, int TileN, bool totalled, bool grouped = false>
class TileOrder {
    static constexpr std::int64_t kept_by_l2 = std::int64_t{1} << 24;  ///< elements of y that fit L2
    static constexpr unsigned raster_group = 16;

public:
    template <class Problem>
    __device__ explicit TileOrder(Problem const& conv, Multicast multicast = Multicast::none)
        : tiles_m(static_cast<unsigned>(detail::launched_rows(detail::divide_up(conv.gemm_m(), TileM), multicast))),
          tiles_n(static_cast<unsigned>(detail::divide_up(conv.group_k(), TileN))),
          tiles_of_group(tiles_n),
          group_k(conv.group_k()),
          shares_filters(multicast != Multicast::none
                             ? multicast == Multicast::w
                             : !totalled &&
                                   (conv.group_k() > conv.gemm_m() ||
                                    (TileN > TileM && std::int64_t{conv.group_k()} * conv.gemm_m() > kept_by_l2))) {
        if constexpr (grouped) tiles_n *= static_cast<unsigned>(conv.groups());
    }

    __device__ unsigned size() const { return tiles_m * tiles_n; }
    /// First pixel and channel of the tile with index `tile`. Has few divisions, because the first loads of a kernel
    /// depend on the result.
    __device__ TileStart operator[](unsigned tile) const {
        unsigned first = 0, rows = tiles_m, row, column;
        if (shares_filters) {
            if (tiles_m > raster_group) {
                first = tile / (raster_group * tiles_n) * raster_group;
                rows = tiles_m - first < raster_group ? tiles_m - first : raster_group;
            }
            unsigned const rest = tile - first * tiles_n;
            column = rest / rows;
            row = first + rest - column * rows;
        } else {
            row = tile / tiles_n;
            column = tile - row * tiles_n;
        }
        if constexpr (grouped) {
            if (tiles_n > tiles_of_group) {
                unsigned const group = column / tiles_of_group;
                return {static_cast<int>(row) * TileM,
                        static_cast<int>(group) * group_k + static_cast<int>(column - group * tiles_of_group) * TileN,
                        static_cast<int>(group)};
            }
        }
        return {static_cast<int>(row) * TileM, static_cast<int>(column) * TileN};
    }

    /// Index along the pixels of tile `tile`, if statistics are totalled.
    __device__ unsigned row_of(unsigned tile) const { return tile / tiles_n; }
    /// totals_each(): true if each tile writes its own statistics total, false if each warpgroup does. totals(): number
    /// of totals per channel. `tiles_per_block`: number of a CTA's MMA warpgroups that have a tile each.
    __device__ bool totals_each(unsigned tiles_per_block) const { return tiles_per_block * gridDim.x % tiles_n != 0; }
    __device__ unsigned totals(unsigned tiles_per_block) const {
        unsigned const of_column = tiles_per_block * gridDim.x / tiles_n;
        return totals_each(tiles_per_block) || of_column > tiles_m ? tiles_m : of_column;
    }

private:
    unsigned tiles_m, tiles_n, tiles_of_group;
    int group_k;
    bool shares_filters;
};

/// Range [begin, end) of the k-tiles of an output tile that one CTA reduces.
struct StepRange {
    unsigned begin, end;
};

/// Work items of persistent CTAs with a stream-K tail: CTA b of a grid computes items b, b + gridDim.x, and so on. The
/// first `whole` items are output tiles, a multiple of gridDim.x. Each tile after them is `splits` consecutive items,
/// one per CTA of a cluster, which divide the tile's k-tiles; `splits` is 1, 2 or 4 and divides gridDim.x, which is at
/// least the number of these items. With `splits` = 1 all items are tiles.
struct StreamKTail {
    unsigned splits, whole, items;

    __device__ StreamKTail(unsigned tiles, unsigned the_splits, unsigned whole_tiles)
        : splits(the_splits), whole(whole_tiles), items(whole + ((tiles - whole) << shift())) {}

    __device__ unsigned size() const { return items; }
    __device__ bool is_divided(unsigned item) const { return splits > 1 && item >= whole; }
    /// True if the CTA with index `block` has an item of the tail.
    __device__ bool reaches(unsigned block) const { return splits > 1 && whole + block < items; }
    __device__ unsigned tile_of(unsigned item) const {
        return is_divided(item) ? whole + ((item - whole) >> shift()) : item;
    }
    /// Rank in its cluster of the CTA that has an item, and the range of the `steps` k-tiles of a divided item.
    __device__ unsigned rank_of(unsigned item) const { return item & (splits - 1); }
    __device__ StepRange range_of(unsigned item, unsigned steps) const {
        unsigned const rank = rank_of(item);
        return {steps * rank >> shift(), steps * (rank + 1) >> shift()};
    }

private:
    /// Binary logarithm of `splits`.
    __device__ unsigned shift() const { return splits >> 1; }
};

}  // namespace fusekit::hip
