// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/config.hpp"

namespace fusekit {

/// One integer per mode (dimension) of a tensor: its extents, its strides or a coordinate. A structural type: valid as
/// a template argument.
template <int Rank>
struct Index {
    static constexpr int rank = Rank;

    std::int64_t values[static_cast<std::size_t>(Rank)];

    FUSEKIT_HD constexpr std::int64_t& operator[](int mode) { return values[mode]; }
    FUSEKIT_HD constexpr std::int64_t operator[](int mode) const { return values[mode]; }
    FUSEKIT_H constexpr bool operator==(Index const&) const = default;
};

namespace detail {

/// True if an extent is 0.
FUSEKIT_HD constexpr bool has_no_elements(std::int64_t const* extents, int rank) {
    for (int mode = 0; mode < rank; ++mode)
        if (extents[mode] == 0) return true;
    return false;
}
template <int Rank>
FUSEKIT_HD constexpr bool has_no_elements(Index<Rank> const& shape) {
    return has_no_elements(shape.values, Rank);
}

}  // namespace detail

/// Extents and strides (in elements) of a tensor. The order of the modes (dimensions) does not depend on the memory
/// order: activations N, C, then space; filters K, C / groups, then space; per-channel parameters K.
template <int Rank>
struct Layout {
    static constexpr int rank = Rank;

    Index<Rank> shape;
    Index<Rank> stride;

    FUSEKIT_H Layout() = default;
    FUSEKIT_HD constexpr Layout(Index<Rank> const& the_shape, Index<Rank> const& the_stride)
        : shape(the_shape), stride(the_stride) {}
    template <class... Extents>
        requires(sizeof...(Extents) == Rank && (std::is_arithmetic_v<Extents> && ...))
    Layout(Extents...) = delete;  // these are extents without strides: write fk::nchw(n, c, h, w) or the like

    FUSEKIT_H constexpr bool operator==(Layout const&) const = default;

    /// Returns *this, so that x.layout() is valid for a view, whose layout is a member, as for a Tensor.
    FUSEKIT_HD constexpr Layout const& operator()() const { return *this; }

    FUSEKIT_HD constexpr std::int64_t size() const {
        std::int64_t product = 1;
        for (int mode = 0; mode < Rank; ++mode) product *= shape[mode];
        return product;
    }

    /// Number of elements of memory from the lowest to the highest address, both inclusive, with gaps.
    FUSEKIT_HD constexpr std::int64_t span() const {
        std::int64_t last = 0;
        for (int mode = 0; mode < Rank; ++mode) {
            std::int64_t const step = (shape[mode] - 1) * stride[mode];
            last += step < 0 ? -step : step;
        }
        return size() == 0 ? 0 : last + 1;
    }

    FUSEKIT_HD constexpr std::int64_t offset(Index<Rank> const& at) const {
        std::int64_t sum = 0;
        for (int mode = 0; mode < Rank; ++mode) sum += at[mode] * stride[mode];
        return sum;
    }
};

/// Dense layout of `shape` with its modes in memory order `order`, slowest first. Strides wrap if the product of
/// extents overflows; allocations and runs then throw Error. An extent of 0 counts as 1 in strides.
template <int Rank>
FUSEKIT_HD constexpr Layout<Rank> packed(Index<Rank> shape, Index<Rank> order) {
    Layout<Rank> layout{shape, {}};
    std::uint64_t stride = 1;
    for (int i = Rank - 1; i >= 0; --i) {
        int const mode = static_cast<int>(order[i]);
        layout.stride[mode] = static_cast<std::int64_t>(stride);
        if (shape[mode] != 0) stride *= static_cast<std::uint64_t>(shape[mode]);
    }
    return layout;
}

/// True if channels are the fastest mode of activations (NHWC). A tensor of one channel is NHWC if the channel's stride
/// is 1, as in nhwc(n, h, w, 1), and not if it is h * w, as in nchw(n, 1, h, w).
template <int Rank>
FUSEKIT_HD constexpr bool channels_last(Layout<Rank> const& layout) {
    std::int64_t const channel = layout.stride[1], column = layout.stride[Rank - 1];
    return layout.shape[1] > 1 ? channel < column : channel <= column && layout.shape[Rank - 1] > 1;
}

/// Dense layout of `shape` for activations, channels first or last as in the layout `like`.
template <int Rank>
FUSEKIT_HD constexpr Layout<Rank> packed_like(Index<Rank> shape, Layout<Rank> const& like) {
    Index<Rank> order{};
    for (int i = 0; i < Rank; ++i) order[i] = i;
    if (channels_last(like)) {
        for (int i = 1; i < Rank - 1; ++i) order[i] = i + 1;
        order[Rank - 1] = 1;
    }
    return packed(shape, order);
}

/// Dense layout of `shape` for a matrix, row-major or column-major as the layout `like`.
FUSEKIT_HD constexpr Layout<2> packed_like(Index<2> shape, Layout<2> const& like) {
    bool const columns = like.shape[0] > 1 && like.shape[1] > 1 && like.stride[0] < like.stride[1];
    return packed<2>(shape, columns ? Index<2>{{1, 0}} : Index<2>{{0, 1}});
}

using Extent = std::int64_t;

/// Layouts of activations, channels before space: N x C x W, N x C x H x W or N x C x D x H x W.
FUSEKIT_HD constexpr Layout<3> ncw(Extent n, Extent c, Extent w) { return packed<3>({{n, c, w}}, {{0, 1, 2}}); }
FUSEKIT_HD constexpr Layout<4> nchw(Extent n, Extent c, Extent h, Extent w) {
    return packed<4>({{n, c, h, w}}, {{0, 1, 2, 3}});
}
FUSEKIT_HD constexpr Layout<5> ncdhw(Extent n, Extent c, Extent d, Extent h, Extent w) {
    return packed<5>({{n, c, d, h, w}}, {{0, 1, 2, 3, 4}});
}

/// Layouts of activations with channels as the fastest mode; arguments are in memory order.
FUSEKIT_HD constexpr Layout<3> nwc(Extent n, Extent w, Extent c) { return packed<3>({{n, c, w}}, {{0, 2, 1}}); }
FUSEKIT_HD constexpr Layout<4> nhwc(Extent n, Extent h, Extent w, Extent c) {
    return packed<4>({{n, c, h, w}}, {{0, 2, 3, 1}});
}
FUSEKIT_HD constexpr Layout<5> ndhwc(Extent n, Extent d, Extent h, Extent w, Extent c) {
    return packed<5>({{n, c, d, h, w}}, {{0, 2, 3, 4, 1}});
}

/// Layouts of matrices: M x K or, in a batch, B x M x K. Arguments are rows, then columns, for both memory orders.
FUSEKIT_HD constexpr Layout<2> row_major(Extent m, Extent k) { return packed<2>({{m, k}}, {{0, 1}}); }
FUSEKIT_HD constexpr Layout<2> column_major(Extent m, Extent k) { return packed<2>({{m, k}}, {{1, 0}}); }
FUSEKIT_HD constexpr Layout<3> row_major(Extent b, Extent m, Extent k) { return packed<3>({{b, m, k}}, {{0, 1, 2}}); }
FUSEKIT_HD constexpr Layout<3> column_major(Extent b, Extent m, Extent k) {
    return packed<3>({{b, m, k}}, {{0, 2, 1}});
}

/// Layouts of filters, channels before space: K x C/groups x S, x R x S or x T x R x S.
FUSEKIT_HD constexpr Layout<3> kcs(Extent k, Extent c, Extent s) { return ncw(k, c, s); }
FUSEKIT_HD constexpr Layout<4> kcrs(Extent k, Extent c, Extent r, Extent s) { return nchw(k, c, r, s); }
FUSEKIT_HD constexpr Layout<5> kctrs(Extent k, Extent c, Extent t, Extent r, Extent s) { return ncdhw(k, c, t, r, s); }

/// Layouts of filters with channels as the fastest mode; arguments are in memory order.
FUSEKIT_HD constexpr Layout<3> ksc(Extent k, Extent s, Extent c) { return nwc(k, s, c); }
FUSEKIT_HD constexpr Layout<4> krsc(Extent k, Extent r, Extent s, Extent c) { return nhwc(k, r, s, c); }
FUSEKIT_HD constexpr Layout<5> ktrsc(Extent k, Extent t, Extent r, Extent s, Extent c) { return ndhwc(k, t, r, s, c); }

/// Layout of per-channel parameters.
FUSEKIT_HD constexpr Layout<1> channels(Extent k) { return {{{k}}, {{1}}}; }

/// Layouts of per-pixel parameters, broadcast over the batch: C x W, C x H x W or C x D x H x W, with channels as the
/// slowest or fastest mode.
FUSEKIT_HD constexpr Layout<2> cw(Extent c, Extent w) { return packed<2>({{c, w}}, {{0, 1}}); }
FUSEKIT_HD constexpr Layout<2> wc(Extent w, Extent c) { return packed<2>({{c, w}}, {{1, 0}}); }
FUSEKIT_HD constexpr Layout<3> chw(Extent c, Extent h, Extent w) { return packed<3>({{c, h, w}}, {{0, 1, 2}}); }
FUSEKIT_HD constexpr Layout<3> hwc(Extent h, Extent w, Extent c) { return packed<3>({{c, h, w}}, {{1, 2, 0}}); }
FUSEKIT_HD constexpr Layout<4> cdhw(Extent c, Extent d, Extent h, Extent w) {
    return packed<4>({{c, d, h, w}}, {{0, 1, 2, 3}});
}
FUSEKIT_HD constexpr Layout<4> dhwc(Extent d, Extent h, Extent w, Extent c) {
    return packed<4>({{c, d, h, w}}, {{1, 2, 3, 0}});
}

}  // namespace fusekit
