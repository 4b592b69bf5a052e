// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/ops/conv/window.hpp"

namespace fusekit::hip {

namespace detail {

/// True if the program has code for GPUs from sm_80 on. A free function, because clang 14 evaluates no consteval
/// function of a class that it is still instantiating.
template <class... Tags>
FUSEKIT_H consteval bool targets_sm80(List<Tags...>) {
    return (false || ... || (std::is_base_of_v<arch::Sm80, Tags> && arch::is_targeted<Tags>));
}

}  // namespace detail

/// Taps of the filter in one phase of y, in each spatial mode: the i-th of `count` taps is filter tap first + i * step,
/// and reads the halo at start + i * move, relative to the first element of the pixel's window. A transposed
/// convolution with strides has one phase for each remainder of y's coordinates modulo the strides; other convolutions
/// have one.
struct GroupedPhase {
    PerMode<2> first, step, count, start, move;
};

/// grouped_window(): ordinary filter over x whose window contains all elements that one pixel of y reads, or with
/// phases the pixels of all phases at one position. grouped_phases(): number of phases in each mode. grouped_phase():
/// taps of phase `phase`.
FUSEKIT_HD constexpr Filter<2> grouped_window(Filter<2> const& f) { return f; }
FUSEKIT_HD constexpr PerMode<2> grouped_phases(Filter<2> const&) { return {1, 1}; }
FUSEKIT_HD constexpr GroupedPhase grouped_phase(Filter<2> const& f, PerMode<2> const&) {
    return {{0, 0}, {1, 1}, f.size, {0, 0}, f.dilations};
}

FUSEKIT_HD constexpr Filter<2> grouped_window(detail::TransposedFilter<2, false> const& f) {
    return detail::window_filter(f);
}
FUSEKIT_HD constexpr PerMode<2> grouped_phases(detail::TransposedFilter<2, false> const&) { return {1, 1}; }
/// Taps in reverse order.
FUSEKIT_HD constexpr GroupedPhase grouped_phase(detail::TransposedFilter<2, false> const& f, PerMode<2> const&) {
    return {{f.size.h - 1, f.size.w - 1}, {-1, -1}, f.size, {0, 0}, f.of_y().dilations};
}

namespace detail {

/// Smallest index of x, relative to h, that any of the rows h * stride to (h + 1) * stride - 1 of y reads.
/// Precondition: no dilation.
FUSEKIT_HD constexpr int first_of_phases(Filter<2> const& f, int mode) {
    int const least = f.pad_before[mode] - f.size[mode] + 1, stride = f.strides[mode];
    return least > 0 ? (least + stride - 1) / stride : -(-least / stride);
}

}  // namespace detail

FUSEKIT_HD constexpr PerMode<2> grouped_phases(detail::TransposedFilter<2, true> const& f) { return f.of_y().strides; }
FUSEKIT_HD constexpr Filter<2> grouped_window(detail::TransposedFilter<2, true> const& f) {
    Filter<2> windows = f.of_y();
    for (int mode = 0; mode < 2; ++mode) {
        int const first = detail::first_of_phases(windows, mode), stride = windows.strides[mode],
                  last = (stride - 1 + windows.pad_before[mode]) / stride;
        windows.pad_before[mode] = -first, windows.pad_after[mode] = 0;
        windows.size[mode] = last - first + 1, windows.strides[mode] = 1;
    }
    return windows;
}
/// Precondition: no dilation.
FUSEKIT_HD constexpr GroupedPhase grouped_phase(detail::TransposedFilter<2, true> const& f, PerMode<2> const& phase) {
    Filter<2> const& of = f.of_y();
    GroupedPhase result{};
    for (int mode = 0; mode < 2; ++mode) {
        int const stride = of.strides[mode], to = phase[mode] + of.pad_before[mode], first = to % stride;
        result.first[mode] = first, result.step[mode] = stride;
        result.count[mode] = first < of.size[mode] ? (of.size[mode] - first + stride - 1) / stride : 0;
        result.start[mode] = to / stride - detail::first_of_phases(of, mode), result.move[mode] = -1;
    }
    return result;
}

/// Number of steps (MMAs along GemmK) of a phase: each multiplies two pairs of a tap and a block of 8 channels, of
/// `channel_blocks` blocks.
FUSEKIT_HD constexpr int grouped_steps(GroupedPhase const& phase, int channel_blocks) {
    return (phase.count.h * phase.count.w * channel_blocks + 1) / 2;
}

}  // namespace fusekit::hip
