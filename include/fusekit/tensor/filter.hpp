// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/tensor/layout.hpp"
#include "fusekit/text.hpp"

namespace fusekit {

/// One integer per spatial mode, outermost first. Named members and no array: a kernel's name carries the filter,
/// and nvcc cannot spell an array there.
template <int Rank>
struct PerMode;

template <>
struct PerMode<2> {
    int h, w;
    FUSEKIT_HD constexpr int& operator[](int mode) { return mode == 0 ? h : w; }
    FUSEKIT_HD constexpr int operator[](int mode) const { return mode == 0 ? h : w; }
    constexpr bool operator==(PerMode const&) const = default;
};

/// How a convolution's window moves: size, stride, dilation and padding per spatial mode, and the groups.
///
/// A structural type: a template argument where the geometry is known, a value where it is not.
/// Written as `filter(3, 3).pad(1).stride(2)`; every setter returns a changed copy.
template <int Rank>
struct Filter {
    PerMode<Rank> size;
    PerMode<Rank> before;  ///< padding before the first element (top, left)
    PerMode<Rank> after;   ///< padding after the last element (bottom, right)
    PerMode<Rank> step;
    PerMode<Rank> spread;
    int group_count;

    constexpr bool operator==(Filter const&) const = default;

    /// The same padding on every side.
    constexpr Filter pad(int all) const { return with(&Filter::before, every(all)).with(&Filter::after, every(all)); }

    /// Padding per mode, the same before and after: pad(h, w).
    constexpr Filter pad(int h, int w) const requires(Rank == 2) { return pad(h, w, h, w); }

    /// Padding per side: pad(top, left, bottom, right).
    constexpr Filter pad(int top, int left, int bottom, int right) const requires(Rank == 2) {
        return with(&Filter::before, {top, left}).with(&Filter::after, {bottom, right});
    }

    constexpr Filter stride(int all) const { return with(&Filter::step, every(all)); }
    constexpr Filter stride(int h, int w) const requires(Rank == 2) { return with(&Filter::step, {h, w}); }

    /// Distance between the window's taps; 1 is a dense window.
    constexpr Filter dilation(int all) const { return with(&Filter::spread, every(all)); }
    constexpr Filter dilation(int h, int w) const requires(Rank == 2) { return with(&Filter::spread, {h, w}); }

    /// Channels fall into `count` groups that do not mix; as many groups as channels is depthwise.
    constexpr Filter groups(int count) const {
        Filter f = *this;
        f.group_count = count;
        return f;
    }

    /// Output extent of one spatial mode: floor((in + before + after - spread * (size - 1) - 1) / step) + 1.
    FUSEKIT_HD constexpr std::int64_t output(int mode, std::int64_t in) const {
        std::int64_t const reach = in + before[mode] + after[mode] - std::int64_t{spread[mode]} * (size[mode] - 1) - 1;
        return reach < 0 || step[mode] < 1 ? 0 : reach / step[mode] + 1;
    }

    /// As it is written: "filter(3, 3).pad(1).stride(2)".
    Text to_string() const {
        Text text = "filter(" + join(size) + ")";
        if (!all(before, 0) || !all(after, 0))
            text += ".pad(" + (before == after ? shortest(before) : join(before) + ", " + join(after)) + ")";
        if (!all(step, 1)) text += ".stride(" + shortest(step) + ")";
        if (!all(spread, 1)) text += ".dilation(" + shortest(spread) + ")";
        if (group_count != 1) text += ".groups(" + Text::number(group_count) + ")";
        return text;
    }

private:
    constexpr Filter with(PerMode<Rank> Filter::*member, PerMode<Rank> const& value) const {
        Filter f = *this;
        f.*member = value;
        return f;
    }
    static constexpr PerMode<Rank> every(int value) {
        PerMode<Rank> modes{};
        for (int i = 0; i < Rank; ++i) modes[i] = value;
        return modes;
    }
    static bool all(PerMode<Rank> const& values, int expected) {
        return values == every(expected);
    }
    static Text join(PerMode<Rank> const& values) {
        Text text;
        for (int i = 0; i < Rank; ++i) text += (i ? ", " : "") + Text::number(values[i]);
        return text;
    }
    static Text shortest(PerMode<Rank> const& values) {
        return all(values, values[0]) ? Text::number(values[0]) : join(values);
    }
};

/// A filter of R x S taps: stride 1, no padding, no dilation, one group.
constexpr Filter<2> filter(int r, int s) { return {{r, s}, {0, 0}, {0, 0}, {1, 1}, {1, 1}, 1}; }

/// Whether the output's pixels are the input's, one for one: 1 x 1, stride 1, no padding.
FUSEKIT_HD constexpr bool is_single_pixels(Filter<2> const& f) {
    return f.size.h == 1 && f.size.w == 1 && f.step.h == 1 && f.step.w == 1 && f.before.h == 0 && f.before.w == 0 &&
           f.after.h == 0 && f.after.w == 0;
}

/// In place of a filter: its geometry comes with the run-time arguments.
struct Dynamic {
    constexpr bool operator==(Dynamic const&) const = default;
};
inline constexpr Dynamic dynamic{};

}  // namespace fusekit
