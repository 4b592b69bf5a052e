// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/copy/plane_pipeline.hpp"
#include "fusekit/backend/hip/copy/tma_filters.hpp"
#include "fusekit/backend/hip/epilogue/nchw_pool_store.hpp"
#include "fusekit/backend/hip/epilogue/nchw_split_store.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/mma/gemm.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/pipeline/named_barrier.hpp"

namespace fusekit::hip {

/// Convolution of NCHW or NHWC tensors of 16-bit elements on sm_90a's tensor cores, stride and dilation 1. GemmM is the
/// channels of y. GemmN is the pixels of an output tile, including the gaps between rows; a tile consists of several
/// parts, each some rows of an image (PlaneTiles).
///
/// Eight producer warps load x and transpose it once for all taps. Two consumer warpgroups load their own filters,
/// compute 64 channels each, and run the epilogue. GemmK runs over blocks of 64 channels of x. If channels are
/// contiguous in w (params.channels_fastest), the loop over a block multiplies one tap of all 64 channels at a time.
/// Otherwise it multiplies all taps of a slice of 16 channels at a time, and reads operand a (the filters) from
/// registers. With split-K, each CTA of a cluster reduces some of the channel blocks, and a launch has no more tiles
/// than clusters. mma::k_loop() is not used, because a stage of x serves all taps and the loop refills a second
/// pipeline, of filters.
template <class Plan, class Schedule, Element T>
class PlanesGemm : public TmaKernel {
    static constexpr int parts = Schedule::parts, consumers = Schedule::consumers;
    /// number of MMAs per part of the tile (PlanePart: rows of an image), along GemmN
    static constexpr int products = Schedule::products;
    using Atom = Wgmma<T, Schedule::pixels / products>;
    using Tiles = PlaneTiles<Schedule::pixels, T>;
    using Grid = PlaneGrid<Tiles, parts, consumers * Atom::m>;
    using Stages = PlaneStages<T, Grid, parts, Schedule::x_bytes(sizeof(T)), consumers>;
    using Filters = PlaneFilters<Grid>;
    using Writer = typename NchwStoreOf<Plan, Atom, T, parts, products>::Type;
    using Merge = NchwSplitStore<Plan, Grid, Atom, T, parts, products, consumers>;
    using Accumulators = typename Atom::Accumulators[parts * products];
    using State = typename Stages::State;
    /// Numbers of the named barriers: one per consumer warpgroup, one for all consumers, then those of the producers.
    static constexpr unsigned first_barrier = 1, consumer_barrier = first_barrier + consumers,
                              loading_barrier = consumer_barrier + 1;
    using ConsumerBarrier = NamedBarrier<consumer_barrier, consumers * Atom::threads>;
    using Roles = WarpRoles<consumers, RegisterBudget<48, 208, 2, consumers>, 2>;
    static constexpr bool splits = can_split<Plan, T> && !Plan::pools;

public:
    using Params = ConvParams<Plan, T, T>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;

    struct alignas(1024) DynamicShared {
        typename Filters::Shared filters[consumers];
        typename Stages::Shared x;
        typename Writer::Shared writers[4 * consumers];
        typename Filters::State filters_state[consumers];
    };

    static_assert(threads == 32 * (4 * consumers + static_cast<int>(Stages::warps)));
    static_assert(sizeof(DynamicShared) <= 227 * 1024,
                  "the stages and tiles of a CTA exceed the 227 KB of shared memory of sm_90");
    static_assert(sizeof(typename Merge::Shared) <= Schedule::x_bytes(sizeof(T)));

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        Tiles const tiles(conv.y[2], conv.y[3], conv.x.layout.shape[2], conv.x.layout.shape[3], conv.filter, conv.y[0],
                          false, Plan::pools);
        unsigned const sharers = sharers_of(params), first_tile = block / sharers, rank = block % sharers;
        Grid const grid(conv, tiles, rank, sharers);
        Roles const roles(thread);
        begin(thread, [&] { init(shared, tiles); });
        if (roles.begin_producer()) {
            Stages::load(params, conv, shared.x, tiles, grid, roles.warp - Roles::first_producer, thread % 32,
                         first_tile, loading_barrier);
            if (sharers > 1) attend_merge();
        } else {
            compute(params, conv, shared, tiles, grid, thread % 128, roles.group, first_tile, sharers);
            if constexpr (splits)
                if (sharers > 1)
                    Merge::store(params, tiles, grid, merged(shared), first_tile, rank, thread, ConsumerBarrier());
        }
    }

private:
    /// Number of CTAs that reduce one output tile (split-K); 1 without split-K.
    __device__ static unsigned sharers_of(Params const& params) {
        if constexpr (splits) return params.split_k.count;
        else return 1;
    }
    /// Returns the SMEM where the CTA's accumulators are stored for split-K after the k-loop: the memory of the stages
    /// of x.
    __device__ static typename Merge::Shared& merged(DynamicShared& shared) {
        return *reinterpret_cast<typename Merge::Shared*>(shared.x.x);
    }

    __device__ static void init(DynamicShared& shared, Tiles const& tiles) {
        shared.x.init(tiles);
        for (auto& each : shared.filters_state) each.init();
        ptx::fence_mbarrier_init();
    }

    template <class Problem>
    __device__ static void compute(Params const& params, Problem const& conv, DynamicShared& shared, Tiles const& tiles,
                                   Grid const& grid, unsigned thread, unsigned group, unsigned first_tile,
                                   unsigned sharers) {
        int const own = static_cast<int>(group) * Atom::m;
        unsigned const barrier = first_barrier + group;
        Filters filters(shared.filters[group], shared.filters_state[group], conv, grid, own, first_tile, thread);
        auto const refill = [&](int count) { filters.refill(params, conv, count); };
        refill(Filters::stages);
        State state;
        for (unsigned tile = first_tile; tile < grid.size(); tile += gridDim.x) {
            int const first = grid.first_channel(tile) + own;
            if (first >= conv.group_k()) {
                pass(shared, state, grid.channel_blocks(), thread, barrier);
                if (sharers > 1) ConsumerBarrier()();
                continue;
            }
            Writer const writer(params, tiles, first, thread);
            Accumulators acc;
            bool multiplied = false;
            if constexpr (Plan::Head::longest >= 3)
                if (!params.channels_fastest) {
                    multiply_taps(shared, tiles, filters, refill, acc, state, grid.channel_blocks(), thread, barrier);
                    multiplied = true;
                }
            if (!multiplied) multiply(shared, tiles, filters, refill, acc, state, grid.channel_blocks(), thread);
            if (tile + gridDim.x >= grid.size()) start_next_kernel();
            if (sharers == 1) {
                writer.store(acc, [&](int i) { return grid.part(tile, i); }, shared.writers[group * 4 + thread / 32]);
            } else {
                ConsumerBarrier()();  // both warpgroups have read x
                Merge::put(merged(shared), acc, group, thread);
            }
        }
        ptx::bulk_wait_group_read();
    }

    /// Releases the stages of x of an output tile in which this warpgroup has no channels in bounds of y. Only thread 0
    /// waits until each stage is full; the other threads wait for thread 0 at the end: otherwise an mbarrier could
    /// advance by two phases before they wait, and its parity would be ambiguous.
    __device__ static void pass(DynamicShared& shared, State& state, int channel_blocks, unsigned thread,
                                unsigned barrier) {
#pragma unroll 1
        for (int block = 0; block < channel_blocks; ++block, state.advance()) {
            if (thread == 0) shared.x.tiles.consumer_wait(state);
            release(shared, state.stage, thread);
        }
        ptx::bar_sync(barrier, Atom::threads);
    }

    /// Releases a stage of x. All threads of the warpgroup call it, after their MMAs have read the stage.
    __device__ static void release(DynamicShared& shared, unsigned stage, unsigned thread) {
        if (thread == 0) shared.x.tiles.consumer_release(stage);
    }

    __device__ static std::uint64_t x_of(DynamicShared& shared, Tiles const& tiles, State const& state) {
        return Atom::descriptor(Stages::address(shared.x, tiles, state));
    }

    /// Returns the index, in a tile of x, of the pixel that the first tap reads for the first pixel of MMA number i.
    __device__ static int first_pixel(Tiles const& tiles, int i) {
        return i / products * tiles.pixels_of_x() + i % products * Atom::n;
    }

    /// K-loop of an output tile, tap by tap: the MMAs of one stage of filters are one wgmma group. refill() refills
    /// each stage of filters while the next group is in flight.
    template <class Refill>
    __device__ static void multiply(DynamicShared& shared, Tiles const& tiles, Filters& filters, Refill const& refill,
                                    Accumulators& acc, State& state, int channel_blocks, unsigned thread) {
#pragma unroll 1
        for (int block = 0; block < channel_blocks; ++block, state.advance()) {
            shared.x.tiles.consumer_wait(state);
            auto const x = x_of(shared, tiles, state);
#pragma unroll 1
            for (int row = 0, column = 0; row < tiles.window_rows;) {
                auto const w = Atom::descriptor(ptx::shared_address(filters.next()));
                auto const of_tap = x + Atom::row_offset(row * tiles.pitch + column);
                mma::OperandA<Atom> const a{w};  // (64, C), swizzled, of one tap
                auto const b = [&](unsigned k, unsigned i) {  // (PARTS * PRODUCTS, PIXELS, C), swizzled
                    return of_tap + k * Atom::k_step + Atom::row_offset(first_pixel(tiles, static_cast<int>(i)));
                };
                mma::gemm<Atom>(acc, a, b, block + row + column > 0);  // (PARTS * PRODUCTS, 64, PIXELS) += over C
                ptx::wgmma_wait<1>();
                if (row + column == 0 && block > 0) release(shared, state.stage ^ 1, thread);
                if (block + row + column > 0) refill(1);
                if (++column == tiles.window_columns) column = 0, ++row;
            }
        }
        end(shared, acc, state, thread);
        refill(1);
    }

    /// K-loop of an output tile for filters with contiguous taps (KCRS): 16 channels at a time, with the filters of all
    /// taps in registers and all MMAs in one wgmma group. While one warpgroup loads filter fragments, the other's MMAs
    /// run.
    template <class Refill>
    __device__ static void multiply_taps(DynamicShared& shared, Tiles const& tiles, Filters& filters,
                                         Refill const& refill, Accumulators& acc, State& state, int channel_blocks,
                                         unsigned thread, unsigned barrier) {
#pragma unroll 1
        for (int block = 0; block < channel_blocks; ++block, state.advance()) {
            shared.x.tiles.consumer_wait(state);
            auto const x = x_of(shared, tiles, state);
#pragma unroll 1
            for (unsigned slice = 0; slice < Atom::tile_k / Atom::k; ++slice) {
                mma::wait(acc);
                if (slice == 0 && block > 0) release(shared, state.stage ^ 1, thread);
                typename Filters::Factors factors;
                filters.load(factors);
                auto const of_slice = x + slice * Atom::k_step;
                auto const a = [&](unsigned tap, unsigned) {  // (TAPS, 64, 16), in registers
                    return mma::RegisterOperand{{factors[0][tap], factors[1][tap], factors[2][tap], factors[3][tap]}};
                };
                auto const b = [&](unsigned tap, unsigned i) {  // (TAPS, PARTS * PRODUCTS, PIXELS, 16), swizzled
                    auto const of = static_cast<int>(tap);
                    return Atom::add_rows(of_slice,
                                          of / 3 * tiles.pitch + of % 3 + first_pixel(tiles, static_cast<int>(i)));
                };
                mma::gemm<Atom, 9>(acc, a, b, slice > 0 || block > 0);  // += over (TAPS, 16)
                ptx::bar_sync(barrier, Atom::threads);  // all threads have loaded their fragments of operand a
                refill(2);
            }
        }
        end(shared, acc, state, thread);
    }

    __device__ static void end(DynamicShared& shared, Accumulators& acc, State const& state, unsigned thread) {
        mma::wait(acc);
        release(shared, state.stage ^ 1, thread);
    }
};

}  // namespace fusekit::hip
