// SPDX-License-Identifier: MIT
#pragma once

#include <numeric>
#include <utility>

#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// Phases of a strided transposed convolution. A phase is the set of y's pixels with equal remainders modulo the
/// strides. In each mode, every `step`-th tap from a first one reads elements of x at all pixels of the phase; the
/// other taps read the zeros between x's elements and are skipped. Each phase is an implicit GEMM of its own; all
/// phases together multiply 1 / stride^2 of the products.
template <class Head>
struct ConvPhases {
    static constexpr int space = Head::collapsed_space;
    static constexpr Filter<space> filter = Head::filter;
    static constexpr int count = [] {
        std::int64_t all = 1;
        for (int mode = 0; mode < space && all <= 16; ++mode) all *= filter.strides[mode];
        // 0, for one GEMM without phases, if there are more than 16, because a kernel has code for each phase
        return all <= 16 ? static_cast<int>(all) : 0;
    }();

    /// One phase, in each spatial mode: indices remainder, remainder + stride, ... of its pixels of y; indices
    /// first_tap, first_tap + step, ... of the taps that read elements of x, `taps` of them.
    struct Phase {
        PerMode<space> remainder, stride, first_tap, step, taps;

        FUSEKIT_HD constexpr int all_taps() const {
            int all = 1;
            for (int mode = 0; mode < space; ++mode) all *= taps[mode];
            return all;
        }
        FUSEKIT_HD constexpr int pixels(int mode, int extent) const {
            return extent > remainder[mode] ? (extent - remainder[mode] - 1) / stride[mode] + 1 : 0;
        }
    };
    /// Phase i in the order of the grid, by decreasing number of taps, because CTAs with more taps take longer and
    /// should start first.
    FUSEKIT_H static constexpr Phase phase(int i) { return order.all[i]; }

    /// Number of tiles (of tile_m pixels each) of all phases together, for y of N x K x P x Q.
    FUSEKIT_H static constexpr std::int64_t tiles(Index<4> const& y, problem::Slices<space> const& slices, int tile_m) {
        std::int64_t all = 0;
        for (Phase const& phase : order.all) {
            std::int64_t m = y[0];
            for (int mode = 0; mode < space; ++mode) m *= phase.pixels(mode, static_cast<int>(extent(y, slices, mode)));
            all += detail::divide_up(m, tile_m);
        }
        return all;
    }

private:
    struct Order {
        Phase all[count == 0 ? 1 : count];
    };
    FUSEKIT_H static constexpr Phase phase_of(PerMode<space> const& remainder) {
        Phase result{remainder, filter.strides, {}, {}, {}};
        for (int mode = 0; mode < space; ++mode) {
            std::int64_t const begin = std::int64_t{remainder[mode]} + filter.pad_before[mode];
            int const taps = filter.size[mode], stride = filter.strides[mode], dilation = filter.dilations[mode];
            int &tap = result.first_tap[mode], &step = result.step[mode];
            while (tap < taps && (begin - std::int64_t{tap} * dilation) % stride != 0) ++tap;
            step = stride / std::gcd(stride, dilation);
            result.taps[mode] = static_cast<int>(detail::divide_up(taps - tap, step));
        }
        return result;
    }
    static constexpr Order order = [] {
        Order result{};
        for (int i = 0; i < count; ++i) {
            PerMode<space> remainder{};
            for (int mode = space - 1, rest = i; mode >= 0; rest /= filter.strides[mode--])
                remainder[mode] = rest % filter.strides[mode];
            Phase const next = phase_of(remainder);
            int at = i;
            for (; at > 0 && result.all[at - 1].all_taps() < next.all_taps(); --at) result.all[at] = result.all[at - 1];
            result.all[at] = next;
        }
        return result;
    }();
    FUSEKIT_H static constexpr std::int64_t extent(Index<4> const& y, problem::Slices<space> const& slices, int mode) {
        if constexpr (space == 3)
            if (mode < 2) return mode == 0 ? slices.y : y[2] / slices.y;
        return y[mode - space + 4];
    }
};

/// Number of phases with tiles of their own; 1 if each tile has pixels of all phases: with pooling, where tiles consist
/// of windows, and with statistics, whose workspace is indexed by the tiles of the whole output.
template <class Plan>
consteval int count_phases() {
    if constexpr (detail::spreads<problem::GeometryOf<typename Plan::Head>>)
        if constexpr (!Plan::pools && !Plan::totals_tiles && ConvPhases<typename Plan::Head>::count > 0)
            return ConvPhases<typename Plan::Head>::count;
    return 1;
}
template <class Plan>
consteval bool has_phases() {
    return count_phases<Plan>() > 1;
}

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
