// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

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
/// If `grouped`, the convolution may have several groups of channels, whose tiles are numbered like those of channels.
template <int TileM, int TileN, bool totalled, bool grouped = false>
class TileOrder {
    static constexpr std::int64_t kept_by_l2 = std::int64_t{1} << 24;  ///< elements of y that fit L2
    static constexpr unsigned raster_group = 16;

public:
    template <class Problem>
    __device__ explicit TileOrder(Problem const& conv)
        : tiles_m(static_cast<unsigned>(detail::divide_up(conv.gemm_m(), TileM))),
          tiles_n(static_cast<unsigned>(detail::divide_up(conv.group_k(), TileN))),
          tiles_of_group(tiles_n),
          group_k(conv.group_k()),
          shares_filters(!totalled && (conv.group_k() > conv.gemm_m() ||
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

}  // namespace fusekit::hip
