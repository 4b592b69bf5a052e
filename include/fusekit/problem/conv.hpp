// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "fusekit/ops/conv/window.hpp"
#include "fusekit/ops/operator.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::problem {

/// Pixel of an output: image n, row p, column q, in the backend's integer type.
template <class Int>
struct PixelOf {
    Int n, p, q;
};

/// Numbers of slices of x and of y, for three spatial modes; empty for two.
template <int Space>
struct Slices {};
template <>
struct Slices<3> {
    std::int64_t x, y;
};

/// Numbers of slices of x and of y, from their collapsed modes; at least 1, because kernels divide row counts by them.
template <int Space>
FUSEKIT_H constexpr Slices<Space> slices_of(CollapsedFrom const& x, CollapsedFrom const& y) {
    auto const at_least_one = [](Extent slices) { return slices > 0 ? slices : 1; };
    return {at_least_one(x.slices()), at_least_one(y.slices())};
}

/// Groups of a grouped convolution: group g has the K/G filters from g K/G on, and the C/G channels of x from g C/G on.
struct ChannelGroups {
    static constexpr bool of_channels = true;
};
/// Groups of a batched matrix product (BatchedGemm): each matrix is a group with its own weights. Matrix (a, b) of the
/// batch is row b of image a, in x and in y, with all channels.
struct MatrixGroups {
    static constexpr bool of_channels = false;
    /// strides in elements from the weights of matrix (a, b) to those of (a + 1, b) and to those of (a, b + 1)
    std::int64_t image_stride, row_stride;
};

/// Groups of a head's GEMM: MatrixGroups for a BatchedGemm, else ChannelGroups.
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

/// Type of the window geometry of a head: TransposedFilter for a TransposedConv, else Filter.
template <class Head>
using GeometryOf = decltype(Head::geometry(std::declval<typename Head::Args const&>()));

/// Extents, strides and pointers of a convolution as an implicit GEMM. Tensors are collapsed to rows and columns; the
/// filter keeps its two or three spatial modes. GemmM = N P Q, GemmN = K, GemmK = C R S; in a grouped convolution GemmN
/// and GemmK are those of one group, in a batched matrix product GemmM = Q is that of one matrix. All numbers are of
/// type Int; the caller checks that they fit it.
template <Element T, int Space, class Int, Element W = T, class Groups = ChannelGroups, class Geometry = Filter<Space>>
struct ConvProblem {
    using Pixel = PixelOf<Int>;
    static constexpr bool of_channels = Groups::of_channels;

    TensorView<T const> x;  // (N, C, H, W)
    TensorView<W const> w;  // (K, C / G, R, S), or the first matrix's weights
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
    /// Index of the group to which channel k of y at pixel `at` belongs.
    FUSEKIT_HD constexpr Int group_of(Pixel const& at, Int k) const {
        if constexpr (of_channels) return k / group_k();
        else return at.n * extent(y, 2) + at.p;
    }
    /// First channel of x (first_c) and of y (first_k) in a group; 0 for MatrixGroups, where a group has all channels.
    FUSEKIT_HD constexpr Int first_c(Int group) const { return of_channels ? group * group_c() : 0; }
    FUSEKIT_HD constexpr Int first_k(Int group) const { return of_channels ? group * group_k() : 0; }
    /// Address of the first weight of a group.
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

    /// Pixel with index m in GemmM, 0 to N P Q - 1; q is the fastest mode, n the slowest.
    FUSEKIT_HD constexpr Pixel pixel(Int m) const
        requires of_channels
    {
        auto const at = static_cast<Unsigned>(m), q = static_cast<Unsigned>(extent(y, 3));
        Unsigned const plane = static_cast<Unsigned>(extent(y, 2)) * q, n = at / plane, p = at % plane / q;
        return {static_cast<Int>(n), static_cast<Int>(p), static_cast<Int>(at - n * plane - p * q)};
    }
    /// Pixel with index m in GemmM. A Conv's groups of channels have the same pixels; for a BatchedGemm, `group` is the
    /// index of a matrix in the batch, and m a row of it.
    FUSEKIT_HD constexpr Pixel pixel(Int m, Int group) const {
        if constexpr (of_channels) return pixel(m);
        else return {group / extent(y, 2), group % extent(y, 2), m};
    }
    /// Pixel after `at` in GemmM.
    FUSEKIT_HD constexpr Pixel next(Pixel at) const {
        if (++at.q < extent(y, 3)) return at;
        at.q = 0;
        if (++at.p < extent(y, 2)) return at;
        return {at.n + 1, 0, 0};
    }
    /// Pixel whose index in GemmM is that of `at` plus `count`.
    FUSEKIT_HD constexpr Pixel next(Pixel at, Int count) const {
        for (at.q += count; at.q >= extent(y, 3); at.q -= extent(y, 3))
            if (++at.p == extent(y, 2)) at.p = 0, ++at.n;
        return at;
    }
    /// Pixel with index m in an order for 2 x 2 pools: the windows of y in n, p, q order, and the four pixels of each
    /// window consecutive.
    FUSEKIT_HD constexpr Pixel pixel_of_windows(Int m) const {
        Unsigned const window = static_cast<Unsigned>(m) / 4, q = static_cast<Unsigned>(extent(y, 3)) / 2;
        Unsigned const plane = static_cast<Unsigned>(extent(y, 2)) / 2 * q, n = window / plane, p = window % plane / q;
        return {static_cast<Int>(n), static_cast<Int>(p) * 2 + m % 4 / 2,
                static_cast<Int>(window - n * plane - p * q) * 2 + m % 2};
    }
    /// Pixel with index m among those of even rows, in n, p, q order.
    FUSEKIT_HD constexpr Pixel pixel_of_even_rows(Int m) const {
        auto const at = static_cast<Unsigned>(m), q = static_cast<Unsigned>(extent(y, 3));
        Unsigned const plane = static_cast<Unsigned>(extent(y, 2)) / 2 * q, n = at / plane, p = at % plane / q;
        return {static_cast<Int>(n), static_cast<Int>(p) * 2, static_cast<Int>(at - n * plane - p * q)};
    }

protected:
    using Unsigned = std::make_unsigned_t<Int>;

    FUSEKIT_HD static constexpr Int extent(Index<4> const& shape, int mode) { return static_cast<Int>(shape[mode]); }
};

}  // namespace fusekit::problem
