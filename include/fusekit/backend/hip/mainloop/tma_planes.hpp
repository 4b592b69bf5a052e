// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/epilogue/plane_group_store.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/mma/gemm.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"

namespace fusekit::hip {

/// 1x1 convolution of NCHW tensors of 16-bit elements on sm_90a's tensor cores (schedule/tma_planes.hpp). GemmM is the
/// channels of y, GemmN pixels of planes, GemmK the channels of x. TMA loads the planes as they are, operand b of
/// wgmma in MN-major order, without transposing them. The consumer warpgroups read fragments of filters into registers.
template <class Plan, class Schedule, Element T>
class TmaPlanesGemm : public TmaKernel {
    using Tiles = TmaPlaneTiles;
    using Atom = Wgmma<T, Tiles::pixels, ptx::Major::k, ptx::Major::mn>;
    using Writer = PlaneGroupStore<Plan, Atom, T>;
    static constexpr bool is_transposed = has_transposed_conv<Plan>;
    static constexpr int consumers = Tiles::warpgroups, k_blocks = Tiles::channels / Atom::k;
    using Pipeline = TmaPipeline<Tiles::max_stages, 4 * consumers>;
    using State = DynamicPipelineState;
    using Accumulators = typename Atom::Accumulators[Tiles::max_groups];
    using Roles = WarpRoles<consumers, RegisterBudget<40, 232>>;

public:
    using Params = ConvParams<Plan, T, T>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;

    struct alignas(1024) DynamicShared {
        unsigned char stages[Tiles::stage_bytes];
        typename Writer::Shared writers[4 * consumers];
        Pipeline pipeline;
    };
    static_assert(sizeof(DynamicShared) <= 227 * 1024,
                  "the stages of a CTA exceed the 227 KB of shared memory of sm_90");

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        Roles const roles(thread);
        begin(thread, [&] { shared.pipeline.init(); });
        if (roles.begin_producer()) {
            if (roles.warp == Roles::first_producer && ptx::elect_sync()) produce(params, shared, block);
        } else {
            consume(params, shared, thread % 128, roles.group, block);
        }
    }

private:
    /// Tile `number` of a warpgroup's sequence of tiles. In cooperative tiles, all warpgroups have the same sequence.
    struct Tile {
        unsigned first_group;
        int groups, first_filter;
        bool exists, is_last;

        __device__ Tile(Tiles const& tiles, unsigned block, unsigned number, unsigned warpgroup) {
            unsigned const rings = rings_of(tiles), own = tiles.cooperative ? 0 : warpgroup,
                           tile = (number * gridDim.x + block) * rings + own, row = tiles.columns.divide(tile);
            first_group = row * static_cast<unsigned>(tiles.groups);
            first_filter = static_cast<int>(tile - row * tiles.columns.value()) * tiles.filters_of_tile();
            exists = tile < tiles.tiles;
            is_last = tile + rings * gridDim.x >= tiles.tiles;
            groups = exists ? (min)(static_cast<int>(tiles.all_groups - first_group), tiles.groups) : 0;
        }
    };
    /// Number of rings of stages: a ring for each warpgroup that has tiles of its own, in every second stage.
    __device__ static unsigned rings_of(Tiles const& tiles) { return tiles.cooperative ? 1 : consumers; }

    /// SMEM address of the groups of pixels of a stage; the filters follow.
    __device__ static std::uint32_t stage_of(DynamicShared& shared, Tiles const& tiles, int stage) {
        return ptx::shared_address(shared.stages) + static_cast<unsigned>(stage * tiles.bytes_of_stage());
    }

    /// Code of the producer thread: issues the TMA loads of all k-tiles of the CTA's tiles, for warpgroups with tiles
    /// of their own in turn.
    __device__ static void produce(Params const& params, DynamicShared& shared, unsigned block) {
        Tiles const& tiles = params.tma_planes;
        unsigned const rings = rings_of(tiles);
        State state{tiles.stages};
        for (unsigned number = 0; Tile(tiles, block, number, 0).exists; ++number)
#pragma unroll 1
            for (int step = 0; step < tiles.k_tiles; ++step)
#pragma unroll 1
                for (unsigned ring = 0; ring < rings; ++ring, state.advance()) {
                    Tile const tile(tiles, block, number, ring);
                    if (tile.exists) load(params, shared, tile, step, state);
                }
    }
    /// Issues the TMA loads of k-tile `step` of a tile.
    __device__ static void load(Params const& params, DynamicShared& shared, Tile const& tile, int step,
                                State const& state) {
        Tiles const& tiles = params.tma_planes;
        int const filters = static_cast<int>(params.y.layout.shape[1]),
                  boxes_of_filters = tiles.cooperative && tile.first_filter + Tiles::filters < filters ? consumers : 1;
        std::uint32_t const full = shared.pipeline.producer_acquire(
            state, static_cast<unsigned>(tile.groups * Tiles::group_bytes +
                                         boxes_of_filters * tiles.box_filters * Tiles::channels * 2));
        std::uint32_t to = stage_of(shared, tiles, state.stage);
        std::uint32_t const of_filters = to + static_cast<unsigned>(tiles.groups * Tiles::group_bytes);
#pragma unroll 1
        for (int i = 0; i < tile.groups; ++i, to += Tiles::group_bytes) {
            unsigned const group = tile.first_group + static_cast<unsigned>(i), n = tiles.of_image.divide(group);
            int const pixel = static_cast<int>(group - n * tiles.of_image.value()) * Tiles::pixels;
            ptx::tma_load(to, &params.maps.x, full, {pixel, step * Tiles::channels, static_cast<int>(n), 0});
        }
#pragma unroll 1
        for (int i = 0; i < boxes_of_filters; ++i) {
            int const channel = step * Tiles::channels, filter = tile.first_filter + i * Tiles::filters;
            ptx::tma_load(of_filters + static_cast<unsigned>(i * Tiles::filter_bytes), &params.maps.w, full,
                          {is_transposed ? filter : channel, 0, 0, is_transposed ? channel : filter});
        }
    }

    /// Code of consumer warpgroup `group`.
    __device__ static void consume(Params const& params, DynamicShared& shared, unsigned thread, unsigned group,
                                   unsigned block) {
        Tiles const& tiles = params.tma_planes;
        unsigned const own = tiles.cooperative ? group : 0;
        auto& staged = shared.writers[group * 4 + thread / 32];
        State state{tiles.stages};
        if (!tiles.cooperative && group > 0) state.advance();
        for (unsigned number = 0;; ++number) {
            Tile const tile(tiles, block, number, group);
            if (!tile.exists) return;
            Accumulators acc;
            // Groups that the tile does not have are multiplied, too, but not stored.
            if (tiles.groups == 1) multiply<1>(shared, tiles, own, acc, state, thread);
            else multiply<Tiles::max_groups>(shared, tiles, own, acc, state, thread);
            if (tile.is_last) start_next_kernel();
            Writer const writer(params, tile.first_filter + static_cast<int>(own) * Tiles::filters, thread);
#pragma unroll
            for (int i = 0; i < Tiles::max_groups; ++i) {
                if (i >= tile.groups) continue;
                unsigned const of_tile = tile.first_group + static_cast<unsigned>(i),
                               n = tiles.of_image.divide(of_tile);
                writer.store(acc[i], static_cast<int>(n),
                             static_cast<int>(of_tile - n * tiles.of_image.value()) * Tiles::pixels, staged);
            }
        }
    }

    /// K-loop of a tile of `groups` groups of pixels.
    template <int groups>
    __device__ static void multiply(DynamicShared& shared, Tiles const& tiles, unsigned own, Accumulators& acc,
                                    State& state, unsigned thread) {
        auto const offset = static_cast<unsigned>(tiles.groups * Tiles::group_bytes) + own * Tiles::filter_bytes;
#pragma unroll 1
        for (int step = 0; step < tiles.k_tiles; ++step) {
            int const stage = state.stage;
            auto const begin = static_cast<unsigned>(stage * tiles.bytes_of_stage());
            shared.pipeline.consumer_wait(state);
            std::uint32_t a[k_blocks][4];
            load_filters(shared.stages + begin + offset, thread, a);
            std::uint64_t const x = Atom::mn_descriptor(ptx::shared_address(shared.stages) + begin);
            mma::fence_operands(acc);
            ptx::wgmma_fence();
#pragma unroll
            for (unsigned k = 0; k < k_blocks; ++k)
#pragma unroll
                for (unsigned i = 0; i < groups; ++i)  // (64, PIXELS) += (64, 16), registers; (16, PIXELS), MN-major
                    Atom::multiply(acc[i], a[k], x + k * Atom::mn_k_step + i * (Tiles::group_bytes >> 4),
                                   step > 0 || k > 0);
            ptx::wgmma_commit();
            mma::wait(acc);
            ptx::bar_warp_sync();
            unsigned const rings = rings_of(tiles);
            for (unsigned i = 0; i < rings; ++i) {
                // a stage expects the arrivals of all warps
                if (thread % 32 == 0) shared.pipeline.consumer_release(stage);
                state.advance();
            }
        }
    }

    /// Reads a thread's fragments of operand a, 64 filters x 64 channels, from filters (of a TransposedConv: channels)
    /// in rows of 128 bytes with the 128-byte swizzle. Source: PTX ISA 8.7, section 9.7.15.5.1, the figure of A for
    /// .k16.
    __device__ static void load_filters(unsigned char const* w, unsigned thread, std::uint32_t (&a)[k_blocks][4]) {
        if constexpr (is_transposed) {
            unsigned const lane = thread % 32, filter = thread / 32 * 16 + lane / 8 % 2 * 8,
                           channel = lane / 16 * 8 + lane % 8;  // of row lane % 8 of matrix lane / 8
            std::uint32_t const from = ptx::shared_address(w) + channel * 128 + ((filter * 2) ^ (lane % 8 * 16));
#pragma unroll
            for (unsigned k = 0; k < k_blocks; ++k) ptx::ldmatrix_x4<true>(from + k * Atom::k * 128, a[k]);
            return;
        }
        unsigned const group = thread % 32 / 4, row = thread / 32 * 16 + group;
#pragma unroll
        for (unsigned k = 0; k < k_blocks; ++k)
#pragma unroll
            for (unsigned i = 0; i < 4; ++i) {
                unsigned const channel = Atom::k * k + i / 2 * 8 + thread % 4 * 2;
                a[k][i] = *reinterpret_cast<std::uint32_t const*>(w + (row + i % 2 * 8) * 128 +
                                                                  ((channel * 2) ^ (group * 16)));
            }
    }
};

}  // namespace fusekit::hip
