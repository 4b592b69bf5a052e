// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/mma/gemm.hpp"
#include "fusekit/backend/integer.hpp"

namespace fusekit::hip::mma {

/// Counts the k-blocks to multiply in each k-tile of a convolution: a tap has `channels` channels, Atom::tile_k per
/// k-tile, and the k-blocks past the channels of its last k-tile are zero. `first`: index of the first k-tile.
template <class Atom>
class ChannelBlocks {
public:
    FUSEKIT_HD explicit ChannelBlocks(int the_channels, unsigned first = 0) : channels(the_channels) {
        auto const of_tap = static_cast<unsigned>(fusekit::detail::divide_up(channels, Atom::tile_k));
        remaining = channels - static_cast<int>(first % of_tap) * Atom::tile_k;
    }

    /// Returns the number of k-blocks of the next k-tile that have channels; may exceed the k-blocks of a k-tile if all
    /// have.
    FUSEKIT_HD unsigned next() {
        unsigned const count = static_cast<unsigned>(remaining + Atom::k - 1) / static_cast<unsigned>(Atom::k);
        remaining = remaining > Atom::tile_k ? remaining - Atom::tile_k : channels;
        return count;
    }

    /// Makes next() return 0.
    FUSEKIT_HD void clear() { channels = remaining = 0; }

private:
    int channels, remaining;
};

/// A consumer warpgroup's loop over `steps` k-tiles, one pipeline stage each, from the stage at `state` on. gemm(acc,
/// stage, accumulate) issues the MMAs of a stage as one wgmma group. One group is in flight while the warpgroup waits
/// for the next stage; the group's stage is released when the group completes. If Atom::needs_promotion, each k-tile is
/// accumulated from zero and then added to `acc`, while other warpgroups' MMAs run. Calls when_begun() after issuing
/// the first group, and when_all_begun() after issuing the last. `thread` is the thread's index in the warpgroup.
template <class Atom, class Pipeline, class State, class Steps, class Acc, class Gemm, class WhenBegun,
          class WhenAllBegun>
__device__ void k_loop(Pipeline const& pipeline, State& state, Steps steps, unsigned thread, Acc& acc, Gemm const& gemm,
                       WhenBegun const& when_begun, WhenAllBegun const& when_all_begun) {
    auto const release = [&](unsigned stage) { pipeline.consumer_release(stage, thread); };
    unsigned previous = 0;
    if constexpr (Atom::needs_promotion) clear(acc);
#pragma unroll 1
    for (Steps step = 0; step < steps; ++step) {
        unsigned const now = state.stage;
        pipeline.consumer_wait(state);
        if constexpr (Atom::needs_promotion) {
            Acc of_step;
            gemm(of_step, now, false);
            if (step == 0) when_begun();
            wait(of_step);
            release(now);
            promote(acc, of_step);
        } else {
            gemm(acc, now, step > 0);
            if (step == 0) when_begun();
            ptx::wgmma_wait<1>();
            if (step > 0) release(previous);
            previous = now;
        }
        state.advance();
    }
    when_all_begun();
    if constexpr (!Atom::needs_promotion) {
        wait(acc);
        release(previous);
    }
}

template <class Atom, class Pipeline, class State, class Steps, class Acc, class Gemm>
__device__ void k_loop(Pipeline const& pipeline, State& state, Steps steps, unsigned thread, Acc& acc,
                       Gemm const& gemm) {
    k_loop<Atom>(pipeline, state, steps, thread, acc, gemm, [] {}, [] {});
}

}  // namespace fusekit::hip::mma
