// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/error.hpp"
#include "fusekit/tensor/layout.hpp"
#include "fusekit/text.hpp"

namespace fusekit {

/// One integer per spatial mode (dimension), outermost mode first. Named members instead of an array, because a filter
/// is part of a kernel's mangled name, where nvcc supports no array.
template <int Rank>
struct PerMode;

template <>
struct PerMode<1> {
    int w;
    FUSEKIT_HD constexpr int& operator[](int) { return w; }
    FUSEKIT_HD constexpr int operator[](int) const { return w; }
    FUSEKIT_H constexpr bool operator==(PerMode const&) const = default;
};

template <>
struct PerMode<2> {
    int h, w;
    FUSEKIT_HD constexpr int& operator[](int mode) { return mode == 0 ? h : w; }
    FUSEKIT_HD constexpr int operator[](int mode) const { return mode == 0 ? h : w; }
    FUSEKIT_H constexpr bool operator==(PerMode const&) const = default;
};

template <>
struct PerMode<3> {
    int d, h, w;
    FUSEKIT_HD constexpr int& operator[](int mode) { return mode == 0 ? d : mode == 1 ? h : w; }
    FUSEKIT_HD constexpr int operator[](int mode) const { return mode == 0 ? d : mode == 1 ? h : w; }
    FUSEKIT_H constexpr bool operator==(PerMode const&) const = default;
};

namespace detail {

[[noreturn, gnu::cold]] FUSEKIT_H inline void this_number_does_not_fit_int(char const* of, std::int64_t given) {
    raise(Error("Filter", "filter", of, "a number that fits int, of 32 bits", Text::number(given)));
}
/// Converts to int; throws Error if the value does not fit 32 bits. In a constant expression that is a compile error,
/// which contains the name this_number_does_not_fit_int.
FUSEKIT_H constexpr int fit(std::int64_t value, char const* of) {
    if (value != static_cast<int>(value)) this_number_does_not_fit_int(of, value);
    return static_cast<int>(value);
}

}  // namespace detail

/// Geometry of a convolution window: size, stride, dilation and padding per spatial mode, and the number of channel
/// groups.
///
/// Filter is a structural type: a template argument if the geometry is static, else a run-time value. Written as
/// `filter(3, 3).pad(1).stride(2)`; every setter returns a modified copy. A number that does not fit int is a compile
/// error in a constant expression, else throws Error.
template <int Rank>
struct Filter {
    static constexpr int rank = Rank;

    PerMode<Rank> size;
    PerMode<Rank> pad_before;  ///< elements of padding before the first one (front, top, left)
    PerMode<Rank> pad_after;  ///< elements of padding after the last one (back, bottom, right)
    PerMode<Rank> strides;
    PerMode<Rank> dilations;
    int group_count;

    FUSEKIT_H constexpr bool operator==(Filter const&) const = default;

    /// Returns the filter with `all` elements of padding on every side.
    FUSEKIT_H constexpr Filter pad(std::int64_t all) const {
        PerMode<Rank> const sides = every(detail::fit(all, "pad"));
        return with(&Filter::pad_before, sides).with(&Filter::pad_after, sides);
    }

    /// Returns the filter with padding per mode, equal before and after: pad(h, w), or pad(d, h, w).
    FUSEKIT_H constexpr Filter pad(auto... each) const
        requires(Rank > 1 && sizeof...(each) == Rank)
    {
        return pad(each..., each...);
    }

    /// Returns the filter with padding per side, the sides before first: pad(left, right), pad(top, left, bottom,
    /// right), or pad(front, top, left, back, bottom, right).
    FUSEKIT_H constexpr Filter pad(auto... sides) const
        requires(sizeof...(sides) == 2 * Rank)
    {
        int const all[] = {detail::fit(static_cast<std::int64_t>(sides), "pad")...};
        Filter f = *this;
        for (int i = 0; i < Rank; ++i) f.pad_before[i] = all[i], f.pad_after[i] = all[Rank + i];
        return f;
    }

    FUSEKIT_H constexpr Filter stride(std::int64_t all) const {
        return with(&Filter::strides, every(detail::fit(all, "stride")));
    }
    FUSEKIT_H constexpr Filter stride(auto... each) const
        requires(Rank > 1 && sizeof...(each) == Rank)
    {
        return with(&Filter::strides, {detail::fit(static_cast<std::int64_t>(each), "stride")...});
    }

    /// Returns the filter with this dilation, the distance in elements between adjacent taps; 1 for a dense window.
    FUSEKIT_H constexpr Filter dilation(std::int64_t all) const {
        return with(&Filter::dilations, every(detail::fit(all, "dilation")));
    }
    FUSEKIT_H constexpr Filter dilation(auto... each) const
        requires(Rank > 1 && sizeof...(each) == Rank)
    {
        return with(&Filter::dilations, {detail::fit(static_cast<std::int64_t>(each), "dilation")...});
    }

    /// Returns the filter with `count` groups of channels; with one channel per group the convolution is depthwise.
    FUSEKIT_H constexpr Filter groups(std::int64_t count) const {
        Filter f = *this;
        f.group_count = detail::fit(count, "groups");
        return f;
    }

    /// Output extent in one spatial mode for input extent `in`: floor((in + pad_before + pad_after - dilation * (size -
    /// 1) - 1) / stride) + 1; 0 if the window does not fit, or the filter is invalid.
    FUSEKIT_HD constexpr std::int64_t output(int mode, std::int64_t in) const {
        constexpr std::int64_t most = std::int64_t{1} << 62;  // the sums below fit 63 bits
        bool const possible = size[mode] > 0 && dilations[mode] > 0 && pad_before[mode] >= 0 && pad_after[mode] >= 0;
        if (!possible || strides[mode] < 1 || in < 0 || in > most) return 0;
        std::int64_t const covered = dilations[mode] * (std::int64_t{size[mode]} - 1) + 1;
        std::int64_t const reach = in + pad_before[mode] + pad_after[mode] - covered;
        return reach < 0 ? 0 : reach / strides[mode] + 1;
    }

    /// Text of the filter as in source code: "filter(3, 3).pad(1).stride(2)".
    [[gnu::cold]] FUSEKIT_H Text to_string() const {
        Text text = "filter(" + join(size) + ")";
        if (!all(pad_before, 0) || !all(pad_after, 0))
            text += ".pad(" +
                    (pad_before == pad_after ? shortest(pad_before) : join(pad_before) + ", " + join(pad_after)) + ")";
        if (!all(strides, 1)) text += ".stride(" + shortest(strides) + ")";
        if (!all(dilations, 1)) text += ".dilation(" + shortest(dilations) + ")";
        if (group_count != 1) text += ".groups(" + Text::number(group_count) + ")";
        return text;
    }

private:
    FUSEKIT_H constexpr Filter with(PerMode<Rank> Filter::* member, PerMode<Rank> const& value) const {
        Filter f = *this;
        f.*member = value;
        return f;
    }
    FUSEKIT_H static constexpr PerMode<Rank> every(int value) {
        PerMode<Rank> modes{};
        for (int i = 0; i < Rank; ++i) modes[i] = value;
        return modes;
    }
    FUSEKIT_H static bool all(PerMode<Rank> const& values, int expected) { return values == every(expected); }
    [[gnu::cold]] FUSEKIT_H static Text join(PerMode<Rank> const& values) {
        Text text;
        for (int i = 0; i < Rank; ++i) text += (i ? ", " : "") + Text::number(values[i]);
        return text;
    }
    [[gnu::cold]] FUSEKIT_H static Text shortest(PerMode<Rank> const& values) {
        return all(values, values[0]) ? Text::number(values[0]) : join(values);
    }
};

/// Returns a filter of S, R x S or T x R x S taps with stride 1, no padding, no dilation and one group.
FUSEKIT_H constexpr Filter<1> filter(std::int64_t s) { return {{detail::fit(s, "size")}, {0}, {0}, {1}, {1}, 1}; }
FUSEKIT_H constexpr Filter<2> filter(std::int64_t r, std::int64_t s) {
    return {{detail::fit(r, "size"), detail::fit(s, "size")}, {0, 0}, {0, 0}, {1, 1}, {1, 1}, 1};
}
FUSEKIT_H constexpr Filter<3> filter(std::int64_t t, std::int64_t r, std::int64_t s) {
    return {{detail::fit(t, "size"), detail::fit(r, "size"), detail::fit(s, "size")},
            {0, 0, 0},
            {0, 0, 0},
            {1, 1, 1},
            {1, 1, 1},
            1};
}

namespace detail {

/// True for a 1x1 filter with stride 1 and no padding: output pixel (p, q) reads only input pixel (p, q).
template <int Rank>
FUSEKIT_HD constexpr bool is_single_pixels(Filter<Rank> const& f) {
    for (int i = 0; i < Rank; ++i)
        if (f.size[i] != 1 || f.strides[i] != 1 || f.pad_before[i] != 0 || f.pad_after[i] != 0) return false;
    return true;
}

}  // namespace detail

/// Template argument of Conv in place of a filter that is a run-time argument: Conv<fk::dynamic>.
struct Dynamic {
    FUSEKIT_H constexpr bool operator==(Dynamic const&) const = default;
};
inline constexpr Dynamic dynamic{};

}  // namespace fusekit
