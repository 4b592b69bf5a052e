// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/plane_grid.hpp"

namespace fusekit::hip {

/// Division of a tile's channels of x among the 8 producer warps, which form `groups` groups of `sharing` warps; each
/// group loads `own` = 8 channels.
template <class Tiles>
struct PlaneWarps {
    static constexpr int own = 8;
    static constexpr unsigned warps = 8, groups = Tiles::channels / own, sharing = warps / groups;
};

/// A producer warp's bulk copies (cp.async.bulk) of planes of NCHW x to SMEM, one channel block (Tiles::channels
/// channels of one tile) after another. The warp copies some of the 8 channels of its group (PlaneWarps). A lane copies
/// one channel of one PlanePart (rows of an image), or one contiguous range of all channels. Preconditions: rows and
/// planes are dense, images start at multiples of 16 bytes, and x has a multiple of 8 channels.
template <class T, class Grid, int parts>
class PlaneCopies {
    using Tiles = typename Grid::Tiles;
    using Warps = PlaneWarps<Tiles>;
    static constexpr int copied = Warps::own / static_cast<int>(Warps::sharing), packet = Tiles::packet;
    static_assert(parts * copied <= 32);

public:
    /// Number of lanes, over all warps of a group (PlaneWarps), that arrive on the mbarrier of the group's copies.
    static constexpr unsigned lanes = parts * Warps::own;

    __device__ PlaneCopies(TensorView<T const> const& the_x, Tiles const& the_tiles, Grid const& the_grid,
                           unsigned warp, unsigned the_lane, unsigned first_tile)
        : x(the_x),
          tiles(the_tiles),
          grid(the_grid),
          step(the_grid, first_tile),
          lane(static_cast<int>(the_lane)),
          channel(static_cast<int>(warp) * copied + lane % copied),
          smem_offset((lane / copied * Tiles::channels + channel) * tiles.plane_pitch()) {
        find();
    }

    /// Issues the warp's copies of the next channel block to `to`, the SMEM stage of all channels, on the mbarrier
    /// `full`; does nothing after the last block. All lanes call it.
    __device__ void begin(T const* to, std::uint32_t full) {
        if (lane >= parts * copied || !step.is_valid()) return;
        unsigned const now = step.block * Tiles::channels + channel < x.layout.shape[1] ? bytes : 0;
        ptx::mbarrier_arrive_expect_tx(full, now);
        if (now > 0) ptx::bulk_load(ptx::shared_address(to + smem_offset), from, now, full);
        from += std::int64_t{Tiles::channels} * tiles.plane();
        if (step.advance()) find();
    }

private:
    TensorView<T const> const& x;
    Tiles const& tiles;
    Grid const& grid;
    typename Grid::Step step;
    int lane, channel, smem_offset;
    unsigned bytes;  ///< number of bytes that the lane copies per channel block of the current tile
    T const* from;

    __device__ void find() {
        PlanePart const part = grid.part(step.tile, lane / copied);
        int const first = tiles.first_row_of_x(part.row), rows = tiles.end_row_of_x(part.row) - first,
                  early = tiles.early(channel, first),
                  elements = !tiles.whole()       ? (early + rows * tiles.x_width + packet - 1) / packet * packet
                             : lane % copied == 0 ? copied * tiles.plane()
                                                  : 0;
        bytes = part.n >= 0 && rows > 0 ? static_cast<unsigned>(elements) * static_cast<unsigned>(sizeof(T)) : 0;
        from = x.data + part.n * x.layout.stride[0] +
               (std::int64_t{step.block} * Tiles::channels + channel) * tiles.plane() + first * tiles.x_width - early;
    }
};

}  // namespace fusekit::hip
