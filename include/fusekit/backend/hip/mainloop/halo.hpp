// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/copy/halo_box.hpp"
#include "fusekit/backend/hip/epilogue/halo_pool.hpp"
#include "fusekit/backend/hip/epilogue/tma_stage.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/mma/halo_taps.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/schedule/halo.hpp"
#include "fusekit/backend/hip/statistics/grid_totals.hpp"
#include "fusekit/backend/hip/statistics/total_channels.hpp"

namespace fusekit::hip {

/// Implicit GEMM of a Conv or TransposedConv on sm_90a with at most 64 channels of x and of y, stride and dilation 1.
/// The filters of all taps stay in SMEM. The producer TMA-loads a tile of x with its halo once; one of two ping-pong
/// warpgroups reads it once for each filter tap. GemmM is the channels of y, GemmN the pixels. The output tile
/// overwrites the halo's stage and is TMA-stored, which clips elements out of bounds of y. mma::k_loop() is not used,
/// because a stage serves all taps and is released after the epilogue. Of several groups of channels, each CTA has
/// one (copy/halo_groups.hpp).
template <class Plan, class Schedule, Element T, detail::OutputElement U>
class HaloGemm : public TmaKernel {
    static constexpr int pixels = Schedule::pixels, consumers = Schedule::consumers;
    static constexpr int max_taps = Schedule::max_taps, max_stages = Schedule::max_stages;
    static constexpr int row_bytes = bulk_row_bytes(Schedule::channels, sizeof(T));
    static constexpr int result_bytes = Schedule::channels * static_cast<int>(sizeof(U));
    static constexpr bool mn_major = has_transposed_conv<Plan>;
    template <int columns>
    using ProductOf = Wgmma<T, columns, mn_major ? ptx::Major::mn : ptx::Major::k, ptx::Major::k, row_bytes>;
    using Atom = ProductOf<pixels>;
    using Taps = mma::HaloTaps<Atom, ProductOf<pixels / 2>>;
    using Shape = HaloShape<pixels, row_bytes, result_bytes>;
    using Tiles = HaloTiles<Shape, Plan::pools>;
    /// True if the kernel computes convolutions of several groups of channels.
    static constexpr bool grouped = HaloEntry::may_have_groups<Plan, T, U>;
    using Group = HaloGroup<grouped>;
    using Totals = GridTotals<Plan>;
    using Roles = WarpRoles<consumers, typename Totals::template Registers<consumers>>;
    using Results = typename HaloResultsOf<Plan, Atom, T, U>::Type;
    /// True if a thread needs a mask of its pixels in bounds of y: for statistics, or for an Amax in an epilogue that
    /// does not compute coordinates.
    static constexpr bool needs_pixel_mask =
        Plan::totals_tiles || (Plan::Epilogue::maxima > 0 && !Results::reads_coord);
    static constexpr int filter_bytes = Atom::m * Atom::row_bytes;  ///< bytes of the filters of one tap

    /// Numbers of the named barriers: one per warpgroup for its epilogue, from `epilogue_barrier` on, then the two of
    /// PingPong. With promotion the warpgroups are not ordered: one promotes while the other's MMAs run.
    static constexpr unsigned epilogue_barrier = 1;
    using Order = PingPong<!Atom::needs_promotion, epilogue_barrier + consumers>;
    static constexpr unsigned filters_barrier = epilogue_barrier + 2 * consumers;

public:
    using Params = ConvParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;

    struct alignas(1024) DynamicShared {
        unsigned char filters[max_taps * filter_bytes];
        unsigned char halos[Schedule::halo_bytes];
        TmaPipeline<max_stages, 1> pipeline;
        TmaStages<1> filters_full;
        TmaStages<consumers> read_full;
        typename Totals::Shared totals;
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        Tiles const tiles(conv, Schedule::halo_bytes, max_stages);
        Group const group(conv, block);
        Roles const roles(thread);
        begin(thread, [&] {
            shared.filters_full.init();
            shared.read_full.init();
            shared.pipeline.init();
            if constexpr (Plan::totals_tiles) Totals::init(shared.totals, consumers);
        });
        if (roles.begin_producer()) {
            if constexpr (Plan::totals_tiles)
                if (roles.warp != Roles::first_producer)
                    return merge_totals(params, shared, tiles, thread - (Roles::first_producer + 1) * 32, block);
            if (roles.warp == Roles::first_producer && ptx::elect_sync())
                load_halos<mn_major, filter_bytes>(params, conv, shared, tiles, group);
        } else {
            compute(params, conv, shared, tiles, group, thread % 128, roles.group);
        }
    }

private:
    template <class Problem>
    __device__ static void compute(Params const& params, Problem const& conv, DynamicShared& shared, Tiles const& tiles,
                                   Group const& channels, unsigned thread, unsigned group) {
        Results const epilogue(params.bound.epilogue, channels.first_k(), channels.end_k(conv), thread,
                               channels.begin_k());
        TotalChannels<Plan, Atom> totals;
        ThreadPixels<Atom> const own(thread);
        [[maybe_unused]] std::uint64_t in_rows = 0;
        if constexpr (needs_pixel_mask) in_rows = own.in_rows(tiles.shape, conv.extent(conv.y, 3));
        if constexpr (grouped) {
            if (channels.exists() && params.maps.filter_vector > 0) {
                store_halo_filters<mn_major, T>(channels, conv, params.maps.filter_vector, shared.filters,
                                                thread + group * Atom::threads, consumers * Atom::threads);
                ptx::fence_proxy_async();
                ptx::bar_sync(filters_barrier, consumers * Atom::threads);
            } else {
                shared.filters_full.consumer_wait(0, 0);
            }
        } else {
            shared.filters_full.consumer_wait(0, 0);
        }
        auto const at_filters = ptx::shared_address(shared.filters);
        auto const filters = mn_major ? Atom::mn_descriptor(at_filters) : Atom::descriptor(at_filters);
        auto const stages = static_cast<unsigned>(tiles.stages);
        auto const k_blocks = static_cast<unsigned>(detail::divide_up(channels.channels(conv), Atom::k));
        Order const order{group};
        if (group == 1) order.arrive();  // warpgroup 0 runs its MMAs first
        PersistentTile tile{channels.block + group * channels.step, consumers * channels.step, tiles.all};
        for (unsigned i = group; tile.exists(); i += consumers, tile.advance()) {
            auto const state = DynamicPipelineState::after(i, stages);
            auto const halo = tiles.halo(shared, state);
            typename Atom::Accumulators acc[1];
            if constexpr (grouped) {
                if (channels.exists() && conv.group_c() % HaloGroups::packet != 0) {
                    shared.pipeline.consumer_wait(state);
                    zero_other_groups(channels, conv, halo_bytes(shared, tiles, state),
                                      tiles.shape.rows_of_x() * tiles.shape.pitch, static_cast<int>(k_blocks * Atom::k),
                                      thread);
                    ptx::fence_proxy_async();
                    ptx::bar_sync(epilogue_barrier + group, Atom::threads);
                }
            }
            order.wait();
            shared.pipeline.consumer_wait(state);
            multiply(tiles.shape, {filters, Atom::descriptor(halo)}, k_blocks, acc[0], [&] { order.arrive(); });
            bool const is_last = tile.is_last();
            if (is_last) start_next_kernel();
            // the MMAs of all the warpgroup's threads have read the halo
            ptx::bar_sync(epilogue_barrier + group, Atom::threads);
            int const n = tiles.image(tile.number), first = tiles.first_row(tile.number);
            int const remaining = conv.extent(conv.y, 2) - first,
                      rows = remaining < tiles.shape.rows ? remaining : tiles.shape.rows;
            if constexpr (Plan::pools) {
                auto* const staged = reinterpret_cast<float*>(halo_bytes(shared, tiles, state));
                epilogue.stage(acc[0], staged, params.bound.epilogue);
                ptx::bar_sync(epilogue_barrier + group, Atom::threads);
                epilogue.store(staged, tiles.shape.pitch, {n, first, rows, conv.extent(conv.y, 3)}, params.y);
                ptx::fence_proxy_async();  // TMA loads to the stage follow
                ptx::bar_sync(epilogue_barrier + group, Atom::threads);
            } else {
                if constexpr (reads_in_bulk<Plan, T, U>) {
                    if (thread == 0) {
                        auto const full =
                            shared.read_full.producer_expect_tx(group, static_cast<unsigned>(tiles.shape.bytes_of_y()));
                        if constexpr (grouped) {
                            if (channels.exists())
                                ptx::tma_load(halo, &params.read.map, full,
                                              {channels.at_k[0], 0, first, n, channels.at_k[1]});
                            else ptx::tma_load(halo, &params.read.map, full, {0, 0, first, n});
                        } else {
                            ptx::tma_load(halo, &params.read.map, full, {0, 0, first, n});
                        }
                    }
                    shared.read_full.consumer_wait(group, i / consumers % 2);
                }
                [[maybe_unused]] std::uint64_t const of_y = in_rows & own.mask_below(rows * tiles.shape.pitch);
                epilogue.stage(acc[0], halo, params.bound.epilogue, 0, [&](int pixel) {
                    if constexpr (!Results::reads_coord)
                        return Pixel{ThreadPixels<Atom>::has(of_y, pixel) ? n : -1, 0, 0};
                    int const p = pixel / tiles.shape.pitch, q = pixel % tiles.shape.pitch;
                    bool const inside = p < rows && q < conv.extent(conv.y, 3);
                    return Pixel{inside ? n : -1, first + p, q};
                });
                ptx::fence_proxy_async();
                ptx::bar_sync(epilogue_barrier + group, Atom::threads);
                if constexpr (grouped) {
                    if (channels.exists() && conv.group_k() % HaloGroups::packet != 0) {
                        store_group(channels, conv, params.y.data, halo_bytes(shared, tiles, state), n, first, rows,
                                    tiles.shape.pitch, thread);
                        ptx::bar_sync(epilogue_barrier + group, Atom::threads);
                        if (thread == 0) shared.pipeline.consumer_release(state.stage);
                        continue;
                    }
                }
                auto const send = [&] {
                    if (thread != 0) return;
                    if constexpr (grouped) {
                        if (channels.exists())
                            ptx::tma_store(&params.maps.y, halo, {channels.at_k[0], 0, first, n, channels.at_k[1]});
                        else ptx::tma_store(&params.maps.y, halo, {0, 0, first, n});
                    } else {
                        ptx::tma_store(&params.maps.y, halo, {0, 0, first, n});
                    }
                    ptx::bulk_commit_group();
                };
                if constexpr (Plan::totals_tiles) {
                    if (!is_last) send();
                    totals.add(acc, of_y, thread);
                    if (is_last) {
                        Totals::before_put(shared.totals);
                        totals.put(Totals::view(params), channels.block + group * gridDim.x, 0, thread);
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

    __device__ static unsigned char* halo_bytes(DynamicShared& shared, Tiles const& tiles,
                                                DynamicPipelineState const& state) {
        return shared.halos + static_cast<int>(state.stage) * tiles.shape.stage_bytes();
    }

    __device__ static void merge_totals(Params const& params, DynamicShared& shared, Tiles const& tiles,
                                        unsigned thread, unsigned block) {
        unsigned const all = consumers * gridDim.x;
        Totals::merge_shares(params, shared.totals, all < tiles.all ? all : tiles.all, thread, [&](auto const& clear) {
            for (unsigned tile = block; tile < all && tile < tiles.all; tile += gridDim.x) clear(tile, 0, Atom::m);
        });
    }

    /// Accumulates all taps into `acc`. `k_blocks`: k-blocks of a tap that have channels of x. Calls when_all_begun()
    /// after issuing the last MMA.
    template <class WhenAllBegun>
    __device__ static void multiply(Shape const& shape, typename Taps::Tap tap, unsigned k_blocks,
                                    typename Atom::Accumulators& acc, WhenAllBegun const& when_all_begun) {
        int const taps = shape.window_rows * shape.window_columns;
        if constexpr (Atom::needs_promotion) {
            Taps::sum_promoted(tap, taps, shape.window_columns, shape.pitch, k_blocks, acc);
            when_all_begun();
        } else {
#pragma unroll 1
            for (int i = 0; i < taps; ++i, tap.advance(shape.window_columns, shape.pitch)) {
                Taps::template multiply<Atom>(tap.filters, tap.x, acc, i > 0, k_blocks);
                ptx::wgmma_wait<1>();
            }
            when_all_begun();
            mma::wait(acc);
        }
    }
};

}  // namespace fusekit::hip
