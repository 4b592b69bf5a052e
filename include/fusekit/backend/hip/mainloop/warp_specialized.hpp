// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/collective/split_k.hpp"
#include "fusekit/backend/hip/collective/tail_exchange.hpp"
#include "fusekit/backend/hip/copy/copied_rows.hpp"
#include "fusekit/backend/hip/copy/packed_taps.hpp"
#include "fusekit/backend/hip/copy/tma_multicast.hpp"
#include "fusekit/backend/hip/epilogue/tma_store.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/mma/k_loop.hpp"
#include "fusekit/backend/hip/schedule/stream_k_tail.hpp"
#include "fusekit/backend/hip/schedule/warp_specialized.hpp"
#include "fusekit/backend/hip/statistics/grid_totals.hpp"
#include "fusekit/backend/hip/tile_order.hpp"

namespace fusekit::hip {

/// Warp-specialized implicit GEMM on sm_90a for channels-last tensors. Two producer threads TMA-load an operand each
/// into a ring of SMEM stages; consumer warpgroups run the MMAs, cooperatively or in ping-pong
/// (schedule/warp_specialized.hpp), and the epilogue. GemmM is the channels of y and GemmN the pixels: a thread has two
/// channels of an accumulator tile, and keeps their epilogue parameters and statistics in registers. CTAs are
/// persistent: the loads of the next output tile overlap the epilogue of the previous one. With params.split_k.count >
/// 1 the grid has clusters of this size, and a cluster computes a tile of the last round (stream-K tail).
/// `plain`: the kernel Kernels::plain of 16-bit elements.
template <class Plan, class Schedule, Element T, detail::OutputElement U, bool plain = false>
class WarpSpecializedGemm : public TmaKernel {
protected:
    static constexpr bool mn_major = has_transposed_conv<Plan>;
    static constexpr ptx::Major filters_major = mn_major ? ptx::Major::mn : ptx::Major::k;
    static constexpr int tile_m = Schedule::tile_m, tile_n = Schedule::tile_n, stages = Schedule::stages;
    static constexpr int consumers = Schedule::consumers, products = Schedule::products;
    static constexpr bool ping_pong = Schedule::ping_pong;
    static constexpr unsigned tiles_per_block =
        ping_pong ? 2 : 1;  ///< number of output tiles that a CTA's warpgroups process at the same time
    using Atom = Wgmma<T, tile_m, filters_major, ptx::Major::k, bulk_row_bytes(tile_n, sizeof(T))>;
    using Stage = BulkStage<T, tile_m, tile_n, filters_major>;
    using Pipeline = TmaPipeline<stages, ping_pong ? 1 : consumers>;
    using State = typename Pipeline::State;
    using Tiles =
        TileOrder<tile_m, tile_n, Plan::totals_tiles, !plain && WarpSpecializedEntry::may_have_groups<Plan, T, U>>;
    using Writer = TmaStore<Plan, Atom, T, U, products, plain>;
    using Accumulators = typename Atom::Accumulators[products];
    using Totals = GridTotals<Plan>;
    /// With one consumer warpgroup, all warps keep the register count of the launch.
    using Roles =
        WarpRoles<consumers,
                  std::conditional_t<(consumers > 1), typename Totals::template Registers<consumers>, EqualRegisters>>;

    /// Numbers of the named barriers: one per warpgroup for its epilogue, from `epilogue_barrier` on, then the two of
    /// PingPong.
    static constexpr unsigned epilogue_barrier = 1;
    using Order = PingPong<ping_pong, epilogue_barrier + consumers>;

    /// Loads of operands that are misaligned for TMA, and of windows of few channels.
    static constexpr bool copies =
        !plain && copies_rows<Plan, T, U> && fits_copied_rows(tile_m, tile_n, stages, ping_pong);
    /// The two CTAs of a cluster may load half of the operand that they have in common into both.
    static constexpr bool multicasts = copies && detail::fits_multicast(tile_m, tile_n, ping_pong);
    using ConsumerPipeline = ClusterPipeline<Pipeline, multicasts>;
    using Copies = typename CopiedRowsIf<copies>::template Type<Stage, Pipeline, tile_m, tile_n, stages>;
    using Packed = PackedTaps<Stage, Pipeline, tile_m, tile_n, stages>;

    /// Stream-K tail (schedule/stream_k_tail.hpp): the CTAs of a cluster reduce one tile of the last round. Its CTA g
    /// adds the accumulators of warpgroup g of all CTAs, 64 channels, and runs their epilogue.
    static constexpr bool divides_tail =
        has_stream_k_tail<Plan, T> && fits_stream_k_tail(tile_m, tile_n, stages, ping_pong, Schedule::blocks);
    static constexpr unsigned exchange_barrier = epilogue_barrier + consumers;

public:
    using Params = ConvParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;

    struct alignas(1024) DynamicShared {
        Stage stages[Schedule::stages];
        typename Writer::Shared writers[consumers];
        Pipeline pipeline;
        typename Totals::Shared totals;
        typename Copies::Shared copies;
    };
    static_assert(sizeof(DynamicShared) <= 227 * 1024,
                  "the stages of a CTA exceed the 227 KB of shared memory of sm_90");

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        Roles const roles(thread);
        Tiles const tiles(conv, multicast_of(params));
        begin(params, shared, thread, loaders);
        bool const in_pairs = multicast_of(params) != Multicast::none;
        if (in_pairs) cluster_barrier();  // the barriers of both CTAs are initialized
        if (roles.begin_producer()) {
            if constexpr (Plan::totals_tiles)
                if (roles.warp != Roles::first_producer)
                    return merge_totals(params, shared, thread - (Roles::first_producer + 1) * 32, block, tiles);
            if constexpr (copies) {
                if (params.maps.packs_taps) {
                    static_assert(sizeof(typename Packed::Shared) <= sizeof(shared.copies));
                    Packed producer(reinterpret_cast<typename Packed::Shared&>(shared.copies),
                                    roles.warp - Roles::first_producer, thread % 32);
                    for (unsigned tile = block; tile < tiles.size(); tile += gridDim.x)
                        producer.load_tile(params, conv, shared.stages, shared.pipeline, tiles[tile]);
                    return producer.finish(shared.pipeline);
                }
                if (params.maps.copied_bytes > 0) {
                    Copies producer(shared.copies, conv, params.maps.copied_bytes, roles.warp - Roles::first_producer,
                                    thread % 32);
                    for (unsigned tile = block; tile < tiles.size(); tile += gridDim.x)
                        producer.load_tile(conv, shared.stages, shared.pipeline, tiles[tile],
                                           {0, bulk_steps<Stage>(conv)}, tile + gridDim.x >= tiles.size());
                    return;
                }
            }
            StreamKTail const items = items_of(params, tiles);
            unsigned const loader = roles.warp - Roles::first_producer;
            if (loader < loaders && ptx::elect_sync()) {
                LoadedOperands const operands = operands_of(loader);
                State state;
                if (in_pairs) {
                    if constexpr (multicasts) {
                        for (unsigned tile = block; tile < tiles.size(); tile += gridDim.x)
                            load_tile_multicast(params, conv, shared.stages, shared.pipeline, state, block % 2,
                                                operands.x, tiles[tile]);
                    }
                } else if constexpr (divides_tail) {
                    unsigned const steps = bulk_steps<Stage>(conv);
                    for (unsigned item = block; item < items.size(); item += gridDim.x)
                        load_tile_in_bulk<plain>(
                            params, conv, shared.stages, shared.pipeline, state, operands, tiles[items.tile_of(item)],
                            items.is_divided(item) ? items.range_of(item, steps) : StepRange{0, steps});
                } else {
                    for (unsigned tile = block; tile < tiles.size(); tile += gridDim.x)
                        load_tile_in_bulk<plain>(params, conv, shared.stages, shared.pipeline, state, operands,
                                                 tiles[tile]);
                }
            }
            if constexpr (divides_tail)
                if (items.reaches(block)) {
                    ptx::bar_warp_sync();  // a cluster barrier needs converged warps
                    attend_merge();
                }
        } else {
            compute(params, conv, shared, thread % 128, roles.group, block, tiles);
        }
        if (in_pairs) {
            ptx::bar_warp_sync();
            cluster_barrier();  // neither CTA loads into the other any more
        }
    }

protected:
    /// Number of warps that TMA-load operands: one for each operand, or one because the others merge statistics.
    static constexpr unsigned loaders = Plan::totals_tiles ? 1 : 2;
    __device__ static LoadedOperands operands_of(unsigned loader) {
        if constexpr (loaders == 1) return {};
        else return {loader == 0, loader == 1};
    }

    __device__ static constexpr Multicast multicast_of([[maybe_unused]] Params const& params) {
        if constexpr (multicasts) return params.maps.multicast;
        else return Multicast::none;
    }

    /// `arrivals`: number of threads that TMA-load a stage's operands.
    __device__ static void begin(Params const& params, DynamicShared& shared, unsigned thread, unsigned arrivals = 1) {
        auto const init = [&] {
            for (auto& writer : shared.writers) Writer::init(writer);
            if constexpr (copies)
                shared.pipeline.init(params.maps.packs_taps         ? Packed::arrivals
                                     : params.maps.copied_bytes > 0 ? Copies::warps
                                                                    : arrivals,
                                     multicast_of(params) == Multicast::none ? 1 : 2);
            else shared.pipeline.init(arrivals);
            if constexpr (Plan::totals_tiles) Totals::init(shared.totals, consumers);
        };
        TmaKernel::begin(thread, init, [&] { prefetch_maps(params.maps, thread); });
    }

    template <class Problem>
    __device__ static void compute(Params const& params, Problem const& conv, DynamicShared& shared, unsigned thread,
                                   unsigned group, unsigned block, Tiles const& tiles) {
        int channels = conv.group_c();  // channels of a tap, or of all taps if packed, whose last k-tile is zero-padded
        unsigned steps = bulk_steps<Stage>(conv);
        if constexpr (copies)
            if (params.maps.packs_taps) {
                channels *= static_cast<int>(conv.taps());
                steps = static_cast<unsigned>(detail::divide_up(channels, Stage::tile_k));
            }
        unsigned const first_channel = ping_pong ? 0 : group * Atom::m;
        StreamKTail const items = items_of(params, tiles);
        unsigned first = block, stride = gridDim.x;
        State state;
        Order const order{group};
        Writer writer(shared.writers[group], thread, epilogue_barrier + group);
        ConsumerPipeline const pipeline{shared.pipeline, multicast_of(params), thread};
        if constexpr (ping_pong) {
            first += group * stride, stride *= 2;
            if (group == 1) {
                state.advance(steps);
                order.arrive();  // warpgroup 0 runs its MMAs first
            }
        }
        for (PersistentTile tile{first, stride, items.size()}; tile.exists(); tile.advance()) {
            Accumulators acc;
            TileStart start = tiles[items.tile_of(tile.number)];
            start.n += static_cast<int>(first_channel);
            StepRange range{0, steps};
            mma::ChannelBlocks<Atom> k_blocks(channels);
            bool owns = true;  // this CTA runs the epilogue of the warpgroup's channels
            if constexpr (divides_tail)
                if (items.is_divided(tile.number)) {
                    range = items.range_of(tile.number, steps);
                    k_blocks = mma::ChannelBlocks<Atom>(channels, range.begin);
                    owns = items.rank_of(tile.number) == group;
                }
            if constexpr (consumers > 1 && !ping_pong && !plain)
                if (start.n >= conv.group_k() * (start.group + 1))
                    k_blocks.clear();  // the warpgroup has no channels in y
            writer.prepare(params, conv, start);
            order.wait();
            multiply(
                shared, pipeline, acc, state, range.end - range.begin, k_blocks, thread, first_channel,
                [&] {
                    if (owns) writer.begin_read(params, start);
                },
                [&] { order.arrive(); });
            if constexpr (ping_pong) state.advance(steps);  // skips the stages of the other warpgroup's tile
            bool const is_last = tile.is_last();
            if (is_last) start_next_kernel();
            if constexpr (Plan::totals_tiles) {
                writer.stage(params, conv, start, acc);
                if (!is_last) writer.send(params, conv, start);
                writer.add_totals(conv, start, acc);
                if (tiles.totals_each(tiles_per_block) || is_last) {
                    Totals::before_put(shared.totals);
                    writer.put_totals(Totals::view(params),
                                      tiles.row_of(tiles.totals_each(tiles_per_block) ? tile.number : first), start.n);
                }
                if (is_last) writer.send(params, conv, start);  // the TMA store overlaps the merge of the statistics
            } else {
                if constexpr (divides_tail)
                    exchange_tail<exchange_barrier, Atom, consumers>(shared.stages, acc[0], thread, group, items,
                                                                     tile.number);
                if (owns) writer.store(params, conv, start, acc);
            }
        }
        if constexpr (Plan::totals_tiles)
            if (thread == 0) Totals::after_put(shared.totals);
        if constexpr (divides_tail)
            if (items.reaches(block)) cluster_wait();  // the other CTAs have read this CTA's accumulators
        if (thread == 0) ptx::bulk_wait_group_read();
    }

    __device__ static StreamKTail items_of([[maybe_unused]] Params const& params, Tiles const& tiles) {
        if constexpr (divides_tail) return {tiles.size(), params.split_k.count, params.split_k.whole};
        else return {tiles.size(), 1, 0};
    }

    __device__ static void merge_totals(Params const& params, DynamicShared& shared, unsigned thread, unsigned block,
                                        Tiles const& tiles) {
        Totals::merge_shares(params, shared.totals, tiles.totals(tiles_per_block), thread, [&](auto const& clear) {
            for (unsigned tile = block, i = 0;
                 tile < tiles.size() && (i < tiles_per_block || tiles.totals_each(tiles_per_block));
                 tile += gridDim.x, ++i)
                clear(tiles.row_of(tile), static_cast<unsigned>(tiles[tile].n), tile_n);
        });
    }

    /// The k-loop (mma::k_loop()) of an output tile, for `products` accumulator tiles of 64 channels, from row `first`
    /// of the stage's filters on. `k_blocks`: the k-blocks of each k-tile that the general kernel multiplies; the
    /// others are zero.
    template <class Ring, class WhenBegun, class WhenAllBegun>
    __device__ static void multiply(DynamicShared& shared, Ring const& pipeline, Accumulators& acc, State& state,
                                    unsigned steps, mma::ChannelBlocks<Atom> k_blocks, unsigned thread, unsigned first,
                                    WhenBegun const& when_begun, WhenAllBegun const& when_all_begun) {
        auto const at_w = ptx::shared_address(shared.stages[0].w);
        auto const first_x = Atom::descriptor(ptx::shared_address(shared.stages[0].x)),
                   first_w = Atom::advanced(mn_major ? Atom::mn_descriptor(at_w) : Atom::descriptor(at_w),
                                            static_cast<std::uint32_t>(filter_offset(first)));
        auto const gemm = [&](Accumulators& of_stage, unsigned number, bool accumulate) {
            std::uint32_t const words = number * static_cast<std::uint32_t>(sizeof(Stage) / 16);
            auto const x = Atom::advanced(first_x, words), w = Atom::advanced(first_w, words);
            mma::OperandA<Atom, filter_offset(Atom::m)> const a{w};  // (PRODUCTS, 64, TILE_K), swizzled
            mma::OperandB<Atom> const b{x};  // (TILE_M, TILE_K), swizzled
            // (PRODUCTS, 64, TILE_M) += over TILE_K
            if constexpr (plain) mma::gemm<Atom>(of_stage, a, b, accumulate);
            else mma::gemm_first<Atom>(of_stage, a, b, accumulate, k_blocks.next());
        };
        mma::k_loop<Atom>(pipeline, state, steps, thread, acc, gemm, when_begun, when_all_begun);
    }
    /// Returns the increment of a descriptor that advances it by `count` filters of a stage; `count` is a multiple of
    /// 64.
    FUSEKIT_HD static constexpr std::uint64_t filter_offset(unsigned count) {
        return Atom::row_offset(static_cast<int>(mn_major ? count / Atom::m * Atom::tile_k : count));
    }
};

}  // namespace fusekit::hip
