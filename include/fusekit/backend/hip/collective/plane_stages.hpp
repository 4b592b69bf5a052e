// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/collective/plane_loader.hpp"
#include "fusekit/backend/hip/collective/stage_ring.hpp"

namespace fusekit::hip {

/// Tiles of x on their way to warpgroups that multiply, `consumers` of them: eight warps copy planes, some steps ahead,
/// and transpose them to one tile while the other is multiplied.
template <class T, class Grid, int parts, int bytes, int consumers>
class PlaneStages {
    static constexpr int most_stages = 4;
    using Tiles = typename Grid::Tiles;
    using Loader = PlaneLoader<T, Tiles::pixels, parts>;

public:
    static constexpr unsigned warps = Loader::warps;  ///< that load
    using Cursor = StageCursor<2>;

    struct Shared {
        unsigned char x[bytes];  ///< from a multiple of 1024 bytes on: two tiles, and planes as they lie
        std::uint64_t planes_full[Loader::groups][most_stages];
        std::uint64_t tiles_full[2], tiles_empty[2];

        /// Called by one thread, before the block's others know of the barriers.
        __device__ void init() {
            for (auto& of_group : planes_full)
                for (auto& full : of_group) ptx::barrier_init(ptx::shared_address(&full), Loader::copying_lanes);
            for (int i = 0; i < 2; ++i) {
                ptx::barrier_init(ptx::shared_address(&tiles_full[i]), warps);
                ptx::barrier_init(ptx::shared_address(&tiles_empty[i]), consumers);
            }
            ptx::fence_barrier_init();
        }
    };

    /// Whether two tiles, and planes of one, leave so many bytes.
    __device__ static bool leaves(Tiles const& tiles, int free_bytes) {
        return tiles.plane_stages(parts, bytes - free_bytes, 1) >= 1;
    }
    __device__ static unsigned char* last(Shared& shared, int free_bytes) { return shared.x + bytes - free_bytes; }

    /// What a loading warp does, with all but the last free_bytes. Named barriers from first_barrier on are those of
    /// warps that share channels.
    template <class Problem>
    __device__ static void load(Problem const& conv, Shared& shared, Tiles const& tiles, Grid const& grid,
                                unsigned warp, unsigned lane, unsigned first_tile, unsigned first_barrier,
                                int free_bytes = 0) {
        Loader const loader(conv.x, tiles, warp, lane);
        int const tile_bytes = tiles.tile_bytes(parts), plane_bytes = tiles.plane_bytes(parts),
                  stages = tiles.plane_stages(parts, bytes - free_bytes, most_stages);
        auto const planes = [&](int stage) {
            return reinterpret_cast<T*>(shared.x + 2 * tile_bytes + stage * plane_bytes);
        };
        auto const full = [&](int stage) { return ptx::shared_address(&shared.planes_full[loader.group][stage]); };
        typename Grid::Step ahead(grid, first_tile), step(grid, first_tile);
        auto const copy = [&](int stage) {
            if (!loader.copies || !ahead.exists()) return;
            loader.copy(ahead, ahead.block * Tiles::channels, planes(stage), full(stage));
            ahead.advance();
        };
        for (int stage = 0; stage < stages; ++stage) copy(stage);
        Cursor cursor;
        int stage = 0;
        unsigned parity = 0;
#pragma unroll 1
        for (; step.exists(); step.advance(), cursor.advance()) {
            ptx::barrier_wait(full(stage), parity);
            ptx::barrier_wait(ptx::shared_address(&shared.tiles_empty[cursor.stage]), cursor.parity ^ 1);
            loader.transpose(step, step.block * Tiles::channels, planes(stage),
                             shared.x + static_cast<int>(cursor.stage) * tile_bytes);
            ptx::fence_shared_memory();
            if constexpr (Loader::sharing == 1) ptx::sync_wave();
            else ptx::named_barrier_sync(first_barrier + loader.group, Loader::sharing * 32);
            if (lane == 0) ptx::barrier_arrive(ptx::shared_address(&shared.tiles_full[cursor.stage]));
            copy(stage);
            if (++stage == stages) stage = 0, parity ^= 1;
        }
    }

    /// Waits for a tile.
    __device__ static void await(Shared& shared, Cursor const& cursor) {
        ptx::barrier_wait(ptx::shared_address(&shared.tiles_full[cursor.stage]), cursor.parity);
    }
    /// Says that the thread's warpgroup has read a tile.
    __device__ static void release(Shared& shared, unsigned stage, unsigned thread) {
        if (thread == 0) ptx::barrier_arrive(ptx::shared_address(&shared.tiles_empty[stage]));
    }
    /// The address of a tile.
    __device__ static std::uint32_t address(Shared& shared, Tiles const& tiles, Cursor const& cursor) {
        return ptx::shared_address(shared.x) + cursor.stage * static_cast<unsigned>(tiles.tile_bytes(parts));
    }
};

}  // namespace fusekit::hip
