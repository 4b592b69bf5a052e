// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/copy/tma_im2col.hpp"
#include "fusekit/backend/hip/epilogue/tma_store.hpp"
#include "fusekit/backend/hip/mma/gemm.hpp"
#include "fusekit/backend/hip/pipeline/ping_pong.hpp"
#include "fusekit/backend/hip/schedule/warp_specialized.hpp"
#include "fusekit/backend/hip/statistics/grid_totals.hpp"
#include "fusekit/backend/hip/tile_order.hpp"

namespace fusekit::hip {

/// Warp-specialized implicit GEMM on sm_90a for channels-last tensors. One producer thread TMA-loads operands into a
/// ring of stages; consumer warpgroups run the MMAs, cooperatively or in ping-pong (schedule/warp_specialized.hpp), and
/// the epilogue. GemmM is the channels of y and GemmN the pixels: a thread has two channels of an accumulator, and
/// keeps their epilogue parameters and statistics in registers. CTAs are persistent: the loads of the next tile overlap
/// the epilogue of the previous one.
template <class Plan, class Schedule, Element T, detail::OutputElement U>
class WarpSpecializedGemm {
protected:
    static constexpr bool mn_major = has_transposed_conv<Plan>;
    static constexpr ptx::Major filters_major = mn_major ? ptx::Major::mn : ptx::Major::k;
    static constexpr int tile_m = Schedule::tile_m, tile_n = Schedule::tile_n, stages = Schedule::stages;
    static constexpr int consumers = Schedule::consumers, products = Schedule::products;
    static constexpr bool ping_pong = Schedule::ping_pong;
    static constexpr unsigned turns = ping_pong ? 2 : 1;  ///< tiles that a CTA's warpgroups process at the same time
    using Atom = Wgmma<T, tile_m, filters_major, ptx::Major::k, bulk_row_bytes(tile_n, sizeof(T))>;
    using Stage = BulkStage<T, tile_m, tile_n, filters_major>;
    using Pipeline = TmaPipeline<stages, ping_pong ? 1 : consumers>;
    using State = typename Pipeline::State;
    using Tiles = TileOrder<tile_m, tile_n, Plan::totals_tiles>;
    using Writer = TmaStore<Plan, Atom, T, U, products>;
    using Sums = typename Atom::Sums[products];
    using Totals = GridTotals<Plan>;

    /// Named barriers: one per warpgroup for its epilogue, then those of the ordered barrier.
    static constexpr unsigned epilogue_barrier = 1;
    using Order = PingPong<ping_pong, epilogue_barrier + consumers>;

public:
    using Params = ConvParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    static constexpr bool waits_for_previous_kernel = true, reads_argument_in_place = true;

    struct alignas(1024) DynamicShared {
        Stage stages[Schedule::stages];
        typename Writer::Shared writers[consumers];
        Pipeline pipeline;
        typename Totals::Shared totals;
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        unsigned const warp = ptx::warp_uniform(thread / 32), group = warp / 4;
        Tiles const tiles(conv);
        if (thread == 0) {
            for (auto& writer : shared.writers) Writer::init(writer);
            shared.pipeline.init();
            if constexpr (Plan::totals_tiles) Totals::init(shared.totals, consumers);
        }
        prefetch_maps(params.maps, thread);
        __syncthreads();
        wait_for_previous_kernel();
        if (group == consumers) {
            if constexpr (consumers > 1) Totals::Registers::producer_deallocate();
            if constexpr (Plan::totals_tiles)
                if (warp != 4 * consumers)
                    return merge_totals(params, shared, thread - (4 * consumers + 1) * 32, block, tiles);
            if (warp != 4 * consumers || !ptx::elect_sync()) return;
            State state;
            for (unsigned tile = block; tile < tiles.size(); tile += gridDim.x)
                load_tile_in_bulk(params, conv, shared.stages, shared.pipeline, state, tiles[tile]);
        } else {
            // a single warpgroup needs no more registers
            if constexpr (consumers > 1) Totals::Registers::consumer_allocate();
            compute(params, conv, shared, thread % 128, group, block, tiles);
        }
    }

protected:
    template <class Problem>
    __device__ static void compute(Params const& params, Problem const& conv, DynamicShared& shared, unsigned thread,
                                   unsigned group, unsigned block, Tiles const& tiles) {
        unsigned const steps = bulk_steps<Stage>(conv), first_channel = ping_pong ? 0 : group * Atom::m;
        unsigned first = block, stride = gridDim.x;
        State state;
        Order const order{group};
        Writer writer(shared.writers[group], thread, epilogue_barrier + group);
        if constexpr (ping_pong) {
            first += group * stride, stride *= 2;
            if (group == 1) {
                state.advance(steps);
                order.arrive();  // warpgroup 0 runs its MMAs first
            }
        }
        for (unsigned tile = first; tile < tiles.size(); tile += stride) {
            Sums sums;
            TileStart start = tiles[tile];
            start.n += static_cast<int>(first_channel);
            writer.prepare(params, conv, start);
            order.wait();
            multiply(
                shared, sums, state, steps, thread, first_channel, [&] { writer.begin_read(params, start); },
                [&] { order.arrive(); });
            if constexpr (ping_pong) state.advance(steps);  // skips the stages of the other warpgroup's tile
            bool const is_last = tile + stride >= tiles.size();
            if (is_last) start_next_kernel();
            if constexpr (Plan::totals_tiles) {
                writer.stage(params, conv, start, sums);
                if (!is_last) writer.send(params, start);
                writer.add_totals(conv, start, sums);
                if (tiles.totals_each(turns) || is_last) {
                    Totals::before_put(shared.totals);
                    writer.put_totals(Totals::view(params), tiles.row_of(tiles.totals_each(turns) ? tile : first),
                                      start.n);
                }
                if (is_last) writer.send(params, start);  // overlaps the merge of the statistics
            } else {
                writer.store(params, conv, start, sums);
            }
        }
        if constexpr (Plan::totals_tiles)
            if (thread == 0) Totals::after_put(shared.totals);
        if (thread == 0) ptx::bulk_wait_group_read();
    }

    __device__ static void merge_totals(Params const& params, DynamicShared& shared, unsigned thread, unsigned block,
                                        Tiles const& tiles) {
        Totals::merge_shares(params, shared.totals, tiles.totals(turns), thread, [&](auto const& clear) {
            for (unsigned tile = block, i = 0; tile < tiles.size() && (i < turns || tiles.totals_each(turns));
                 tile += gridDim.x, ++i)
                clear(tiles.row_of(tile), static_cast<unsigned>(tiles[tile].n), tile_n);
        });
    }

    /// Issues the MMAs of a stage as one group: acc[i] for the 64 channels from `first` + 64 i on.
    __device__ static void gemm(Stage const& stage, Sums& acc, unsigned first, bool accumulate) {
        auto const at_w = ptx::shared_address(stage.w);
        auto const x = Atom::descriptor(ptx::shared_address(stage.x));
        auto const w = (mn_major ? Atom::mn_descriptor(at_w) : Atom::descriptor(at_w)) + filters_further(first);
        mma::OperandA<Atom, filters_further(Atom::m)> const a{w};  // (PRODUCTS, 64, TILE_K), swizzled
        mma::OperandB<Atom> const b{x};  // (TILE_M, TILE_K), swizzled
        mma::gemm<Atom>(acc, a, b, accumulate);  // (PRODUCTS, 64, TILE_M) += over TILE_K
    }
    /// Descriptor increment to the filter `count` later in a stage; `count` is a multiple of 64.
    FUSEKIT_HD static constexpr std::uint64_t filters_further(unsigned count) {
        return Atom::rows_further(static_cast<int>(mn_major ? count / Atom::m * Atom::tile_k : count));
    }
    /// K-loop of a tile. One group of MMAs is in flight while the warpgroup waits for the next stage; then the group's
    /// stage is released. Calls when_begun() after the first group has been issued, and when_all_begun() after the
    /// last.
    template <class WhenBegun, class WhenAllBegun>
    __device__ static void multiply(DynamicShared& shared, Sums& sums, State& state, unsigned steps, unsigned thread,
                                    unsigned first_channel, WhenBegun const& when_begun,
                                    WhenAllBegun const& when_all_begun) {
        auto const release = [&](unsigned stage) {
            if (thread == 0) shared.pipeline.consumer_release(stage);
        };
        unsigned previous = 0;
        if constexpr (Atom::needs_promotion) mma::clear(sums);
#pragma unroll 1
        for (unsigned step = 0; step < steps; ++step) {
            unsigned const now = state.stage;
            shared.pipeline.consumer_wait(state);
            if constexpr (Atom::needs_promotion) {  // other warpgroups' MMAs run during the promotion
                Sums of_step;
                gemm(shared.stages[now], of_step, first_channel, false);
                if (step == 0) when_begun();
                mma::wait(of_step);
                release(now);
                mma::promote(sums, of_step);
            } else {
                gemm(shared.stages[now], sums, first_channel, step > 0);
                if (step == 0) when_begun();
                ptx::wgmma_wait<1>();
                if (step > 0) release(previous);
                previous = now;
            }
            state.advance();
        }
        when_all_begun();
        if constexpr (!Atom::needs_promotion) {
            mma::wait(sums);
            release(previous);
        }
    }
};

}  // namespace fusekit::hip
