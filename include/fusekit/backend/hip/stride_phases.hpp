// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <numeric>

#include "fusekit/backend/integer.hpp"
#include "fusekit/problem/conv.hpp"

namespace fusekit::hip {

/// One phase of a strided transposed convolution, in each spatial mode: indices remainder, remainder + stride, ... of
/// its pixels of y; indices first_tap, first_tap + step, ... of the taps that read elements of x, `taps` of them.
template <int space>
struct ConvPhase {
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

/// The phases in the order of the grid, by decreasing number of taps, because CTAs with more taps take longer and
/// should start first. `count`: the product of the filter's strides.
template <int space, int count>
struct PhaseOrder {
    ConvPhase<space> all[count == 0 ? 1 : count];

    FUSEKIT_H constexpr explicit PhaseOrder(Filter<space> const& filter) : all{} {
        for (int i = 0; i < count; ++i) {
            PerMode<space> remainder{};
            for (int mode = space - 1, rest = i; mode >= 0; rest /= filter.strides[mode--])
                remainder[mode] = rest % filter.strides[mode];
            ConvPhase<space> const next = phase_of(filter, remainder);
            int at = i;
            for (; at > 0 && all[at - 1].all_taps() < next.all_taps(); --at) all[at] = all[at - 1];
            all[at] = next;
        }
    }

private:
    FUSEKIT_H static constexpr ConvPhase<space> phase_of(Filter<space> const& filter, PerMode<space> const& remainder) {
        ConvPhase<space> result{remainder, filter.strides, {}, {}, {}};
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
};

/// Functions of ConvPhases that count pixels and tiles of its phases.
template <class Phases, int space>
struct CountedPhases {
    /// Pixels of phase i, for y of N x K x P x Q.
    FUSEKIT_H static constexpr std::int64_t pixels(int i, Index<4> const& y, problem::Slices<space> const& slices) {
        std::int64_t m = y[0];
        for (int mode = 0; mode < space; ++mode)
            m *= Phases::phase(i).pixels(mode, static_cast<int>(extent(y, slices, mode)));
        return m;
    }
    /// Number of tiles (of tile_m pixels each) of all phases together, for y of N x K x P x Q.
    FUSEKIT_H static constexpr std::int64_t tiles(Index<4> const& y, problem::Slices<space> const& slices, int tile_m) {
        std::int64_t all = 0;
        for (int i = 0; i < Phases::count; ++i) all += detail::divide_up(pixels(i, y, slices), tile_m);
        return all;
    }

private:
    FUSEKIT_H static constexpr std::int64_t extent(Index<4> const& y, problem::Slices<space> const& slices, int mode) {
        if constexpr (space == 3)
            if (mode < 2) return mode == 0 ? slices.y : y[2] / slices.y;
        return y[mode - space + 4];
    }
};

/// Phases of a strided transposed convolution. A phase is the set of y's pixels with equal remainders modulo the
/// strides. In each mode, every `step`-th tap from a first one reads elements of x at all pixels of the phase; the
/// other taps read the zeros between x's elements and are skipped. Each phase is an implicit GEMM of its own; all
/// phases together multiply 1 / stride^2 of the products.
template <class Head>
struct ConvPhases : CountedPhases<ConvPhases<Head>, Head::collapsed_space> {
    static constexpr int space = Head::collapsed_space;
    static constexpr Filter<space> filter = Head::filter;
    static constexpr int count = [] {
        std::int64_t all = 1;
        for (int mode = 0; mode < space && all <= 16; ++mode) all *= filter.strides[mode];
        // 0, for one GEMM without phases, if there are more than 16, because a kernel has code for each phase
        return all <= 16 ? static_cast<int>(all) : 0;
    }();
    using Phase = ConvPhase<space>;

    FUSEKIT_H static constexpr Filter<space> geometry() { return filter; }
    /// Phase i in the order of the grid.
    FUSEKIT_H static constexpr Phase phase(int i) { return order.all[i]; }

private:
    static constexpr PhaseOrder<space, count> order{filter};
};

/// Maximum number of phases of a TransposedConv that TMA loads: two tensor maps each, in the kernel argument.
inline constexpr int max_tma_phases = 4;

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

}  // namespace fusekit::hip
