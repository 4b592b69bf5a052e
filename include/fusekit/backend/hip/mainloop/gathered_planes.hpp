// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/copy/gathered_filters.hpp"
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
    using Gather = NchwGather<T>;
    using Pipeline = typename Gather::Pipeline;
    using Accumulators = typename Atom::Accumulators[products];
    using Roles = WarpRoles<consumers, RegisterBudget<80, 176, 2, consumers>, 2>;
    static constexpr unsigned first_barrier = 1;
    using ConsumerBarrier = NamedBarrier<first_barrier + consumers, consumers * Atom::threads>;

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
            produce(params, shared, roles.warp - Roles::first_producer, thread % 32, share);
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
                                first_position(tiles, share.tile) + static_cast<unsigned>(Merge::first_column(thread)),
                                params.y.layout.stride[0]);
        Merge::store_quads(params, quad, channel_tile(tiles, share.tile), merged(shared), share.tile, share.rank,
                           thread, ConsumerBarrier());
    }

    __device__ static int channel_tile(GatherTiles const& tiles, unsigned tile) {
        return static_cast<int>(tiles.channel_tiles.remainder(tile)) * tiles.tile_filters();
    }
    __device__ static unsigned first_position(GatherTiles const& tiles, unsigned tile) {
        return tiles.channel_tiles.divide(tile) * static_cast<unsigned>(tiles.tile_pixels());
    }

    __device__ static void produce(Params const& params, DynamicShared& shared, unsigned warp, unsigned lane,
                                   Share const& share) {
        GatherTiles const& tiles = params.gather;
        Gather const gather(params.x, tiles, shared.tables, warp, lane);
        auto const w = detail::typed<T>(Plan::Head::filters(params.bound.head));
        GatheredFilters<T, Gather::warps * 32> const filters(w, tiles, warp * 32 + lane);
        int const stage_bytes = tiles.stage_bytes();
        DynamicPipelineState state{tiles.stages};
#pragma unroll 1
        for (unsigned tile = share.tile; tile < tiles.tiles; tile += gridDim.x)
#pragma unroll 1
            for (int c = share.begin; c < share.end; c += tiles.slices * GatherTiles::slice, state.advance()) {
                unsigned char* const stage = shared.stages + state.stage * stage_bytes;
                shared.pipeline.producer_acquire(state);
                filters.copy(channel_tile(tiles, tile), c, stage + 2 * tiles.slices * tiles.chunk_bytes());
                gather.gather(first_position(tiles, tile), c, stage);
                wait_for_copies();
                ptx::fence_proxy_async();
                ptx::bar_warp_sync();
                if (lane == 0) shared.pipeline.producer_commit(state.stage);
            }
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
#pragma unroll 1
            for (int c = share.begin; c < share.end; c += tiles.slices * GatherTiles::slice, state.advance()) {
                shared.pipeline.consumer_wait(state);
                if (exists) {
                    Steps steps(shared, tiles, state.stage, own_channel, own_position, thread);
                    multiply(acc, steps, accumulate, tiles.slices * tiles.taps());
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
                    .store(acc, first_position(tiles, tile) + own_position, shared.writers[group], barrier);
            }
        }
    }

    /// Iterator over the steps of a stage, each one tap of a slice of 16 channels: all taps of the first slice, then
    /// those of the next.
    struct Steps {
        GatherTables const& tables;
        unsigned char const* filters;  ///< two channels of the thread's filter in the slice's first box of 8 channels
        std::uint64_t x;  ///< descriptor of the slice
        int filter_pitch, all_taps, taps, tap = 0;
        std::uint64_t slice_step;

        __device__ Steps(DynamicShared& shared, GatherTiles const& tiles, int stage, int own_channel,
                         unsigned own_position, unsigned thread)
            : tables(shared.tables), filter_pitch(tiles.filter_pitch()), all_taps(tiles.all_taps), taps(tiles.taps()) {
            unsigned char const* const start = shared.stages + stage * tiles.stage_bytes();
            auto const chunk = static_cast<std::uint64_t>(tiles.chunk_bytes() >> 4);
            // in a cluster, an SMEM address also has the CTA's rank, in bits of the descriptor's leading dimension
            constexpr std::uint64_t eight_positions = 8, address_bits = 0x3ffff;
            x = ((ptx::shared_address(start) & address_bits) >> 4) + own_position;
            x |= chunk << 16 | eight_positions << 32;
            slice_step = 2 * chunk;
            auto const filter = static_cast<int>(thread / 32 * 16 + thread % 32 / 4) + own_channel;
            filters = start + 2 * tiles.slices * tiles.chunk_bytes() + filter * filter_pitch +
                      static_cast<int>(thread % 4) * 4 * all_taps;
        }

        /// Address of the two channels that are word `i` of the thread's fragment of operand a: of filter + i % 2 * 8,
        /// from channel + i / 2 * 8 on.
        __device__ unsigned char const* address(int i) const {
            return filters + i / 2 * 16 * all_taps + i % 2 * 8 * filter_pitch;
        }
        /// Loads the thread's fragment of filters of the current step. Source: PTX ISA 8.7, section 9.7.15.5.1, the
        /// figure of A for .k16.
        __device__ mma::RegisterOperand fragment() const {
            mma::RegisterOperand result;
            int const tap_bytes = 2 * tables.number[tap];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                std::uint32_t const one = *reinterpret_cast<std::uint16_t const*>(address(i) + tap_bytes),
                                    two =
                                        *reinterpret_cast<std::uint16_t const*>(address(i) + tap_bytes + 2 * all_taps);
                result.words[i] = one | two << 16;
            }
            return result;
        }
        /// Loads the fragments of all taps of a slice, for filters of four taps.
        __device__ void fragments(mma::RegisterOperand (&result)[4]) const {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                auto const words = *reinterpret_cast<Packet<std::uint32_t, 4> const*>(address(i));
#pragma unroll
                for (int t = 0; t < 4; ++t) {
                    std::uint32_t const one = words.values[t / 2], two = words.values[2 + t / 2];
                    result[t].words[i] = t % 2 == 0 ? (one & 0xffffu) | two << 16 : one >> 16 | (two & 0xffff0000u);
                }
            }
        }
        __device__ std::uint64_t pixels() const { return x + static_cast<std::uint64_t>(tables.offset[tap]); }
        __device__ void advance() {
            if (++tap < taps) return;
            tap = 0, x += slice_step, filters += 32 * all_taps;
        }
    };

    __device__ static void multiply(Accumulators& acc, Steps& steps, bool accumulate, int count) {
#pragma unroll 1
        while (count > 0) {
            // batches of four steps; of three where a batch of one step would remain
            int const now = count >= 4 && count != 5 && count != 9 ? 4 : count > 3 ? 3 : count;
            if (now == 4 && steps.taps == 4 && steps.all_taps == 4) multiply_batch<4, true>(acc, steps, accumulate);
            else if (now == 4) multiply_batch<4>(acc, steps, accumulate);
            else if (now == 3) multiply_batch<3>(acc, steps, accumulate);
            else if (now == 2) multiply_batch<2>(acc, steps, accumulate);
            else multiply_batch<1>(acc, steps, accumulate);
            accumulate = true, count -= now;
        }
    }

    /// Loads the filter fragments of `batch` steps to registers and multiplies them. `whole`: the batch is all four
    /// taps of a slice, so that fragments are loaded as vectors.
    template <int batch, bool whole = false>
    __device__ static void multiply_batch(Accumulators& acc, Steps& steps, bool accumulate) {
        mma::RegisterOperand filters[batch];
        std::uint64_t pixels[batch];
        if constexpr (whole) steps.fragments(filters);
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            if constexpr (!whole) filters[i] = steps.fragment();
            pixels[i] = steps.pixels(), steps.advance();
        }
        auto const a = [&](unsigned k, unsigned) { return filters[k]; };  // (STEPS, 64, 16), in registers
        auto const b = [&](unsigned k, unsigned i) {  // (STEPS, PRODUCTS, PIXELS, 16)
            return pixels[k] + static_cast<std::uint64_t>(i) * Atom::n;
        };
        mma::gemm<Atom, batch>(acc, a, b, accumulate);  // (PRODUCTS, 64, PIXELS) += over (STEPS, 16)
        mma::wait(acc);
    }
};

}  // namespace fusekit::hip
