// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"
#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// SMEM state of FloatPlaneFilters: the stages' mbarriers, and for each stage the number of times that a warp has read
/// it since the CTA started.
struct FloatPlaneFiltersState {
    /// max_stages: maximum number of stages. bytes: bytes of SMEM of all stages together.
    static constexpr int max_stages = 4, bytes = 36 * 1024;
    TmaStages<max_stages> full;
    unsigned reads[max_stages];

    /// Initializes the mbarriers and counters. One thread calls it before the CTA's other threads use them.
    __device__ void init() {
        full.init();
        for (unsigned& each : reads) each = 0;
    }
};

/// Ring of SMEM stages through which TMA loads float filters, 64 per output tile, for `readers` MMA warps. A stage has
/// one tap of 32 channels, in rows of 128 bytes with the 128-byte swizzle; or, if `contiguous_taps` (KCRS), all 3x3
/// taps of 16 channels, in rows of 144 bytes per four channels. The last warp that reads a stage issues the next load
/// into it.
template <class Grid, unsigned readers, bool contiguous_taps>
class FloatPlaneFilters {
    static constexpr int filters = 64, taps = 9, slice = 16, packet = 4, channels = Grid::Tiles::channels;
    static constexpr int row_bytes = contiguous_taps ? packet * taps * 4 : 128, box_bytes = filters * row_bytes,
                         boxes = contiguous_taps ? slice / packet : 1, stage_bytes = boxes * box_bytes;
    static constexpr int max_stages = contiguous_taps ? 2 : FloatPlaneFiltersState::max_stages;

public:
    /// Bytes of SMEM for the stages. With contiguous taps they are one stage, and the caller may pass a second one.
    static constexpr int bytes = FloatPlaneFiltersState::bytes;
    static_assert((contiguous_taps ? 1 : max_stages) * stage_bytes <= bytes && stage_bytes % 1024 == 0);

    /// `the_more`: SMEM of the second stage for contiguous taps, or null. `first_tile`: the CTA's first output tile.
    __device__ FloatPlaneFilters(unsigned char* the_memory, unsigned char* the_more, FloatPlaneFiltersState& the_state,
                                 Grid const& grid, unsigned first_tile)
        : memory(the_memory),
          more(the_more),
          state(the_state),
          read{!contiguous_taps ? max_stages
               : the_more       ? 2
                                : 1},
          step(grid, first_tile) {}

    /// Issues the first load of each stage. All MMA warps call it; `copies` is true in the one warp that issues the
    /// loads.
    template <class Params, class Problem>
    __device__ void fill(Params const& params, Problem const& conv, bool copies) {
        bool const elected = ptx::elect_sync();
#pragma unroll 1
        for (int i = 0; i < read.stages; ++i) {
            if (elected && copies) copy(params, i);
            advance(conv);
        }
    }

    /// Waits until the next stage is full and loads a thread's wgmma fragments of operand a (filters) for one tap of 32
    /// channels: two fragments of 16 channels, each four pairs of adjacent channels. Source: PTX ISA 8.7, section
    /// 9.7.15.5.1, the figure of A for .k16.
    __device__ void load(float (&factors)[2][8], unsigned thread) const {
        static_assert(!contiguous_taps);
        state.full.consumer_wait(read);
#pragma unroll
        for (unsigned k = 0; k < 2; ++k)
#pragma unroll
            for (unsigned word = 0; word < 4; ++word) {
                unsigned const filter = filter_of(thread, word), chunk = 4 * k + word / 2 * 2 + thread % 4 / 2;
                auto const pair = *reinterpret_cast<Packet<float, 2> const*>(
                    address(read.stage) + filter * row_bytes + (chunk ^ filter % 8) * 16 + thread % 2 * 8);
                factors[k][2 * word] = pair.values[0];
                factors[k][2 * word + 1] = pair.values[1];
            }
    }
    /// Loads a thread's wgmma fragments of operand a (filters) for the three taps of window row `of_window` (0 to 2)
    /// and 16 channels. The call for row 0 waits until the stage is full.
    __device__ void load(float (&factors)[3][8], unsigned thread, int of_window) const {
        static_assert(contiguous_taps);
        if (of_window == 0) state.full.consumer_wait(read);
#pragma unroll
        for (unsigned word = 0; word < 4; ++word) {
            auto const* const from =
                reinterpret_cast<float const*>(address(read.stage) + (word / 2 * 2 + thread % 4 / 2) * box_bytes) +
                (filter_of(thread, word) * packet + thread % 2 * 2) * taps + 3 * of_window;
#pragma unroll
            for (unsigned tap = 0; tap < 3; ++tap) {
                factors[tap][2 * word] = from[tap];
                factors[tap][2 * word + 1] = from[taps + tap];
            }
        }
    }
    /// Marks the stage as read by this warp; all lanes call it after their loads. The last of the `readers` warps
    /// issues the next load into the stage.
    template <class Params, class Problem>
    __device__ void release(Params const& params, Problem const& conv) {
        ptx::bar_warp_sync();
        if (ptx::elect_sync()) {
            unsigned const old_reads = ptx::atom_add_one_acq_rel_cta(ptx::shared_address(&state.reads[read.stage]));
            if (old_reads % readers == readers - 1) copy(params, read.stage);
        }
        advance(conv);
        read.advance();
    }

private:
    unsigned char *memory, *more;
    FloatPlaneFiltersState& state;
    DynamicPipelineState read;  ///< position of the next stage to read
    /// Position of the next load: output tile and channel block (`step`), then the tap's filter row and column (`row`,
    /// `column`) or, with contiguous taps, the index `row` of the next 16 channels in the channel block.
    typename Grid::Step step;
    int row = 0, column = 0;

    __device__ unsigned char* address(int stage) const {
        if constexpr (contiguous_taps) return stage == 0 ? memory : more;
        return memory + stage * stage_bytes;
    }

    /// Index, in the output tile, of the filter whose elements are in word `word` (0 to 3) of the thread's fragment.
    __device__ static unsigned filter_of(unsigned thread, unsigned word) {
        return thread / 32 * 16 + thread % 32 / 4 + word % 2 * 8;
    }

    template <class Problem>
    __device__ void advance(Problem const& conv) {
        if (!contiguous_taps && ++column < conv.window_columns()) return;
        column = 0;
        if (++row < (contiguous_taps ? channels / slice : conv.window_rows())) return;
        row = 0;
        step.advance();
    }

    /// Issues the TMA load at the position `step`, `row`, `column` into stage `to_stage`; does nothing after the last
    /// tile.
    template <class Params>
    __device__ void copy(Params const& params, int to_stage) const {
        if (!step.is_valid()) return;
        auto const full = state.full.barrier(to_stage), to = ptx::shared_address(address(to_stage));
        int const c = step.block * channels, filter = step.grid.first_channel(step.tile);
        state.full.producer_expect_tx(to_stage, stage_bytes);
        if constexpr (contiguous_taps) {
#pragma unroll
            for (int i = 0; i < boxes; ++i)
                ptx::tma_load(to + static_cast<unsigned>(i * box_bytes), &params.maps.w, full,
                              {(c + row * slice + i * packet) * taps, filter});
        } else {
            ptx::tma_load(to, &params.maps.w, full, {c, column, row, filter});
        }
    }
};

}  // namespace fusekit::hip
