// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/collective/filter_loader.hpp"
#include "fusekit/backend/hip/collective/plane_loader.hpp"
#include "fusekit/backend/hip/collective/stage_ring.hpp"
#include "fusekit/backend/hip/collective/store_planes.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// Convolution of planes on sm_90a's matrix units, stride and dilation 1. Channels are the rows of the product, and
/// places of the parts of a tile of y its columns. A warpgroup brings filters, and x, which it transposes once for all
/// taps; two multiply, 64 channels each, and take their sums to y. GemmK is walked in blocks of 64 channels of x,
/// and in each by slices of 16 of them and a tap: channels first where params.channels_fastest, else taps.
template <class Plan, class Schedule, Element T>
class PlanesGemm {
    static constexpr int parts = Schedule::parts, consumers = Schedule::consumers;
    static constexpr int filter_stages = Schedule::filter_stages, most_stages = 4;
    using Atom = Wgmma<T, Schedule::pixels>;
    using Tiles = PlaneTiles<Schedule::pixels>;
    using Loader = PlaneLoader<T, Schedule::pixels, parts>;
    static constexpr int filters = consumers * Atom::m, filter_bytes = filters * Atom::row_bytes;
    using Filters = FilterLoader<T, filters>;
    using Writer = StorePlanes<Plan, Atom, T, parts>;
    using Sums = typename Atom::Sums[parts];
    static constexpr unsigned loader_barrier = 1;

public:
    using Params = ConvParams<Plan, T, T>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    static constexpr bool waits_for_previous_kernel = true, reads_argument_in_place = true;

    struct alignas(1024) DynamicShared {
        unsigned char filters[filter_stages * filter_bytes];
        unsigned char x[Schedule::x_bytes];  ///< two tiles, and planes as they lie
        typename Writer::Shared writers[4 * consumers];
        std::uint64_t planes_full[most_stages];
        StageBarriers<2, consumers> tiles;
        std::uint64_t filters_full[filter_stages], filters_empty[filter_stages];
    };

    static_assert(sizeof(DynamicShared) <= 227 * 1024, "a block of sm_90 has so much");

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        Tiles const tiles(conv.y[2], conv.y[3], conv.x.layout.shape[2], conv.x.layout.shape[3], conv.filter);
        Grid const grid(conv, tiles);
        unsigned const warp = ptx::uniform(thread / 32), group = warp / 4;
        if (thread == 0) {
            for (auto& full : shared.planes_full) ptx::barrier_init(ptx::shared_address(&full), 32);
            for (int i = 0; i < filter_stages; ++i) {
                ptx::barrier_init(ptx::shared_address(&shared.filters_full[i]),
                                  params.channels_fastest ? 1 : Filters::threads);
                ptx::barrier_init(ptx::shared_address(&shared.filters_empty[i]), consumers);
            }
            shared.tiles.init();
        }
        __syncthreads();
        wait_for_previous_kernel();
        if (group == consumers) load(params, conv, shared, tiles, grid, thread % 128, block);
        else compute(params, conv, shared, tiles, grid, thread % 128, group, block);
    }

private:
    /// The tiles of y: blocks whose numbers neighbour share pixels.
    struct Grid {
        unsigned of_image, of_pixels, columns, all;
        int channel_blocks;

        template <class Problem>
        __device__ Grid(Problem const& conv, Tiles const& tiles)
            : of_image(static_cast<unsigned>(tiles.of_image)),
              of_pixels(of_image * static_cast<unsigned>(conv.y[0])),
              columns(static_cast<unsigned>(detail::divide_up(conv.group_k(), filters))),
              all(static_cast<unsigned>(detail::divide_up(of_pixels, parts)) * columns),
              channel_blocks(static_cast<int>(detail::divide_up(conv.group_c(), Tiles::channels))) {}

        __device__ int first_channel(unsigned tile) const { return static_cast<int>(tile % columns) * filters; }
        __device__ PlanePart part(unsigned tile, int i, Tiles const& of) const {
            unsigned const number = tile / columns * parts + static_cast<unsigned>(i);
            if (number >= of_pixels) return {-1, 0};
            return {static_cast<int>(number / of_image), static_cast<int>(number % of_image) * of.rows};
        }
    };

    /// A place in the order in which a block takes its tiles and, of each, blocks of channels.
    struct Step {
        unsigned tile;
        int block;

        __device__ void advance(Grid const& grid) {
            if (++block < grid.channel_blocks) return;
            block = 0, tile += gridDim.x;
        }
    };

    /// The loading warpgroup: of each step x, then filters. Copied filters come first where stages hold a step's beside
    /// the last of the step before, which is free once the next x is multiplied.
    template <class Problem>
    __device__ static void load(Params const& params, Problem const& conv, DynamicShared& shared, Tiles const& tiles,
                                Grid const& grid, unsigned thread, unsigned first_tile) {
        Loader const loader(conv.x, tiles);
        int const tile_bytes = tiles.tile_bytes(parts), plane_bytes = tiles.plane_bytes(parts),
                  stages = tiles.plane_stages(parts, Schedule::x_bytes, most_stages);
        bool const first_warp = ptx::uniform(thread / 32) == 0, copies_filters = params.channels_fastest,
                   filters_first = copies_filters && tiles.taps() < filter_stages;
        auto const planes = [&](int stage) {
            return reinterpret_cast<T*>(shared.x + 2 * tile_bytes + stage * plane_bytes);
        };
        Step ahead{first_tile, 0};
        auto const copy_planes = [&](int stage) {
            if (ahead.tile >= grid.all) return;
            loader.copy([&](int i) { return grid.part(ahead.tile, i, tiles); }, ahead.block * Tiles::channels,
                        planes(stage), ptx::shared_address(&shared.planes_full[stage]), thread % 32);
            ahead.advance(grid);
        };
        StageCursor<2> x_cursor;
        StageCursor<filter_stages> w_cursor;
        if (first_warp)
            for (int stage = 0; stage < stages; ++stage) copy_planes(stage);
        Filters const filters_loader(conv.w, thread);
        typename Filters::Slice next_filters;
        if constexpr (Plan::Head::longest >= 3)
            if (!copies_filters) filters_loader.load(next_filters, grid.first_channel(first_tile), 0);
        int stage = 0;
        unsigned parity = 0;
#pragma unroll 1
        for (Step step{first_tile, 0}; step.tile < grid.all; step.advance(grid)) {
            auto const copy_filters = [&] {
                if (first_warp && ptx::elect()) load_filters(params, conv, shared, grid, step, w_cursor);
                w_cursor.advance(static_cast<unsigned>(tiles.taps()));
            };
            if (filters_first) copy_filters();
            ptx::barrier_wait(ptx::shared_address(&shared.planes_full[stage]), parity);
            ptx::barrier_wait(ptx::shared_address(&shared.tiles.empty[x_cursor.stage]), x_cursor.parity ^ 1);
            loader.transpose([&](int i) { return grid.part(step.tile, i, tiles); }, step.block * Tiles::channels,
                             planes(stage), shared.x + static_cast<int>(x_cursor.stage) * tile_bytes, thread);
            ptx::fence_shared_memory();
            ptx::named_barrier_sync(loader_barrier, Loader::threads);
            if (thread == 0) ptx::barrier_arrive(ptx::shared_address(&shared.tiles.full[x_cursor.stage]));
            if (first_warp) copy_planes(stage);
            x_cursor.advance();
            if (++stage == stages) stage = 0, parity ^= 1;
            if (!copies_filters) {
                if constexpr (Plan::Head::longest >= 3)
                    transpose_filters(filters_loader, next_filters, shared, grid, step, w_cursor);
            } else if (!filters_first) {
                copy_filters();
            }
        }
    }

    /// One thread's copies of a step's filters, whose channels are neighbours.
    template <class Problem>
    __device__ static void load_filters(Params const& params, Problem const& conv, DynamicShared& shared,
                                        Grid const& grid, Step const& step, StageCursor<filter_stages> cursor) {
        for (int r = 0; r < conv.window_rows(); ++r)
            for (int s = 0; s < conv.window_columns(); ++s, cursor.advance()) {
                auto const full = ptx::shared_address(&shared.filters_full[cursor.stage]);
                ptx::barrier_wait(ptx::shared_address(&shared.filters_empty[cursor.stage]), cursor.parity ^ 1);
                ptx::barrier_arrive_expect_bytes(full, filter_bytes);
                ptx::load_tiled(ptx::shared_address(shared.filters + cursor.stage * filter_bytes), &params.maps.w, full,
                                {step.block * Tiles::channels, s, r, grid.first_channel(step.tile)});
            }
    }

    /// The warpgroup's transposition of a step's filters, whose taps are neighbours. `next` is their first slice, and
    /// then that of the step that follows, which comes while x is transposed.
    __device__ static void transpose_filters(Filters const& loader, typename Filters::Slice& next,
                                             DynamicShared& shared, Grid const& grid, Step step,
                                             StageCursor<filter_stages>& cursor) {
#pragma unroll 1
        for (unsigned slice = 0; slice < 4; ++slice) {
            loader.store(
                next, slice * 9,
                [&] {
                    ptx::barrier_wait(ptx::shared_address(&shared.filters_empty[cursor.stage]), cursor.parity ^ 1);
                    return shared.filters + cursor.stage * filter_bytes;
                },
                [&] {
                    ptx::fence_shared_memory();
                    ptx::barrier_arrive(ptx::shared_address(&shared.filters_full[cursor.stage]));
                    cursor.advance();
                });
            if (slice == 3) step.advance(grid);
            if (step.tile < grid.all)
                loader.load(next, grid.first_channel(step.tile),
                            step.block * Tiles::channels + static_cast<int>((slice + 1) % 4) * 16);
        }
    }

    template <class Problem>
    __device__ static void compute(Params const& params, Problem const& conv, DynamicShared& shared, Tiles const& tiles,
                                   Grid const& grid, unsigned thread, unsigned group, unsigned first_tile) {
        StageCursor<2> x_cursor;
        StageCursor<filter_stages> w_cursor;
        for (unsigned tile = first_tile; tile < grid.all; tile += gridDim.x) {
            int const first = grid.first_channel(tile) + static_cast<int>(group) * Atom::m;
            if (first >= conv.group_k()) {
                pass(shared, x_cursor, w_cursor, grid.channel_blocks, tiles.taps(), thread, group);
                continue;
            }
            Writer const writer(params, tiles, first, thread);
            Sums sums;
            multiply(params, shared, tiles, sums, x_cursor, w_cursor, grid.channel_blocks, thread, group);
            if (tile + gridDim.x >= grid.all) start_next_kernel();
            writer.store(
                sums, [&](int i) { return grid.part(tile, i, tiles); }, shared.writers[group * 4 + thread / 32]);
        }
    }

    /// Lets the stages of a tile go by of which the warpgroup has no channels. One thread sees each of them; others
    /// wait for it, or the parity of a barrier would mean another phase to them.
    __device__ static void pass(DynamicShared& shared, StageCursor<2>& x_cursor, StageCursor<filter_stages>& w_cursor,
                                int blocks_of_channels, int taps, unsigned thread, unsigned group) {
        auto const see = [&](std::uint64_t& full, std::uint64_t& empty, unsigned parity) {
            if (thread != 0) return;
            ptx::barrier_wait(ptx::shared_address(&full), parity);
            ptx::barrier_arrive(ptx::shared_address(&empty));
        };
#pragma unroll 1
        for (int block = 0; block < blocks_of_channels; ++block, x_cursor.advance()) {
#pragma unroll 1
            for (int i = 0; i < taps; ++i, w_cursor.advance())
                see(shared.filters_full[w_cursor.stage], shared.filters_empty[w_cursor.stage], w_cursor.parity);
            see(shared.tiles.full[x_cursor.stage], shared.tiles.empty[x_cursor.stage], x_cursor.parity);
        }
        ptx::named_barrier_sync(loader_barrier + 1 + group, Atom::threads);
    }

    /// A tile's products: a stage of filters is one group, and is free when the next one's are under way.
    __device__ static void multiply(Params const& params, DynamicShared& shared, Tiles const& tiles, Sums& sums,
                                    StageCursor<2>& x_cursor, StageCursor<filter_stages>& w_cursor,
                                    int blocks_of_channels, unsigned thread, unsigned group) {
        auto const release = [&](std::uint64_t& empty) {
            if (thread == 0) ptx::barrier_arrive(ptx::shared_address(&empty));
        };
        int const taps = tiles.taps(), tile_bytes = tiles.tile_bytes(parts);
        bool const channels_first = params.channels_fastest;
        constexpr int slices = Atom::tile_k / Atom::k;
        unsigned previous = 0;
#pragma unroll 1
        for (int block = 0; block < blocks_of_channels; ++block) {
            ptx::barrier_wait(ptx::shared_address(&shared.tiles.full[x_cursor.stage]), x_cursor.parity);
            auto const x =
                Atom::descriptor(ptx::shared_address(shared.x) + x_cursor.stage * static_cast<unsigned>(tile_bytes));
            int row = 0, column = 0, slice = 0;  // of the tap and of channels
#pragma unroll 1
            for (int stage = 0; stage < taps; ++stage) {
                unsigned const now = w_cursor.stage;
                ptx::barrier_wait(ptx::shared_address(&shared.filters_full[now]), w_cursor.parity);
                auto const w = Atom::descriptor(ptx::shared_address(shared.filters + now * filter_bytes)) +
                               Atom::rows_further(static_cast<int>(group) * Atom::m);
                std::uint64_t of_slice[slices];
#pragma unroll
                for (auto& each : of_slice) {
                    each = x + Atom::rows_further(row * tiles.pitch + column) +
                           static_cast<unsigned>(slice) * Atom::k_step;
                    if (channels_first && ++slice < slices) continue;
                    if (channels_first) slice = 0;
                    if (++column == tiles.window_columns) column = 0, ++row;
                    if (!channels_first && row == tiles.window_rows) row = 0, ++slice;
                }
#pragma unroll
                for (int i = 0; i < parts; ++i) ptx::hold(sums[i]);
                ptx::fence_products();
#pragma unroll
                for (int k = 0; k < slices; ++k)
#pragma unroll
                    for (int i = 0; i < parts; ++i)
                        Atom::multiply(sums[i], w + static_cast<unsigned>(k) * Atom::k_step,
                                       of_slice[k] + Atom::rows_further(i * tiles.places()), block + stage + k > 0);
                ptx::commit_products();
                ptx::wait_for_products<1>();
                if (stage == 0 && block > 0) release(shared.tiles.empty[x_cursor.stage ^ 1]);
                if (block + stage > 0) release(shared.filters_empty[previous]);
                previous = now;
                w_cursor.advance();
            }
            x_cursor.advance();
        }
        ptx::wait_for_products<0>();
#pragma unroll
        for (int i = 0; i < parts; ++i) ptx::hold(sums[i]);
        release(shared.filters_empty[previous]);
        release(shared.tiles.empty[x_cursor.stage ^ 1]);
    }
};

}  // namespace fusekit::hip
