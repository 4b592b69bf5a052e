// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "fusekit/ops/conv/window.hpp"
#include "fusekit/ops/operator.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::problem {

/// A place in the output: image, row and column, in the integers that a backend counts in.
template <class Int>
struct PixelOf {
    Int n, p, q;
};

/// How many slices x and y have; empty where there are none.
template <int Space>
struct Slices {};
template <>
struct Slices<3> {
    std::int64_t x, y;
};

/// The number of slices of x and y, as a divisor of their rows: 1 for none.
template <int Space>
FUSEKIT_H constexpr Slices<Space> slices_of(CollapsedFrom const& x, CollapsedFrom const& y) {
    auto const at_least_one = [](Extent slices) { return slices > 0 ? slices : 1; };
    return {at_least_one(x.slices()), at_least_one(y.slices())};
}

/// Groups are equal parts of the channels, each with filters of its own for its part of x.
struct ChannelGroups {
    static constexpr bool of_channels = true;
};
/// Groups are matrices of a batch, each with weights of its own: rows of images of x and y, with all channels.
struct MatrixGroups {
    static constexpr bool of_channels = false;
    std::int64_t image_stride, row_stride;  ///< from a matrix's weights to those of the next image or row
};

/// The groups of a head.
template <class Head>
FUSEKIT_HD constexpr auto groups_of(typename Head::Args const& args) {
    if constexpr (BatchedOp<Head>) {
        Index<2> const strides = Head::batch_strides(args);
        return MatrixGroups{strides[0], strides[1]};
    } else {
        return ChannelGroups{};
    }
}
template <class Head>
using GroupsOf = decltype(groups_of<Head>(std::declval<typename Head::Args const&>()));

/// How a head's window moves.
template <class Head>
using GeometryOf = decltype(Head::geometry(std::declval<typename Head::Args const&>()));

/// A convolution of two or three modes of space: tensors are collapsed into rows and columns, the filter is not.
/// GemmM = N P Q, GemmN = K, GemmK = C R S, the last two per group of channels; of a matrix GemmM = Q. All numbers are
/// Int; the caller checks the range.
template <Element T, int Space, class Int, Element W = T, class Groups = ChannelGroups, class Geometry = Filter<Space>>
struct ConvProblem {
    using Pixel = PixelOf<Int>;
    static constexpr bool of_channels = Groups::of_channels;

    TensorView<T const> x;  // (N, C, H, W)
    TensorView<W const> w;  // (K, C / G, R, S), or those of the first matrix
    Index<4> y;  // (N, K, P, Q)
    Geometry filter;
    Groups of_groups = {};

    FUSEKIT_HD constexpr Int groups() const {
        if constexpr (of_channels) return filter.group_count;
        else return extent(y, 0) * extent(y, 2);
    }
    FUSEKIT_HD constexpr Int group_c() const { return extent(w.layout.shape, 1); }
    FUSEKIT_HD constexpr Int group_k() const {
        if constexpr (of_channels) return extent(y, 1) / groups();
        else return extent(y, 1);
    }
    /// The group of an output.
    FUSEKIT_HD constexpr Int group_of(Pixel const& at, Int k) const {
        if constexpr (of_channels) return k / group_k();
        else return at.n * extent(y, 2) + at.p;
    }
    /// The first channel of x, and of y, that a group has.
    FUSEKIT_HD constexpr Int first_c(Int group) const { return of_channels ? group * group_c() : 0; }
    FUSEKIT_HD constexpr Int first_k(Int group) const { return of_channels ? group * group_k() : 0; }
    /// The first weight of a group.
    FUSEKIT_HD constexpr W const* weights_of(Int group) const {
        if constexpr (detail::is_transposed<Geometry>) return w.data + group * group_c() * w.layout.stride[1];
        else if constexpr (of_channels) return w.data + group * group_k() * w.layout.stride[0];
        else
            return w.data + group / extent(y, 2) * of_groups.image_stride + group % extent(y, 2) * of_groups.row_stride;
    }
    FUSEKIT_HD constexpr int window_rows() const { return detail::window_rows(filter); }
    FUSEKIT_HD constexpr int window_columns() const { return detail::window_columns(filter); }
    FUSEKIT_HD constexpr Int taps() const { return Int{window_rows()} * window_columns(); }
    FUSEKIT_HD constexpr Int gemm_m() const {
        if constexpr (of_channels) return extent(y, 0) * extent(y, 2) * extent(y, 3);
        else return extent(y, 3);
    }
    FUSEKIT_HD constexpr Int gemm_k() const { return group_c() * window_rows() * window_columns(); }

    /// Pixel m of GemmM, counted row by row and image by image.
    FUSEKIT_HD constexpr Pixel pixel(Int m) const
        requires of_channels
    {
        auto const at = static_cast<Unsigned>(m), q = static_cast<Unsigned>(extent(y, 3));
        Unsigned const plane = static_cast<Unsigned>(extent(y, 2)) * q, n = at / plane, p = at % plane / q;
        return {static_cast<Int>(n), static_cast<Int>(p), static_cast<Int>(at - n * plane - p * q)};
    }
    /// Pixel m of a group.
    FUSEKIT_HD constexpr Pixel pixel(Int m, Int group) const {
        if constexpr (of_channels) return pixel(m);
        else return {group / extent(y, 2), group % extent(y, 2), m};
    }
    /// The pixel after `at`.
    FUSEKIT_HD constexpr Pixel next(Pixel at) const {
        if (++at.q < extent(y, 3)) return at;
        at.q = 0;
        if (++at.p < extent(y, 2)) return at;
        return {at.n + 1, 0, 0};
    }
    /// The one `count` after it.
    FUSEKIT_HD constexpr Pixel next(Pixel at, Int count) const {
        for (at.q += count; at.q >= extent(y, 3); at.q -= extent(y, 3))
            if (++at.p == extent(y, 2)) at.p = 0, ++at.n;
        return at;
    }
    /// Pixel m where pixels are counted window by window of 2 x 2, so that a window's pixels are neighbours in a tile.
    FUSEKIT_HD constexpr Pixel pixel_of_windows(Int m) const {
        Unsigned const window = static_cast<Unsigned>(m) / 4, q = static_cast<Unsigned>(extent(y, 3)) / 2;
        Unsigned const plane = static_cast<Unsigned>(extent(y, 2)) / 2 * q, n = window / plane, p = window % plane / q;
        return {static_cast<Int>(n), static_cast<Int>(p) * 2 + m % 4 / 2,
                static_cast<Int>(window - n * plane - p * q) * 2 + m % 2};
    }

protected:
    using Unsigned = std::make_unsigned_t<Int>;

    FUSEKIT_HD static constexpr Int extent(Index<4> const& shape, int mode) { return static_cast<Int>(shape[mode]); }
};

}  // namespace fusekit::problem
