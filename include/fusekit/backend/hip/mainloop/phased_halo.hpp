// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/epilogue/phased_store.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/mma/gemm.hpp"
#include "fusekit/backend/hip/pipeline/ping_pong.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"

namespace fusekit::hip {

/// Strided TransposedConv on sm_90a's tensor cores, all phases of the stride in one product (PhasedHaloTiles): GemmM is
/// a block of pairs of a phase and a channel of y, GemmN the positions, GemmK the taps of the window and the channels
/// of x. The filters of the CTA's block stay in SMEM. The producer TMA-loads a tile of x with its halo, 64 channels a
/// stage; each of two consumer warpgroups multiplies every second tile.
template <class Plan, class Schedule, Element T, detail::OutputElement U>
class PhasedHaloGemm : public TmaKernel {
    using Tiles = PhasedHaloTiles;
    using Atom = Wgmma<T, Tiles::positions>;
    using Store = PhasedStore<Plan, Atom, T, U>;
    static constexpr unsigned consumers = 2, producer_warp = 4 * consumers;
    /// Numbers of the named barriers: of the filters; then one per warpgroup of the epilogue, and of PingPong.
    static constexpr unsigned filters_barrier = 1, epilogue_barrier = 2, order_barrier = epilogue_barrier + consumers;

public:
    using Params = ConvParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;

    struct alignas(1024) DynamicShared {
        unsigned char bytes[Tiles::shared_bytes];  ///< filters, then stages
        typename Store::Shared staged[consumers];
        TmaPipeline<Tiles::max_stages, 4> pipeline;  ///< a warp of the stage's consumer arrives
    };
    static_assert(sizeof(DynamicShared) <= 227 * 1024,
                  "filters and stages exceed the 227 KB of shared memory of sm_90");

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        Tiles const& tiles = params.phased_halo;
        unsigned const warp = ptx::warp_uniform(thread / 32), first = tiles.by_blocks.divide(block),
                       step = tiles.by_blocks.divide(gridDim.x);
        begin(thread, [&] { shared.pipeline.init(); });
        if (warp == producer_warp) {
            if (ptx::elect_sync()) load(tiles, shared, first, step);
            return;
        }
        Filter<2> const of_y = Plan::Head::geometry(params.bound.head).of_y();
        PhasedColumns const columns(tiles, tiles.by_blocks.remainder(block), of_y.strides[0]);
        auto const w = detail::typed<T>(Plan::Head::filters(params.bound.head));
        PhasedFilters<T>(tiles, w, of_y, columns)
            .copy(shared.bytes, warp < producer_warp ? thread : thread - 32, threads - 32);
        ptx::fence_proxy_async();
        ptx::bar_sync(filters_barrier, threads - 32);
        if (warp < producer_warp) compute(params, shared, columns, thread % 128, warp / 4, first, step);
    }

private:
    /// Issues the TMA loads of all tiles of the CTA, in one thread.
    __device__ static void load(Tiles const& tiles, DynamicShared& shared, unsigned first, unsigned step) {
        DynamicPipelineState state{tiles.stages};
        auto const bytes = static_cast<unsigned>(tiles.bytes_of_x());
        auto const stages = ptx::shared_address(shared.bytes) + static_cast<unsigned>(tiles.filter_bytes());
#pragma unroll 1
        for (unsigned number = first; number < tiles.tiles_of_block; number += step) {
            PhasedTile const tile(tiles, number);
#pragma unroll 1
            for (int k = 0; k < tiles.k_tiles; ++k, state.advance()) {
                auto const full = shared.pipeline.producer_acquire(state, bytes);
                ptx::tma_load(stages + static_cast<unsigned>(state.stage * tiles.stage_bytes()), &tiles.x, full,
                              {k * Tiles::row_channels, tile.q + tiles.first[1], tile.p + tiles.first[0], tile.n});
            }
        }
    }

    __device__ static void compute(Params const& params, DynamicShared& shared, PhasedColumns const& columns,
                                   unsigned thread, unsigned group, unsigned first, unsigned step) {
        Tiles const& tiles = params.phased_halo;
        Store const epilogue(params, columns, shared.staged[group], thread);
        auto const k_tiles = static_cast<unsigned>(tiles.k_tiles), stages = static_cast<unsigned>(tiles.stages);
        PingPong<true, order_barrier> const order{group};
        if (group == 1) order.arrive();
#pragma unroll 1
        for (unsigned i = group, number = first + group * step; number < tiles.tiles_of_block;
             i += consumers, number += consumers * step) {
            auto state = DynamicPipelineState::after(i * k_tiles, stages);
            typename Atom::Accumulators acc;
            order.wait();
            multiply(tiles, shared, state, thread, acc, [&] { order.arrive(); });
            if (number + consumers * step >= tiles.tiles_of_block) start_next_kernel();
            epilogue.store(acc, PhasedTile(tiles, number),
                           [&] { ptx::bar_sync(epilogue_barrier + group, Atom::threads); });
        }
    }

    template <class W>
    __device__ static void multiply(Tiles const& tiles, DynamicShared& shared, DynamicPipelineState& state,
                                    unsigned thread, typename Atom::Accumulators& acc, W const& when_full) {
        auto const filters = ptx::shared_address(shared.bytes),
                   stages = filters + static_cast<unsigned>(tiles.filter_bytes());
        std::uint64_t a = Atom::descriptor(filters);  // (64, 64), swizzled: a tap's filters
        std::uint64_t const next_a = Atom::row_offset(tiles.filter_rows());
#pragma unroll 1
        for (int k = 0; k < tiles.k_tiles; ++k, state.advance()) {
            shared.pipeline.consumer_wait(state);
            if (k + 1 == tiles.k_tiles) when_full();
            auto const k_blocks = static_cast<unsigned>(tiles.k_blocks(k));
            // (POSITIONS, 64), swizzled: x at the tap's offset
            std::uint64_t b = Atom::descriptor(stages + static_cast<unsigned>(state.stage * tiles.stage_bytes()));
#pragma unroll 1
            for (int tap = 0, u = 0; tap < tiles.taps[0] * tiles.taps[1]; ++tap, a += next_a) {
                mma::gemm_first<Atom>(acc, mma::OperandA<Atom>{a}, mma::OperandB<Atom>{b}, k + tap > 0, k_blocks);
                ptx::wgmma_wait<1>();
                bool const ends_row = ++u == tiles.taps[1];
                b += Atom::row_offset(ends_row ? tiles.pitch() - u + 1 : 1);
                if (ends_row) u = 0;
            }
            mma::wait(acc);
            if (thread % 32 == 0) shared.pipeline.consumer_release(state.stage);
        }
    }
};

}  // namespace fusekit::hip
