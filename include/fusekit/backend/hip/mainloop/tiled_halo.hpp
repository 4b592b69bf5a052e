// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/copy/tiled_halo.hpp"
#include "fusekit/backend/hip/epilogue/halo_pool.hpp"
#include "fusekit/backend/hip/epilogue/tma_stage.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/mma/halo_taps.hpp"
#include "fusekit/backend/hip/mma/k_loop.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/statistics/grid_totals.hpp"
#include "fusekit/backend/hip/statistics/total_channels.hpp"

namespace fusekit::hip {

/// HaloGemm for images whose rows have several tiles, and for more than 64 channels of x or y. A CTA computes 64
/// channels of y. With at most 64 channels of x their filters of all taps stay in SMEM; else a stage has 64 channels of
/// x, and TMA loads its filters tap by tap. If a row of y has several tiles, each row of a tile is stored by itself,
/// which omits the gap after it. A kernel of its own: HaloGemm takes 7 % less time where both can run.
template <class Plan, class Schedule, Element T, detail::OutputElement U>
class TiledHaloGemm : public TmaKernel {
    static constexpr int pixels = Schedule::pixels, consumers = Schedule::consumers;
    static constexpr int max_taps = Schedule::max_taps, max_stages = Schedule::max_stages;
    static constexpr int row_bytes = bulk_row_bytes(Schedule::channels, sizeof(T));
    static constexpr int result_bytes = Schedule::channels * static_cast<int>(sizeof(U));
    static constexpr bool mn_major = has_transposed_conv<Plan>;
    template <int columns>
    using ProductOf = Wgmma<T, columns, mn_major ? ptx::Major::mn : ptx::Major::k, ptx::Major::k, row_bytes>;
    using Atom = ProductOf<pixels>;
    using Taps = mma::HaloTaps<Atom, ProductOf<pixels / 2>>;
    using Totals = GridTotals<Plan>;
    using Roles = WarpRoles<consumers, typename Totals::template Registers<consumers>>;
    using Results = typename HaloResultsOf<Plan, Atom, T, U>::Type;
    /// Ring of the filters of one tap and 64 channels of x; if all fit, they stay, and only its first barrier is used.
    using FilterPipeline = TmaPipeline<max_taps, 1>;
    /// True if a thread needs a mask of its pixels in bounds of y: for statistics, or for an Amax in an epilogue that
    /// does not compute coordinates.
    static constexpr bool needs_pixel_mask =
        Plan::totals_tiles || (Plan::Epilogue::maxima > 0 && !Results::reads_coord);
    static constexpr int filter_bytes = Atom::m * Atom::row_bytes;  ///< bytes of the filters of one tap

    /// Numbers of the named barriers: one per warpgroup for its epilogue, from `epilogue_barrier` on, then the two of
    /// PingPong. With promotion the warpgroups are not ordered: one promotes while the other's MMAs run.
    static constexpr unsigned epilogue_barrier = 1;
    using Order = PingPong<!Atom::needs_promotion, epilogue_barrier + consumers>;

public:
    using Params = ConvParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;

    struct alignas(1024) DynamicShared {
        unsigned char filters[max_taps * filter_bytes];
        unsigned char halos[Schedule::halo_bytes];
        TmaPipeline<max_stages, 1> pipeline;
        FilterPipeline filter_pipeline;
        TmaStages<consumers> read_full;
        typename Totals::Shared totals;

        /// Shared-memory address of a stage: a tile of x, halo included.
        __device__ std::uint32_t halo(TiledHalo const& tiles, int stage) const {
            return ptx::shared_address(halos) + static_cast<unsigned>(stage * tiles.stage_bytes);
        }
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        Roles const roles(thread);
        begin(thread, [&] {
            shared.read_full.init();
            shared.pipeline.init();
            shared.filter_pipeline.init();
            if constexpr (Plan::totals_tiles) Totals::init(shared.totals, consumers);
        });
        if (roles.begin_producer()) {
            if constexpr (Plan::totals_tiles)
                if (roles.warp != Roles::first_producer)
                    return merge_totals(params, shared, thread - (Roles::first_producer + 1) * 32, block);
            if (roles.warp == Roles::first_producer && ptx::elect_sync())
                load_tiled_halos<mn_major, filter_bytes>(params, conv, shared, block);
        } else {
            compute(params, conv, shared, thread % 128, roles.group, block);
        }
    }

private:
    template <class Problem>
    __device__ static void compute(Params const& params, Problem const& conv, DynamicShared& shared, unsigned thread,
                                   unsigned group, unsigned block) {
        TiledHalo const& tiles = params.tiled_halo;
        int const first_channel = tiles.first_channel(block);
        Results const epilogue(params.bound.epilogue, first_channel, conv.group_k(), thread);
        TotalChannels<Plan, Atom> totals;
        ThreadPixels<Atom> const own(thread);
        [[maybe_unused]] std::uint64_t in_rows = 0;
        if constexpr (needs_pixel_mask) in_rows = own.in_rows(tiles, tiles.columns);
        if (!tiles.streams_filters()) shared.filter_pipeline.consumer_wait(0, 0);
        auto const at_filters = ptx::shared_address(shared.filters);
        auto const filters = mn_major ? Atom::mn_descriptor(at_filters) : Atom::descriptor(at_filters);
        auto const stages = static_cast<unsigned>(tiles.stages), c_blocks = static_cast<unsigned>(tiles.blocks);
        Order const order{group};
        if (group == 1) order.arrive();  // warpgroup 0 runs its MMAs first
        PersistentTile tile{block + group * gridDim.x, consumers * gridDim.x, tiles.all};
        for (unsigned i = group; tile.exists(); i += consumers, tile.advance()) {
            typename Atom::Accumulators acc[1];
            order.wait();
            multiply(shared, tiles, filters, i, conv.group_c(), thread, acc[0], [&] { order.arrive(); });
            auto const state = DynamicPipelineState::after(i * c_blocks + c_blocks - 1, stages);
            auto const halo = shared.halo(tiles, state.stage);
            bool const is_last = tile.is_last();
            if (is_last) start_next_kernel();
            // the MMAs of all the warpgroup's threads have read the halo
            ptx::bar_sync(epilogue_barrier + group, Atom::threads);
            HaloTile const of_y(tiles, conv, tile.number);
            if constexpr (Plan::pools) {
                auto* const staged =
                    reinterpret_cast<float*>(shared.halos + static_cast<int>(state.stage) * tiles.stage_bytes);
                epilogue.stage(acc[0], staged, params.bound.epilogue);
                ptx::bar_sync(epilogue_barrier + group, Atom::threads);
                epilogue.store(staged, tiles.pitch, of_y, params.y);
                ptx::fence_proxy_async();  // TMA loads to the stage follow
                ptx::bar_sync(epilogue_barrier + group, Atom::threads);
            } else {
                if constexpr (reads_in_bulk<Plan, T, U>) {
                    if (thread == 0) {
                        auto const full = shared.read_full.producer_expect_tx(
                            group, static_cast<unsigned>(bytes_of_boxes(tiles, of_y)));
                        for_each_box(tiles, of_y, halo, [&](std::uint32_t to, int row) {
                            ptx::tma_load(to, &params.read.map, full, {first_channel, of_y.column, row, of_y.n});
                        });
                    }
                    shared.read_full.consumer_wait(group, i / consumers % 2);
                }
                [[maybe_unused]] std::uint64_t in_bounds = in_rows;
                if constexpr (needs_pixel_mask) {
                    if (of_y.columns < tiles.columns) in_bounds = own.in_rows(tiles, of_y.columns);
                    in_bounds &= own.mask_below(of_y.rows * tiles.pitch);
                }
                epilogue.stage(acc[0], halo, params.bound.epilogue, 0, [&](int pixel) {
                    if constexpr (!Results::reads_coord)
                        return Pixel{ThreadPixels<Atom>::has(in_bounds, pixel) ? of_y.n : -1, 0, 0};
                    int const p = pixel / tiles.pitch, q = pixel % tiles.pitch;
                    bool const inside = p < of_y.rows && q < of_y.columns;
                    return Pixel{inside ? of_y.n : -1, of_y.row + p, of_y.column + q};
                });
                ptx::fence_proxy_async();
                ptx::bar_sync(epilogue_barrier + group, Atom::threads);
                auto const send = [&] {
                    if (thread != 0) return;
                    for_each_box(tiles, of_y, halo, [&](std::uint32_t from, int row) {
                        ptx::tma_store(&params.maps.y, from, {first_channel, of_y.column, row, of_y.n});
                    });
                    ptx::bulk_commit_group();
                };
                if constexpr (Plan::totals_tiles) {
                    if (!is_last) send();
                    totals.add(acc, in_bounds, thread);
                    if (is_last) {
                        Totals::before_put(shared.totals);
                        totals.put(Totals::view(params), block + group * gridDim.x, 0, thread);
                        send();  // the TMA store overlaps the merge of the statistics
                    }
                } else {
                    send();
                }
            }
            if (thread == 0) {
                ptx::bulk_wait_group_read();
                shared.pipeline.consumer_release(state.stage);
            }
        }
        if constexpr (Plan::totals_tiles)
            if (thread == 0) Totals::after_put(shared.totals);
    }

    /// Bytes of the boxes of a tile of y.
    __device__ static int bytes_of_boxes(TiledHalo const& tiles, HaloTile const& of_y) {
        return (tiles.splits_rows() ? of_y.rows * tiles.columns : tiles.rows * tiles.pitch) * result_bytes;
    }
    /// Calls f(SMEM address, first row of y) for each box of a tile of y, which is staged at `staged`.
    template <class F>
    __device__ static void for_each_box(TiledHalo const& tiles, HaloTile const& of_y, std::uint32_t staged,
                                        F const& f) {
        if (!tiles.splits_rows()) {
            f(staged, of_y.row);
            return;
        }
#pragma unroll 1
        for (int p = 0; p < of_y.rows; ++p) f(staged + static_cast<std::uint32_t>(p * tiles.box_step), of_y.row + p);
    }

    __device__ static void merge_totals(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        TiledHalo const& tiles = params.tiled_halo;
        unsigned const all = consumers * gridDim.x;
        Totals::merge_shares(params, shared.totals, all < tiles.all ? all : tiles.all, thread, [&](auto const& clear) {
            for (unsigned tile = block; tile < all && tile < tiles.all; tile += gridDim.x) clear(tile, 0, Atom::m);
        });
    }

    /// Accumulates all taps of the CTA's tile number i into `acc`. Calls when_all_begun() after issuing the last MMA.
    /// Releases all stages of x but the last.
    template <class WhenAllBegun>
    __device__ static void multiply(DynamicShared& shared, TiledHalo const& tiles, std::uint64_t filters, unsigned i,
                                    int channels, unsigned thread, typename Atom::Accumulators& acc,
                                    WhenAllBegun const& when_all_begun) {
        auto const taps = static_cast<unsigned>(tiles.taps), c_blocks = static_cast<unsigned>(tiles.blocks);
        if constexpr (Atom::needs_promotion) {
            auto const state = DynamicPipelineState::after(i, static_cast<unsigned>(tiles.stages));
            auto const k_blocks = static_cast<unsigned>(divide_up_32(channels, Atom::k));
            shared.pipeline.consumer_wait(state);
            typename Taps::Tap tap{filters, Atom::descriptor(shared.halo(tiles, state.stage))};
            Taps::sum_promoted(tap, tiles.taps, tiles.window_columns, tiles.pitch, k_blocks, acc);
            when_all_begun();
        } else {
            bool const streams = tiles.streams_filters();
            auto state = DynamicPipelineState::after(i * c_blocks, static_cast<unsigned>(tiles.stages)), last = state;
            typename FilterPipeline::State slot, last_slot;
            if (streams) slot.advance(i * c_blocks * taps);
            mma::ChannelBlocks<Atom> of_channels(channels);
            bool accumulates = false;
#pragma unroll 1
            for (unsigned block = 0; block < c_blocks; ++block) {
                shared.pipeline.consumer_wait(state);
                typename Taps::Tap tap{filters, Atom::descriptor(shared.halo(tiles, state.stage))};
                unsigned const k_blocks = of_channels.next();
#pragma unroll 1
                for (unsigned t = 0; t < taps; ++t, tap.advance(tiles.window_columns, tiles.pitch)) {
                    if (streams) {
                        shared.filter_pipeline.consumer_wait(slot);
                        tap.filters = filters + slot.stage * Atom::row_offset(Atom::m);
                    }
                    Taps::template multiply<Atom>(tap.filters, tap.x, acc, accumulates, k_blocks);
                    ptx::wgmma_wait<1>();
                    if (streams) {
                        if (thread == 0 && accumulates) {
                            shared.filter_pipeline.consumer_release(last_slot.stage);
                            if (t == 0) shared.pipeline.consumer_release(last.stage);
                        }
                        last_slot = slot;
                        slot.advance();
                    }
                    accumulates = true;
                }
                last = state;
                state.advance();
            }
            when_all_begun();
            mma::wait(acc);
            if (streams && thread == 0) shared.filter_pipeline.consumer_release(last_slot.stage);
        }
    }
};

}  // namespace fusekit::hip
