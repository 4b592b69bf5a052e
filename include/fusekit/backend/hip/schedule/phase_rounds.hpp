// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/schedule/workload.hpp"

namespace fusekit::hip::detail {

/// Distribution of the tiles of all phases of a strided TransposedConv (stride_phases.hpp) over persistent CTAs, one
/// per SM, for the cost model. As in PhaseTiles (copy/tma_phases.hpp), each CTA has one tile per round, tiles of more
/// taps come first, and the order of CTAs is reversed in every other round.
struct PhaseRounds {
    std::int64_t ends[max_tma_phases] = {};  ///< index of the first tile after each phase
    int taps[max_tma_phases] = {}, phases;
    std::int64_t blocks;

    FUSEKIT_H constexpr PhaseRounds(ScheduleFacts const& schedule, ConvCase const& of, int processors)
        : phases(of.phases) {
        std::int64_t tiles = 0;
        for (int i = 0; i < phases; ++i) {
            tiles += divide_up(of.of_phases[i].m, schedule.m) * divide_up(of.product.n, schedule.n);
            ends[i] = tiles, taps[i] = of.of_phases[i].taps;
        }
        blocks = tiles < processors ? tiles : processors;
    }

    FUSEKIT_H constexpr std::int64_t tiles() const { return ends[phases - 1]; }

    /// Number of tiles of a CTA, and the sum of their taps.
    struct Load {
        std::int64_t tiles = 0, taps = 0;
    };
    FUSEKIT_H constexpr Load of_block(std::int64_t block) const {
        Load load;
        int phase = 0;
        for (std::int64_t round = 0;; ++round) {
            std::int64_t const tile = round * blocks + (round % 2 == 0 ? block : blocks - 1 - block);
            while (phase < phases && tile >= ends[phase]) ++phase;
            if (phase == phases) return load;
            ++load.tiles, load.taps += taps[phase];
        }
    }
};

/// Sets the rounds of a workload, and the mean of their steps, to those of the CTA with the most work. `steps_of_tap`:
/// k-tiles per tap. With more than 16 rounds the workload, which is that of an average CTA, stays unchanged.
FUSEKIT_H constexpr void set_busiest(Workload& workload, PhaseRounds const& of, std::int64_t steps_of_tap,
                                     Costs const& costs) {
    constexpr std::int64_t many = 16;
    if (of.tiles() == 0 || of.tiles() > many * of.blocks) return;
    double const of_step = costs.step + costs.arithmetic * workload.arithmetic,
                 of_round = costs.round + costs.output * workload.outputs;
    double most = 0;
    auto const compare = [&](std::int64_t block) {
        PhaseRounds::Load const load = of.of_block(block % of.blocks);
        auto const steps = static_cast<double>(load.taps * steps_of_tap), tiles = static_cast<double>(load.tiles);
        double const cycles = steps * of_step + tiles * of_round;
        if (cycles <= most) return;
        most = cycles, workload.rounds = tiles, workload.steps = steps / tiles;
    };
    // consecutive CTAs have different work only if a phase ends in one of their rounds
    compare(0);
    for (int i = 0; i < of.phases; ++i) compare(of.ends[i]), compare(of.blocks - of.ends[i] % of.blocks);
}

}  // namespace fusekit::hip::detail
