// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/copy/gathered_filters.hpp"
#include "fusekit/backend/hip/copy/gathered_taps.hpp"
#include "fusekit/backend/hip/copy/nchw_gather.hpp"
#include "fusekit/backend/hip/epilogue/gathered_store.hpp"
#include "fusekit/backend/hip/epilogue/nchw_split_store.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/mma/gemm.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/pipeline/named_barrier.hpp"

namespace fusekit::hip {

/// Convolution of NCHW tensors of 16-bit elements on sm_90a's tensor cores, with any stride and dilation. GemmM is the
/// channels of y, GemmN the positions of GatherTiles, GemmK taps and channels of x. A stage of SMEM has slices of 16
/// channels of x, gathered by 8 producer warps, and the filters of these channels with all taps (KCRS).
/// Two consumer warpgroups read fragments of filters into registers, at most 4 taps of 16 channels at a time, and run
/// the MMAs. While one warpgroup reads fragments, the other's MMAs run.
///
/// x in SMEM is not swizzled, 16 bytes (8 channels) per position, so that the operand of a tap may start at any
/// position.
template <class Plan, class Schedule, Element T>
class GatheredPlanesGemm : public TmaKernel {
    static constexpr int consumers = 2, products = 2;
    using Atom = Wgmma<T, GatherTiles::pixels / products>;
    using Writer = GatheredStore<Plan, Atom, T>;
    struct Grid {
        using Tiles = GatherTiles;
    };
    using Merge = NchwSplitStore<Plan, Grid, Atom, T, 1, products, consumers>;
    using Pipeline = GatherPipeline;
    using Steps = GatheredTaps;
    using Accumulators = typename Atom::Accumulators[products];
    using Roles = WarpRoles<consumers, RegisterBudget<80, 176, 2, consumers>, 2>;
    static constexpr unsigned first_barrier = 1;
    using ConsumerBarrier = NamedBarrier<first_barrier + consumers, consumers * Atom::threads>;
    using ProducerBarrier = NamedBarrier<first_barrier + consumers + 1, 32 * GatherTiles::warps>;

public:
    using Params = ConvParams<Plan, T, T>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;

    struct alignas(1024) DynamicShared {
        unsigned char stages[GatherTiles::shared_bytes];
        typename Writer::Shared writers[consumers];
        Pipeline pipeline;
        GatherTables tables;
    };
    static_assert(sizeof(DynamicShared) <= 227 * 1024,
                  "the stages of a CTA exceed the 227 KB of shared memory of sm_90");
    static_assert(sizeof(typename Merge::Shared) <= GatherTiles::shared_bytes);

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        GatherTiles const& tiles = params.gather;
        Roles const roles(thread);
        begin(thread, [&] { shared.pipeline.init(); }, [&] { shared.tables.init(tiles, thread); });
        Share const share(params, block);
        if (roles.begin_producer()) {
            bool const aligned = params.gather.x_height * params.gather.x_width % 2 == 0;
            unsigned const warp = roles.warp - Roles::first_producer, lane = thread % 32;
            if (aligned) produce<true>(params, shared, warp, lane, share);
            else produce<false>(params, shared, warp, lane, share);
            if (share.sharers > 1) attend_merge();
        } else {
            consume(params, shared, thread % 128, roles.group, share);
            if constexpr (can_split<Plan, T>)
                if (share.sharers > 1) merge(params, shared, thread, share);
        }
    }

private:
    /// A CTA's first tile, and its channels of x: with split-K, `sharers` CTAs divide those of a tile.
    struct Share {
        unsigned sharers = 1, tile, rank;
        int begin, end;  ///< channels of x

        __device__ Share(Params const& params, unsigned block) {
            if constexpr (can_split<Plan, T>) sharers = params.split_k.count;
            tile = block / sharers, rank = block % sharers;
            int const of_block = params.gather.slices * GatherTiles::slice,
                      channels = static_cast<int>(params.x.layout.shape[1]);
            auto const all = static_cast<unsigned>(params.gather.channel_blocks(channels));
            begin = static_cast<int>(all * rank / sharers) * of_block;
            end = (min)(static_cast<int>(all * (rank + 1) / sharers) * of_block, channels);
        }
    };

    /// Returns the SMEM where the CTA's accumulators are stored for split-K after the k-loop: that of the stages.
    __device__ static typename Merge::Shared& merged(DynamicShared& shared) {
        return *reinterpret_cast<typename Merge::Shared*>(shared.stages);
    }
    __device__ static void merge(Params const& params, DynamicShared& shared, unsigned thread, Share const& share) {
        GatherTiles const& tiles = params.gather;
        GatheredQuad const quad(tiles,
                                tiles.first_position(share.tile) + static_cast<unsigned>(Merge::first_column(thread)),
                                params.y.layout.stride[0]);
        Merge::store_quads(params, quad, channel_tile(tiles, share.tile), merged(shared), share.tile, share.rank,
                           thread, ConsumerBarrier());
    }

    __device__ static int channel_tile(GatherTiles const& tiles, unsigned tile) {
        return static_cast<int>(tiles.channel_tiles.remainder(tile)) * tiles.tile_filters();
    }

    /// Code of a producer warp. `aligned`: planes of x are at multiples of 4 bytes.
    template <bool aligned>
    __device__ static void produce(Params const& params, DynamicShared& shared, unsigned warp, unsigned lane,
                                   Share const& share) {
        GatherTiles const& tiles = params.gather;
        auto* const positions = reinterpret_cast<std::uint32_t*>(shared.stages + tiles.positions_begin()) +
                                static_cast<int>(warp) * tiles.unit_positions * 32;
        NchwGather<T, aligned> gather(params.x, tiles, shared.tables, positions, warp, lane, share.begin, share.end);
        auto const w = detail::typed<T>(Plan::Head::filters(params.bound.head));
        GatheredFilters<T, GatherTiles::warps * 32> const filters(w, tiles, warp * 32 + lane);
        int const stage_bytes = tiles.stage_bytes();
        auto const commit = [&](int stage) {
            ptx::bar_warp_sync();
            if (lane == 0) shared.pipeline.producer_commit(stage);
        };
        // The filters of a stage arrive while the next stage is filled, unless the consumers would wait for them.
        int previous = -1;
        DynamicPipelineState state{tiles.stages};
#pragma unroll 1
        for (unsigned tile = share.tile; tile < tiles.tiles; tile += gridDim.x) {
            gather.begin_tile(tile);
            int cleared = 0;  // stages with zeros at the tile's positions without pixels of x
#pragma unroll 1
            for (int c = share.begin; c < share.end; c += tiles.slices * GatherTiles::slice, state.advance()) {
                unsigned char* const stage = shared.stages + state.stage * stage_bytes;
                shared.pipeline.producer_acquire(state);
                filters.copy(channel_tile(tiles, tile), c, stage + 2 * tiles.slices * tiles.chunk_bytes());
                commit_copies();
                if (previous >= 0) wait_for_groups<1>(), commit(previous);
                if (cleared < tiles.stages) gather.clear(stage), ProducerBarrier()(), ++cleared;
                gather.store(stage);
                ptx::fence_proxy_async();
                previous = state.stage;
                if (tiles.stages < 3) wait_for_groups<0>(), commit(previous), previous = -1;
            }
        }
        if (previous >= 0) wait_for_groups<0>(), commit(previous);
    }

    __device__ static void consume(Params const& params, DynamicShared& shared, unsigned thread, unsigned group,
                                   Share const& share) {
        GatherTiles const& tiles = params.gather;
        int const filters = static_cast<int>(params.y.layout.shape[1]),
                  own_channel = tiles.wide ? 0 : static_cast<int>(group) * Atom::m;
        unsigned const own_position = tiles.wide ? group * GatherTiles::pixels : 0;
        auto const barrier = [&] { ptx::bar_sync(first_barrier + group, Atom::threads); };
        DynamicPipelineState state{tiles.stages};
#pragma unroll 1
        for (unsigned tile = share.tile; tile < tiles.tiles; tile += gridDim.x) {
            int const first = channel_tile(tiles, tile) + own_channel;
            bool const exists = first < filters;
            Accumulators acc;
            bool accumulate = false;
            GatherTiles::TapRows const rows = tiles.tap_rows_of(tiles.first_position(tile));
#pragma unroll 1
            for (int c = share.begin; c < share.end; c += tiles.slices * GatherTiles::slice, state.advance()) {
                shared.pipeline.consumer_wait(state);
                if (exists) {
                    Steps steps(shared.stages + state.stage * tiles.stage_bytes(), shared.tables, tiles, rows,
                                own_channel, own_position, thread);
                    multiply(acc, steps, accumulate, tiles.slices * (steps.end - steps.begin));
                    accumulate = true;
                }
                ptx::bar_warp_sync();
                if (thread % 32 == 0) shared.pipeline.consumer_release(state.stage);
            }
            if (tile + gridDim.x >= tiles.tiles) start_next_kernel();
            if (share.sharers > 1) {
                ConsumerBarrier()();  // both warpgroups have read the stages
                if (exists) Merge::put(merged(shared), acc, group, thread);
            } else if (exists) {
                Writer(params, tiles, first, thread)
                    .store(acc, tiles.first_position(tile) + own_position, shared.writers[group], barrier);
            }
        }
    }

    __device__ static void multiply(Accumulators& acc, Steps& steps, bool accumulate, int count) {
        int const whole = steps.end - steps.begin == steps.all_taps ? steps.all_taps : 0;
#pragma unroll 1
        for (; whole == 9 && count > 0; accumulate = true, count -= 9) {
            multiply_batch<5, 9, 0>(acc, steps, accumulate);
            multiply_batch<4, 9, 5>(acc, steps, true);
        }
#pragma unroll 1
        for (; whole == 4 && count > 0; accumulate = true, count -= 4) multiply_batch<4, 4, 0>(acc, steps, accumulate);
#pragma unroll 1
        while (count > 0) {
            // batches of four steps; of three where a batch of one step would remain
            int const now = count >= 4 && count != 5 && count != 9 ? 4 : count > 3 ? 3 : count;
            if (now == 4) multiply_batch<4>(acc, steps, accumulate);
            else if (now == 3) multiply_batch<3>(acc, steps, accumulate);
            else if (now == 2) multiply_batch<2>(acc, steps, accumulate);
            else multiply_batch<1>(acc, steps, accumulate);
            accumulate = true, count -= now;
        }
    }

    /// Loads the filter fragments of `batch` steps to registers and multiplies them. If `taps` is not 0, all taps of
    /// the filter are in bounds, and the batch's first one is tap `first`.
    template <int batch, int taps = 0, int first = 0>
    __device__ static void multiply_batch(Accumulators& acc, Steps& steps, bool accumulate) {
        mma::RegisterOperand filters[batch];
        std::uint32_t pixels[batch];
        if constexpr (taps > 0) steps.template fragments<taps, first>(filters);
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            if constexpr (taps == 0) filters[i] = steps.fragment();
            pixels[i] = steps.pixels(), steps.advance();
        }
        auto const a = [&](unsigned k, unsigned) { return filters[k]; };  // (STEPS, 64, 16), in registers
        auto const b = [&](unsigned k, unsigned i) {  // (STEPS, PRODUCTS, PIXELS, 16)
            constexpr std::uint64_t eight_positions = 8;
            return eight_positions << 32 | (pixels[k] + i * static_cast<std::uint32_t>(Atom::n));
        };
        mma::gemm<Atom, batch>(acc, a, b, accumulate);  // (PRODUCTS, 64, PIXELS) += over (STEPS, 16)
        mma::wait(acc);
    }
};

}  // namespace fusekit::hip
