// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/arch/tensor_map.hpp"
#include "fusekit/backend/hip/mma/bf16x6.hpp"
#include "fusekit/backend/hip/plane_grid.hpp"

namespace fusekit::hip {

/// A producer warp's part of splitting channels-last floats of x into SMEM tiles of three bfloat16 terms, in
/// PlaneTransposer's layout. All `warps` producer warps divide the 16-byte chunks of a tile. TMA loads the pixels of x
/// that the windows of one PlanePart (rows of an image of y) read, in rows of 128 bytes (32 channels) with the 128-byte
/// swizzle, and fills pixels out of bounds of x with zeros.
template <class Grid, int parts, unsigned warps>
class PixelSplitter {
    using Tiles = typename Grid::Tiles;
    using Packet4 = Packet<float, 4>;
    /// 8-channel chunks of a pixel; each is 16 bytes per bfloat16 term
    static constexpr int chunks = Tiles::channels / 8;
    /// distance from one of a lane's chunks to its next, in chunks of the tile
    static constexpr int stride = 32 * warps;
    static constexpr int in_flight = 2;  ///< number of chunks that a lane loads before it stores the first of them

public:
    __device__ PixelSplitter(TensorMap const& the_map, Tiles const& the_tiles, Grid const& the_grid,
                             unsigned the_thread, unsigned first_tile)
        : map(the_map), tiles(the_tiles), grid(the_grid), thread(the_thread), ahead(the_grid, first_tile) {}

    /// Issues the TMA loads of the next channel block (32 channels of one tile) to the SMEM stage `to`, on the mbarrier
    /// `full`; does nothing after the last block. All producer threads call it; thread 0 issues.
    __device__ void begin(float* to, std::uint32_t full) {
        if (thread == 0 && ahead.is_valid()) {
            ptx::mbarrier_arrive_expect_tx(full, static_cast<unsigned>(parts * tiles.pixels_loaded() * 128));
#pragma unroll 1
            for (int i = 0; i < parts; ++i) {
                PlanePart const part = grid.part(ahead.tile, i);
                ptx::tma_load(ptx::shared_address(to) + static_cast<unsigned>(i * tiles.part_bytes()), &map, full,
                              {ahead.block * Tiles::channels, -tiles.pad_left, part.row - tiles.pad_top, part.n});
            }
        }
        ahead.advance();
    }

    /// Splits the floats of the channel block at `pixels` into bfloat16 terms and stores these to the tile at `tile`.
    /// All producer threads call it.
    __device__ void split(float const* pixels, unsigned char* tile) const {
#pragma unroll 1
        for (int i = 0; i < parts; ++i)
            split_part(reinterpret_cast<unsigned char const*>(pixels) + i * tiles.part_bytes(), i * tiles.pixels_of_x(),
                       tile);
    }

private:
    TensorMap const& map;
    Tiles const& tiles;
    Grid const& grid;
    unsigned thread;
    typename Grid::Step ahead;

    /// Splits the pixels of one PlanePart; its first pixel is pixel `first_pixel` of the tile. Pixels after the last
    /// loaded row are stored as zeros: they are the padding after that row.
    __device__ void split_part(unsigned char const* pixels, int first_pixel, unsigned char* tile) const {
        int const all = tiles.pixels_read() * chunks, copied = tiles.pixels_loaded();
        auto const chunk = thread % chunks;
#pragma unroll 1
        for (int number = static_cast<int>(thread); number < all; number += stride * in_flight) {
            Packet4 packets[in_flight][2];
#pragma unroll
            for (int i = 0; i < in_flight; ++i) {
                int const pixel = (number + stride * i) / chunks, read = pixel < copied ? pixel : 0;
                auto const* const row = pixels + read * 128;
#pragma unroll
                for (unsigned j = 0; j < 2; ++j)
                    packets[i][j] = *reinterpret_cast<Packet4 const*>(
                        row + ((2 * chunk + j) ^ static_cast<unsigned>(read % 8)) * 16);
            }
#pragma unroll
            for (int i = 0; i < in_flight; ++i) {
                int const pixel = (number + stride * i) / chunks;
                if (number + stride * i >= all) break;
                float remainder[8];
#pragma unroll
                for (int e = 0; e < 8; ++e) remainder[e] = pixel < copied ? packets[i][e / 4].values[e % 4] : 0;
                store_bf16_terms(remainder, tile + Tiles::chunk_offset(first_pixel + pixel, chunk),
                                 tiles.term_bytes(parts));
            }
        }
    }
};

}  // namespace fusekit::hip
