// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "fusekit/tensor/layout.hpp"

namespace fusekit {

/// How a convolution's window moves: size, stride, dilation and padding per spatial mode, and the groups.
///
/// A structural type: a template argument where the geometry is known, a value where it is not.
/// Written as `filter(3, 3).pad(1).stride(2)`; every setter returns a changed copy.
template <int Rank>
struct Filter {
    int size[Rank];
    int before[Rank];  ///< padding before the first element (top, left)
    int after[Rank];   ///< padding after the last element (bottom, right)
    int step[Rank];
    int spread[Rank];
    int group_count;

    constexpr bool operator==(Filter const&) const = default;

    /// The same padding on every side.
    constexpr Filter pad(int all) const { return with([all](Filter& f, int i) { f.before[i] = f.after[i] = all; }); }

    /// Padding per mode, the same before and after: pad(h, w).
    constexpr Filter pad(int h, int w) const requires(Rank == 2) { return pad(h, w, h, w); }

    /// Padding per side: pad(top, left, bottom, right).
    constexpr Filter pad(int top, int left, int bottom, int right) const requires(Rank == 2) {
        Filter f = *this;
        f.before[0] = top, f.before[1] = left, f.after[0] = bottom, f.after[1] = right;
        return f;
    }

    constexpr Filter stride(int all) const { return with([all](Filter& f, int i) { f.step[i] = all; }); }
    constexpr Filter stride(int h, int w) const requires(Rank == 2) {
        Filter f = *this;
        f.step[0] = h, f.step[1] = w;
        return f;
    }

    /// Distance between the window's taps; 1 is a dense window.
    constexpr Filter dilation(int all) const { return with([all](Filter& f, int i) { f.spread[i] = all; }); }
    constexpr Filter dilation(int h, int w) const requires(Rank == 2) {
        Filter f = *this;
        f.spread[0] = h, f.spread[1] = w;
        return f;
    }

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
    std::string to_string() const {
        std::string text = "filter(" + join(size) + ")";
        bool const symmetric = same(before, after);
        if (!all(before, 0) || !all(after, 0))
            text += ".pad(" + (symmetric ? shortest(before) : join(before) + ", " + join(after)) + ")";
        if (!all(step, 1)) text += ".stride(" + shortest(step) + ")";
        if (!all(spread, 1)) text += ".dilation(" + shortest(spread) + ")";
        if (group_count != 1) text += ".groups(" + std::to_string(group_count) + ")";
        return text;
    }

private:
    template <class Set>
    constexpr Filter with(Set set) const {
        Filter f = *this;
        for (int i = 0; i < Rank; ++i) set(f, i);
        return f;
    }
    static bool all(int const (&values)[Rank], int expected) {
        for (int value : values)
            if (value != expected) return false;
        return true;
    }
    static bool same(int const (&a)[Rank], int const (&b)[Rank]) {
        for (int i = 0; i < Rank; ++i)
            if (a[i] != b[i]) return false;
        return true;
    }
    static std::string join(int const (&values)[Rank]) {
        std::string text;
        for (int value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
        return text;
    }
    static std::string shortest(int const (&values)[Rank]) {
        return all(values, values[0]) ? std::to_string(values[0]) : join(values);
    }
};

/// A filter of R x S taps: stride 1, no padding, no dilation, one group.
constexpr Filter<2> filter(int r, int s) { return {{r, s}, {0, 0}, {0, 0}, {1, 1}, {1, 1}, 1}; }

/// In place of a filter: its geometry comes with the run-time arguments.
struct Dynamic {
    constexpr bool operator==(Dynamic const&) const = default;
};
inline constexpr Dynamic dynamic{};

}  // namespace fusekit
