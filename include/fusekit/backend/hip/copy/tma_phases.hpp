// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/copy/tma_im2col.hpp"
#include "fusekit/backend/hip/phase_maps.hpp"

namespace fusekit::hip {

/// The convolution of one phase with the members of ConvProblem that TileOrder and the epilogue read. Pixels are those
/// of y.
template <class Problem>
class PhasePixels {
public:
    __device__ PhasePixels(Problem const& the_whole, TmaPhase const& the_phase) : whole(the_whole), phase(the_phase) {}

    __device__ int gemm_m() const { return static_cast<int>(whole.y[0]) * phase.pixels_of_image(); }
    __device__ int group_k() const { return whole.group_k(); }

    __device__ Pixel pixel(int m) const {
        if (m >= gemm_m()) return {-1, 0, 0};
        Pixel const at = phase.position(m);
        return {at.n, phase.remainder[0] + at.p * phase.stride[0], phase.remainder[1] + at.q * phase.stride[1]};
    }
    /// The phase's pixel that is `count` pixels after `at`.
    __device__ Pixel next(Pixel at, int count) const {
        int const columns = phase.pixels[1] * phase.stride[1], rows = phase.pixels[0] * phase.stride[0];
        for (at.q += count * phase.stride[1]; at.q >= phase.remainder[1] + columns; at.q -= columns)
            if ((at.p += phase.stride[0]) >= phase.remainder[0] + rows) at.p = phase.remainder[0], ++at.n;
        return at;
    }

private:
    Problem const& whole;
    TmaPhase const& phase;
};

/// Order of the tiles of all phases: phases with more taps first, and the tiles of each phase in TileOrder. A CTA
/// computes one tile per round; every other round is assigned to the CTAs in reverse order, so that the CTA with the
/// longest k-loop of a round has the shortest of the next.
template <class Problem, class Maps, int TileM, int TileN>
class PhaseTiles {
    static constexpr unsigned count = sizeof(Maps::phases) / sizeof(TmaPhase);

public:
    __device__ PhaseTiles(Problem const& the_conv, Maps const& the_maps, unsigned the_block)
        : conv(the_conv), maps(the_maps), block(the_block) {}

    /// Number of the CTA's tile of a round. The first round for which exists() is false is the end of the CTA's tiles.
    __device__ unsigned number(unsigned round) const {
        return round * gridDim.x + (round % 2 == 0 ? block : gridDim.x - 1 - block);
    }
    __device__ bool exists(unsigned round) const { return number(round) < maps.phases[count - 1].end_tile; }
    /// The CTA's tile of a round.
    __device__ PhaseTile operator[](unsigned round) const {
        unsigned const tile = number(round);
        unsigned phase = 0, first = 0;
        find(tile, phase, first);
        return {TileOrder<TileM, TileN, false>(PhasePixels(conv, maps.phases[phase]))[tile - first], phase};
    }
    /// Number of taps of the CTA's tile of a round; 0 past the last tile.
    __device__ unsigned taps(unsigned round) const {
        unsigned phase = 0, first = 0;
        return find(number(round), phase, first) ? static_cast<unsigned>(maps.phases[phase].taps()) : 0;
    }

private:
    /// Sets the phase that contains a tile, and the phase's first tile; returns false past the last tile.
    __device__ bool find(unsigned tile, unsigned& phase, unsigned& first) const {
#pragma unroll 1
        for (; phase < count; ++phase) {
            if (tile < maps.phases[phase].end_tile) return true;
            first = maps.phases[phase].end_tile;
        }
        return false;
    }

    Problem const& conv;
    Maps const& maps;
    unsigned block;
};

/// Prefetches a launch's tensor maps. Threads from 32 on do it, because thread 0 initializes the CTA's barriers.
template <int count>
__device__ void prefetch_maps(PhaseMaps<count> const& maps, unsigned thread) {
    if (thread < 32 || thread >= 32 + count) return;
    if (thread == 32) ptx::prefetch_tensormap(&maps.w);
    if (thread == 32 && maps.has_rows_of_taps) ptx::prefetch_tensormap(&maps.w_last);
    TmaPhase const& phase = maps.phases[thread - 32];
    if (phase.taps() > 0) ptx::prefetch_tensormap(&phase.x);
    if (phase.pixels_of_image() > 0) ptx::prefetch_tensormap(&phase.y);
}

/// Issues, in one thread, the TMA loads of a phase's tile into the pipeline's stages. A phase without taps has none.
template <class Params, class Problem, class Ring, class Pipeline, class State>
__device__ void load_phase_tile(Params const& params, Problem const& conv, Ring& stages, Pipeline& pipeline,
                                State& state, PhaseTile const& tile) {
    using Stage = std::remove_reference_t<decltype(stages[0])>;
    static_assert(Stage::major == ptx::Major::mn);
    TmaPhase const& phase = params.maps.phases[tile.phase];
    if (phase.taps() == 0) return;
    Pixel const first = phase.position(tile.m);
    int const filters = Stage::filters(conv.group_k() - tile.n), channels = conv.group_c();
    unsigned const bytes = Stage::bytes(filters);
    int const h = first.p - phase.windows.pad_before[0], w = first.q - phase.windows.pad_before[1];
#pragma unroll 1
    for (int r = 0; r < phase.windows.size[0]; ++r)
#pragma unroll 1
        for (int s = 0; s < phase.windows.size[1]; ++s) {
            int const row = phase.last_tap[0] - r * phase.tap_step[0],
                      column = phase.last_tap[1] - s * phase.tap_step[1];
#pragma unroll 1
            for (int c = 0; c < channels; c += Stage::tile_k) {
                Stage& stage = stages[state.stage];
                auto const full = pipeline.producer_acquire(state, bytes);
                ptx::tma_load_im2col(ptx::shared_address(stage.x), &phase.x, full, {c, w, h, first.n},
                                     static_cast<unsigned>(s * phase.windows.dilations[1]),
                                     static_cast<unsigned>(r * phase.windows.dilations[0]));
                auto const to_w = ptx::shared_address(stage.w);
                for (int n = 0; n < filters; n += 64)
                    load_transposed_filters(params.maps, conv, to_w + static_cast<unsigned>(n) * Stage::row_bytes, full,
                                            row * conv.window_columns() + column, tile.n + n, c);
                state.advance();
            }
        }
}

}  // namespace fusekit::hip
