// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/copy/tma_phases.hpp"
#include "fusekit/backend/hip/mainloop/warp_specialized.hpp"

namespace fusekit::hip {

/// WarpSpecializedGemm of a strided TransposedConv, such as the gradient by x of a strided convolution: a GEMM for each
/// phase of the stride (stride_phases.hpp), all in one grid of persistent CTAs. Phases of more taps come first, so that
/// the last round has the shortest k-loops. A phase without taps stores the epilogue of zeros.
template <class Plan, class Schedule, Element T, detail::OutputElement U, bool plain = false>
class PhasedWarpSpecializedGemm : WarpSpecializedGemm<Plan, Schedule, T, U, plain> {
    using Whole = WarpSpecializedGemm<Plan, Schedule, T, U, plain>;
    using typename Whole::Atom, typename Whole::Stage, typename Whole::State, typename Whole::Accumulators,
        typename Whole::Writer, typename Whole::Roles, typename Whole::Order;
    static_assert(!Plan::totals_tiles);

public:
    using typename Whole::Architecture, typename Whole::DynamicShared, typename Whole::Params;
    using Whole::threads, Whole::blocks, Whole::waits_for_previous_kernel, Whole::reads_argument_in_place;

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        Roles const roles(thread);
        PhaseTiles<std::remove_cvref_t<decltype(conv)>, decltype(params.maps), Schedule::tile_m, Schedule::tile_n> const
            tiles(conv, params.maps, block);
        Whole::begin(params, shared, thread);
        if (roles.begin_producer()) {
            if (roles.warp != Roles::first_producer || !ptx::elect_sync()) return;
            State state;
            for (unsigned round = 0; tiles.exists(round); ++round)
                load_phase_tile(params, conv, shared.stages, shared.pipeline, state, tiles[round]);
        } else {
            compute(params, conv, shared, thread % 128, roles.group, tiles);
        }
    }

private:
    template <class Problem, class Tiles>
    __device__ static void compute(Params const& params, Problem const& conv, DynamicShared& shared, unsigned thread,
                                   unsigned group, Tiles const& tiles) {
        unsigned const steps_of_tap = static_cast<unsigned>(detail::divide_up(conv.group_c(), Stage::tile_k)),
                       first_channel = Whole::ping_pong ? 0 : group * Atom::m,
                       first_round = Whole::ping_pong ? group : 0;
        State state;
        Order const order{group};
        Writer writer(shared.writers[group], thread, Whole::epilogue_barrier + group);
        if constexpr (Whole::ping_pong) {
            if (group == 1) {
                state.advance(tiles.taps(0) * steps_of_tap);
                order.arrive();  // warpgroup 0 runs its MMAs first
            }
        }
        for (unsigned round = first_round; tiles.exists(round); round += Whole::tiles_per_block) {
            Accumulators acc;
            PhaseTile start = tiles[round];
            start.n += static_cast<int>(first_channel);
            TmaPhase const& phase = params.maps.phases[start.phase];
            PhasePixels const pixels(conv, phase);
            unsigned const steps = static_cast<unsigned>(phase.taps()) * steps_of_tap;
            writer.prepare(params, pixels, start);
            order.wait();
            if (steps > 0) {
                Whole::multiply(
                    shared, shared.pipeline, acc, state, steps, mma::ChannelBlocks<Atom>(conv.group_c()), thread,
                    first_channel, [&] { writer.begin_read(params, start); }, [&] { order.arrive(); });
            } else {
                mma::clear(acc);
                writer.begin_read(params, start);
                order.arrive();
            }
            // skips the stages of the other warpgroup's tile
            if constexpr (Whole::ping_pong) state.advance(tiles.taps(round + 1) * steps_of_tap);
            if (!tiles.exists(round + Whole::tiles_per_block)) start_next_kernel();
            writer.store(params, pixels, start, acc);
        }
        if (thread == 0) ptx::bulk_wait_group_read();
    }
};

}  // namespace fusekit::hip
