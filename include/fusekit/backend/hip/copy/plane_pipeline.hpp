// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/copy/bf16x3_split.hpp"
#include "fusekit/backend/hip/copy/nchw_transpose.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"

namespace fusekit::hip {

/// Producer of transposed tiles of NCHW x for `consumers` MMA warpgroups. Eight warps copy planes of x to a ring of
/// SMEM stages, several channel blocks (Tiles::channels channels of a tile) ahead, and transpose them into one of two
/// SMEM tiles while MMAs read the other. Splits channels-last floats instead of transposing.
template <class T, class Grid, int parts, int bytes, int consumers>
class PlaneStages {
    static constexpr int max_stages = 4;
    using Tiles = typename Grid::Tiles;
    using Warps = PlaneWarps<Tiles>;
    using Copies = PlaneCopies<T, Grid, parts>;

public:
    static constexpr unsigned warps = Warps::warps;  ///< number of producer warps
    using Pipeline = TmaPipeline<2, consumers, warps>;  ///< pipeline of the two transposed tiles
    using State = typename Pipeline::State;

    struct Shared {
        /// two transposed tiles, then the ring of stages, which have x's layout; aligned to 1024 bytes
        unsigned char x[bytes];
        TmaStages<max_stages> planes[Warps::groups];
        Pipeline tiles;

        /// Initializes the mbarriers. One thread calls it before the CTA's other threads use them.
        __device__ void init(Tiles const& shape) {
            for (auto& of_group : planes) of_group.init(shape.channels_last ? 1 : Copies::lanes);
            tiles.init();
        }
    };

    /// True if two transposed tiles and at least one stage of planes fit SMEM without its last `free_bytes` bytes.
    __device__ static bool fits(Tiles const& tiles, int free_bytes) {
        return tiles.plane_stages(parts, bytes - free_bytes, 1) >= 1;
    }
    __device__ static unsigned char* last(Shared& shared, int free_bytes) { return shared.x + bytes - free_bytes; }

    /// Code of a producer warp: loads and transposes the tiles of x of all of this CTA's output tiles, from
    /// `first_tile` on, without the last `free_bytes` bytes of Shared::x. Uses the named barriers from number
    /// `first_barrier` on, one per group of warps (PlaneWarps); for channels-last x only number `first_barrier`, for
    /// all producer warps.
    template <class Params, class Problem>
    __device__ static void load(Params const& params, Problem const& conv, Shared& shared, Tiles const& tiles,
                                Grid const& grid, unsigned warp, unsigned lane, unsigned first_tile,
                                unsigned first_barrier, int free_bytes = 0) {
        if constexpr (sizeof(T) == 4)
            if (tiles.channels_last) {
                PixelSplitter<Grid, parts, warps> splitter(params.maps.x, tiles, grid, warp * 32 + lane, first_tile);
                return run_steps(
                    shared, tiles, grid, 0, lane, first_tile, free_bytes, splitter,
                    [&](bool, auto const&, T const* pixels, unsigned char* tile) { splitter.split(pixels, tile); },
                    [&] { ptx::bar_sync(first_barrier, warps * 32); });
            }
        unsigned const group = warp / Warps::sharing;
        Copies copies(conv.x, tiles, grid, warp, lane, first_tile);
        PlaneTransposer<T, Grid, parts> transposer(tiles, grid, static_cast<int>(conv.x.layout.shape[1]), warp, lane);
        run_steps(
            shared, tiles, grid, group, lane, first_tile, free_bytes, copies,
            [&](bool begins, auto const& step, T const* planes, unsigned char* tile) {
                if (begins) transposer.begin(step.tile);
                transposer.transpose(step.block, planes, tile);
            },
            [&] {
                if constexpr (Warps::sharing == 1) ptx::bar_warp_sync();
                else ptx::bar_sync(first_barrier + group, Warps::sharing * 32);
            });
    }

    /// Shared-memory address of the transposed tile at `state`.
    __device__ static std::uint32_t address(Shared& shared, Tiles const& tiles, State const& state) {
        return ptx::shared_address(shared.x) + state.stage * static_cast<unsigned>(tiles.tile_bytes(parts));
    }

private:
    /// Runs a warp through all tiles and channel blocks. `copies` fills the stages of the warp's group.
    /// make_tile(begins, step, from, tile) transposes the stage `from` to the SMEM tile `tile`; `begins` is true for
    /// the first channel block of an output tile. sync() synchronizes the warps that read the same stage.
    template <class Copying, class MakeTile, class Sync>
    __device__ static void run_steps(Shared& shared, Tiles const& tiles, Grid const& grid, unsigned group,
                                     unsigned lane, unsigned first_tile, int free_bytes, Copying& copies,
                                     MakeTile const& make_tile, Sync const& sync) {
        int const tile_bytes = tiles.tile_bytes(parts), plane_bytes = tiles.plane_bytes(parts),
                  stages = tiles.plane_stages(parts, bytes - free_bytes, max_stages);
        auto const& full = shared.planes[group];
        auto const planes = [&](int stage) {
            return reinterpret_cast<T*>(shared.x + 2 * tile_bytes + stage * plane_bytes);
        };
        DynamicPipelineState read{stages};
        for (int stage = 0; stage < read.stages; ++stage) copies.begin(planes(stage), full.barrier(stage));
        State write;
        bool begins = true;
        typename Grid::Step step(grid, first_tile);
#pragma unroll 1
        for (; step.is_valid(); begins = step.advance(), write.advance()) {
            full.consumer_wait(read);
            shared.tiles.producer_acquire(write);
            make_tile(begins, step, planes(read.stage), shared.x + static_cast<int>(write.stage) * tile_bytes);
            ptx::fence_proxy_async();
            sync();
            if (lane == 0) shared.tiles.producer_commit(write.stage);
            copies.begin(planes(read.stage), full.barrier(read.stage));
            read.advance();
        }
    }
};

}  // namespace fusekit::hip
