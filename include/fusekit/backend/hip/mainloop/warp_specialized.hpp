// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/collective/bulk_loader.hpp"
#include "fusekit/backend/hip/collective/grid_totals.hpp"
#include "fusekit/backend/hip/collective/store_products.hpp"
#include "fusekit/backend/hip/collective/tile_order.hpp"
#include "fusekit/backend/hip/schedule/warp_specialized.hpp"

namespace fusekit::hip {

/// Convolution as a matrix product on sm_90a's matrix units, channels fastest. One thread copies operands in bulk into
/// a ring of stages; the other warpgroups multiply them (schedule.hpp) and take their sums through the epilogue to y.
/// Channels are the rows of the product, pixels its columns: a thread has two channels of a product, so that it keeps
/// their parameters and totals in registers. Blocks compute one tile after another, so that a tile's first copies
/// overlap the end of the one before.
template <class Plan, class Schedule, Element T, detail::OutputElement U>
class WarpSpecializedGemm {
protected:
    static constexpr bool mn_major = has_transposed_conv<Plan>;
    static constexpr ptx::Major filters_major = mn_major ? ptx::Major::mn : ptx::Major::k;
    static constexpr int tile_m = Schedule::tile_m, tile_n = Schedule::tile_n, stages = Schedule::stages;
    static constexpr int consumers = Schedule::consumers, products = Schedule::products;
    static constexpr bool ping_pong = Schedule::ping_pong;
    static constexpr unsigned turns = ping_pong ? 2 : 1;  ///< warpgroups that have tiles of their own
    using Atom = Wgmma<T, tile_m, filters_major, ptx::Major::k, bulk_row_bytes(tile_n, sizeof(T))>;
    using Stage = BulkStage<T, tile_m, tile_n, filters_major>;
    using Cursor = StageCursor<stages>;
    using Order = TileOrder<tile_m, tile_n, Plan::totals_tiles>;
    using Writer = StoreProducts<Plan, Atom, T, U, products>;
    using Sums = typename Atom::Sums[products];
    using Totals = GridTotals<Plan>;

    /// Named barriers: of a warpgroup in its epilogue, and of turns to multiply.
    static constexpr unsigned epilogue_barrier = 1, turn_barrier = epilogue_barrier + consumers;

public:
    using Params = ConvParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    static constexpr bool waits_for_previous_kernel = true, reads_argument_in_place = true;

    struct alignas(1024) DynamicShared {
        Stage stages[Schedule::stages];
        typename Writer::Shared writers[consumers];
        StageBarriers<Schedule::stages, ping_pong ? 1 : consumers> barriers;
        typename Totals::Shared totals;
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        unsigned const warp = ptx::warp_uniform(thread / 32), group = warp / 4;
        Order const tiles(conv);
        if (thread == 0) {
            for (auto& writer : shared.writers) Writer::init(writer);
            shared.barriers.init();
            if constexpr (Plan::totals_tiles) Totals::init(shared.totals, consumers);
        }
        prefetch_maps(params.maps, thread);
        __syncthreads();
        wait_for_previous_kernel();
        if (group == consumers) {
            if constexpr (consumers > 1) ptx::setmaxnreg_dec<Totals::few_registers>();
            if constexpr (Plan::totals_tiles)
                if (warp != 4 * consumers)
                    return merge_totals(params, shared, thread - (4 * consumers + 1) * 32, block, tiles);
            if (warp != 4 * consumers || !ptx::elect_sync()) return;
            Cursor cursor;
            for (unsigned tile = block; tile < tiles.size(); tile += gridDim.x)
                load_tile_in_bulk(params, conv, shared.stages, shared.barriers, cursor, tiles[tile]);
        } else {
            if constexpr (consumers > 1) ptx::setmaxnreg_inc<Totals::many_registers>();  // a single one has enough
            compute(params, conv, shared, thread % 128, group, block, tiles);
        }
    }

protected:
    template <class Problem>
    __device__ static void compute(Params const& params, Problem const& conv, DynamicShared& shared, unsigned thread,
                                   unsigned group, unsigned block, Order const& tiles) {
        unsigned const steps = bulk_steps<Stage>(conv), first_channel = ping_pong ? 0 : group * Atom::m;
        unsigned first = block, stride = gridDim.x;
        Cursor cursor;
        Writer writer(shared.writers[group], thread, epilogue_barrier + group);
        if constexpr (ping_pong) {
            first += group * stride, stride *= 2;
            if (group == 1) {
                cursor.advance(steps);
                ptx::bar_arrive(turn_barrier, 2 * Atom::threads);  // the other begins
            }
        }
        for (unsigned tile = first; tile < tiles.size(); tile += stride) {
            Sums sums;
            TileStart start = tiles[tile];
            start.n += static_cast<int>(first_channel);
            writer.prepare(params, conv, start);
            if constexpr (ping_pong) ptx::bar_sync(turn_barrier + group, 2 * Atom::threads);
            multiply(
                shared, sums, cursor, steps, thread, first_channel, [&] { writer.begin_read(params, start); },
                [&] {
                    if constexpr (ping_pong) ptx::bar_arrive(turn_barrier + (group ^ 1), 2 * Atom::threads);
                });
            if constexpr (ping_pong) cursor.advance(steps);  // over the other's tile
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
                if (is_last) writer.send(params, start);  // while all totals are merged
            } else {
                writer.store(params, conv, start, sums);
            }
        }
        if constexpr (Plan::totals_tiles)
            if (thread == 0) Totals::after_put(shared.totals);
        if (thread == 0) ptx::bulk_wait_group_read();
    }

    __device__ static void merge_totals(Params const& params, DynamicShared& shared, unsigned thread, unsigned block,
                                        Order const& tiles) {
        Totals::merge_shares(params, shared.totals, tiles.totals(turns), thread, [&](auto const& clear) {
            for (unsigned tile = block, i = 0; tile < tiles.size() && (i < turns || tiles.totals_each(turns));
                 tile += gridDim.x, ++i)
                clear(tiles.row_of(tile), static_cast<unsigned>(tiles[tile].n), tile_n);
        });
    }

    /// Begins the products of a stage with a warpgroup's channels, from `first` on, which are one group; where `adds`
    /// is false, sums are overwritten.
    __device__ static void begin_products(Stage const& stage, Sums& sums, unsigned first, bool adds) {
        auto const x = Atom::descriptor(ptx::shared_address(stage.x));
        auto const at_w = ptx::shared_address(stage.w);
        auto const w = (mn_major ? Atom::mn_descriptor(at_w) : Atom::descriptor(at_w)) + filters_further(first);
        hold(sums);
        ptx::wgmma_fence();
#pragma unroll
        for (int k = 0; k < Atom::tile_k / Atom::k; ++k)
#pragma unroll
            for (int product = 0; product < products; ++product)
                Atom::multiply(sums[product],
                               w + filters_further(static_cast<unsigned>(product * Atom::m)) +
                                   static_cast<unsigned>(k) * (mn_major ? Atom::mn_k_step : Atom::k_step),
                               x + static_cast<unsigned>(k) * Atom::k_step, adds || k > 0);
        ptx::wgmma_commit();
    }
    /// Added to a descriptor of a stage's filters for those `count` further on, a multiple of 64.
    __device__ static std::uint64_t filters_further(unsigned count) {
        return Atom::rows_further(static_cast<int>(mn_major ? count / Atom::m * Atom::tile_k : count));
    }
    __device__ static void hold(Sums& sums) {
#pragma unroll
        for (int product = 0; product < products; ++product) ptx::fence_operands(sums[product]);
    }

    /// A tile's products. One group of them is under way while the next stage is awaited; then its stage is free.
    /// Calls when_begun() once the first are under way, and when_all_begun() once the last are.
    template <class WhenBegun, class WhenAllBegun>
    __device__ static void multiply(DynamicShared& shared, Sums& sums, Cursor& cursor, unsigned steps, unsigned thread,
                                    unsigned first_channel, WhenBegun const& when_begun,
                                    WhenAllBegun const& when_all_begun) {
        auto const release = [&](unsigned stage) {
            if (thread == 0) ptx::mbarrier_arrive(ptx::shared_address(&shared.barriers.empty[stage]));
        };
        unsigned previous = 0;
        if constexpr (Atom::cuts_off) clear(sums);
#pragma unroll 1
        for (unsigned step = 0; step < steps; ++step) {
            unsigned const now = cursor.stage;
            ptx::mbarrier_wait(ptx::shared_address(&shared.barriers.full[now]), cursor.parity);
            if constexpr (Atom::cuts_off) {  // the other warpgroups' products are under way while this one adds
                Sums of_step;
                begin_products(shared.stages[now], of_step, first_channel, false);
                if (step == 0) when_begun();
                ptx::wgmma_wait<0>();
                hold(of_step);
                release(now);
                add(sums, of_step);
            } else {
                begin_products(shared.stages[now], sums, first_channel, step > 0);
                if (step == 0) when_begun();
                ptx::wgmma_wait<1>();
                if (step > 0) release(previous);
                previous = now;
            }
            cursor.advance();
        }
        when_all_begun();
        if constexpr (!Atom::cuts_off) {
            ptx::wgmma_wait<0>();
            hold(sums);
            release(previous);
        }
    }

    __device__ static void add(Sums& sums, Sums const& of_step) {
#pragma unroll
        for (int product = 0; product < products; ++product)
#pragma unroll
            for (int e = 0; e < Atom::sums_per_thread; ++e) sums[product][e] += of_step[product][e];
    }
    __device__ static void clear(Sums& sums) {
#pragma unroll
        for (int product = 0; product < products; ++product)
#pragma unroll
            for (int e = 0; e < Atom::sums_per_thread; ++e) sums[product][e] = 0;
    }
};

}  // namespace fusekit::hip
