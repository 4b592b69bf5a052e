// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/stride_phases.hpp"

namespace fusekit::hip {

/// Implicit GEMM of one phase: GemmM is the phase's pixels, GemmK its taps and channels.
template <class Head, class Whole>
class PhaseProblem : public Whole {
    using Phases = ConvPhases<Head>;
    using Base = typename Whole::Base;
    using SpaceCoord = typename Whole::SpaceCoord;
    static constexpr int space = Phases::space;
    typename Phases::Phase phase;
    SpaceCoord pixels;

public:
    using Whole::first_tile;  ///< index of the phase's first tile; tiles are numbered through all phases, from 0

    /// Returns the problem of the phase that contains tile `tile`.
    template <int TileM>
    __device__ static PhaseProblem of_tile(Whole const& whole, unsigned tile) {
        PhaseProblem problem(whole);
        bool found = false;
        [&]<int... i>(std::integer_sequence<int, i...>) {
            ((found = found || problem.template enter<i, TileM>(tile)), ...);
        }(std::make_integer_sequence<int, Phases::count>{});
        return problem;
    }

    __device__ int gemm_m() const {
        int all = static_cast<int>(Base::y[0]);
        for (int mode = 0; mode < space; ++mode) all *= pixels[mode];
        return all;
    }
    __device__ int gemm_k() const { return Base::group_c() * phase.all_taps(); }
    __device__ Pixel pixel(int m, int = 0) const {
        if (m >= gemm_m()) return {-1, 0, 0};
        auto at = static_cast<unsigned>(m);
        SpaceCoord coord{};
        for (int mode = space - 1; mode >= 0; --mode) {
            auto const all = static_cast<unsigned>(pixels[mode]);
            coord[mode] = phase.remainder[mode] + static_cast<int>(at % all) * phase.stride[mode];
            at /= all;
        }
        return Whole::of_batch({static_cast<int>(at), Whole::collapsed_row(coord), coord[space - 1]});
    }
    /// Splits an index of GemmK into channel and tap of the phase, as ConvProblem::k_coord() does for all taps of a
    /// filter.
    __device__ KCoord k_coord(unsigned index, bool channels_fastest) const {
        auto const channels = static_cast<unsigned>(Base::group_c()), all = static_cast<unsigned>(phase.all_taps());
        if (all == 0) return {static_cast<int>(channels), 0, 0};
        unsigned tap = channels_fastest ? index / channels : index % all;
        SpaceCoord at{};
        for (int mode = space - 1; mode >= 0; --mode) {
            auto const taps = static_cast<unsigned>(phase.taps[mode]);
            unsigned const own = mode == 0 ? tap : tap % taps;
            at[mode] = phase.first_tap[mode] + static_cast<int>(own) * phase.step[mode];
            tap /= taps;
        }
        int const row = space == 3 ? at[0] * Base::filter.size[1] + at[1] : at[0];
        return {static_cast<int>(channels_fastest ? index % channels : index / all), row, at[space - 1]};
    }

private:
    __device__ explicit PhaseProblem(Whole const& whole) : Whole(whole) {}

    /// Selects phase i, and returns true if it contains the tile with index `tile`. Precondition: phases 0 to i - 1 do
    /// not.
    template <int i, int TileM>
    __device__ bool enter(unsigned tile) {
        if constexpr (i > 0) first_tile += static_cast<unsigned>(detail::divide_up(gemm_m(), TileM));
        constexpr auto own = Phases::phase(i);
        phase = own;
        for (int mode = 0; mode < space; ++mode) pixels[mode] = phase.pixels(mode, Whole::extent_of_y(mode));
        return tile - first_tile < static_cast<unsigned>(detail::divide_up(gemm_m(), TileM));
    }
};

/// Returns the implicit GEMM to which the tile of CTA `block` belongs, of TileM pixels x TileN channels: the whole
/// convolution or, for large batches, a range of its images (slabs.hpp), or one phase of a TransposedConv.
template <class Plan, int TileM, int TileN, class Params>
__device__ auto problem_of_tile(Params const& params, unsigned block) {
    auto whole = params.problem();
    using Problem = decltype(whole);
    if constexpr (Problem::of_channels) whole.enter(params.slabs, block);
    if constexpr (has_phases<Plan>()) {
        auto const columns = static_cast<unsigned>(detail::divide_up(whole.group_k(), TileN) * whole.groups());
        return PhaseProblem<typename Plan::Head, Problem>::template of_tile<TileM>(whole, block / columns);
    } else {
        return whole;
    }
}
template <class Plan, class Problem>
using ProblemOfTile = std::conditional_t<has_phases<Plan>(), PhaseProblem<typename Plan::Head, Problem>, Problem>;

}  // namespace fusekit::hip
