// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"
#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// Ring of SMEM stages through which TMA loads filters for one MMA warpgroup of PlanesGemm, 64 filters per output tile.
/// A stage has one tap of 64 channels, in rows of 128 bytes with the 128-byte swizzle; or, for 3x3 filters with
/// contiguous taps (KCRS), all taps of 8 channels. The warpgroup's first warp issues the next load as soon as a stage
/// has been read, so that loads are in flight during MMAs.
template <class Grid>
class PlaneFilters {
    static constexpr int filters = 64, channels = Grid::Tiles::channels, taps = 9, packet = 8,
                         packets = channels / packet;

public:
    static constexpr int stages = 3, stage_bytes = filters * taps * packet * 2;
    static_assert(stage_bytes % 1024 == 0 && stage_bytes >= filters * channels * 2);

    struct Shared {
        unsigned char stages[PlaneFilters::stages][stage_bytes];
    };
    using State = TmaStages<stages>;

    /// `the_own`: index, in the CTA's output tile, of the first of the warpgroup's 64 filters.
    template <class Problem>
    __device__ PlaneFilters(Shared& the_memory, State& the_state, Problem const& conv, Grid const& grid, int the_own,
                            unsigned first_tile, unsigned the_thread)
        : memory(the_memory), state(the_state), own(the_own), thread(the_thread), step(grid, first_tile) {
        find_tile(conv);
    }

    /// Issues the next `count` TMA loads, to the stages that were read longest ago; fewer after the last tile.
    /// Precondition: the warpgroup has finished reading those stages. All threads of the warpgroup call it, the first
    /// time with `count` = `stages`.
    template <class Params, class Problem>
    __device__ void refill(Params const& params, Problem const& conv, int count) {
        if (ptx::warp_uniform(thread / 32) != 0) return;
        bool const elected = ptx::elect_sync();
#pragma unroll 1
        for (int i = 0; i < count && step.is_valid(); ++i) {
            if (elected) copy(params);
            advance(params, conv);
        }
    }

    /// Waits until the next stage is full and returns its address; each call advances by one stage.
    __device__ unsigned char const* next() {
        state.consumer_wait(next_read);
        auto const* const stage = memory.stages[next_read.stage];
        next_read.advance();
        return stage;
    }

    /// A thread's wgmma fragments of operand a (filters) for 16 channels: four 32-bit words for each of the 9 taps.
    using Factors = std::uint32_t[4][taps];

    /// Loads a thread's fragments of operand a from the next two stages, 8 channels each. From each stage a thread
    /// reads 9 words of each of two filters that are 8 apart: the taps of two adjacent channels. Source: PTX ISA 8.7,
    /// section 9.7.15.5.1, the figure of A for .k16.
    __device__ void load(Factors& factors) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            unsigned char const* const stage = next();
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                unsigned const filter = thread / 32 * 16 + thread % 32 / 4 + static_cast<unsigned>(i) * 8;
                auto const* const from =
                    reinterpret_cast<std::uint32_t const*>(stage) + (filter * packet / 2 + thread % 4) * taps;
                std::uint32_t words[taps];
#pragma unroll
                for (int j = 0; j < taps; ++j) words[j] = from[j];
#pragma unroll
                for (int tap = 0; tap < taps; ++tap) {
                    std::uint32_t const one = words[tap / 2], two = words[(taps + tap) / 2];
                    factors[half * 2 + i][tap] =
                        tap % 2 == 0 ? (one & 0xffffu) | (two & 0xffff0000u) : one >> 16 | two << 16;
                }
                // packs these words before the next loads, to limit registers
                ptx::fence_operands(factors[half * 2 + i]);
            }
        }
    }

private:
    Shared& memory;
    State& state;
    int own;
    unsigned thread;
    PipelineState<stages> next_read;
    /// Output tile and channel block of the next load. Valid in the warpgroup's first warp only.
    typename Grid::Step step;
    unsigned to_stage = 0;
    int first;  ///< index in w of the first filter of the next load
    /// filter row and filter column of the next load; with contiguous taps, `row` is instead the index of the next 8
    /// channels in the channel block
    int row = 0, column = 0;

    /// Advances `step` to the next output tile in which this warpgroup has filters in bounds of w.
    template <class Problem>
    __device__ void find_tile(Problem const& conv) {
        while (step.is_valid() && (first = step.grid.first_channel(step.tile) + own) >= conv.group_k())
            step.tile += gridDim.x;
    }

    template <class Params>
    __device__ void copy(Params const& params) const {
        auto const full = state.barrier(to_stage), to = ptx::shared_address(memory.stages[to_stage]);
        if (params.channels_fastest) {
            state.producer_expect_tx(to_stage, filters * channels * 2);
            ptx::tma_load(to, &params.maps.w, full, {step.block * channels, column, row, first});
        } else {
            state.producer_expect_tx(to_stage, stage_bytes);
            ptx::tma_load(to, &params.maps.w, full, {(step.block * channels + row * packet) * taps, first});
        }
    }

    template <class Params, class Problem>
    __device__ void advance(Params const& params, Problem const& conv) {
        to_stage = to_stage + 1 == stages ? 0 : to_stage + 1;
        if (params.channels_fastest && ++column < conv.window_columns()) return;
        column = 0;
        if (++row < (params.channels_fastest ? conv.window_rows() : packets)) return;
        row = 0;
        if (step.advance()) find_tile(conv);
    }
};

}  // namespace fusekit::hip
