// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/ops/conv/window.hpp"
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

/// A convolution of two or three modes of space: tensors are collapsed into rows and columns, the filter is not.
/// GemmM = N P Q, GemmN = K, GemmK = C R S, the last two per group. All numbers are Int; the caller checks the range.
template <Element T, int Space, class Int, Element W = T>
struct ConvProblem {
    using Pixel = PixelOf<Int>;

    TensorView<T const> x;  // (N, C, H, W)
    TensorView<W const> w;  // (K, C / G, R, S)
    Index<4> y;  // (N, K, P, Q)
    Filter<Space> filter;

    FUSEKIT_HD constexpr Int groups() const { return filter.group_count; }
    FUSEKIT_HD constexpr Int group_c() const { return extent(w.layout.shape, 1); }
    FUSEKIT_HD constexpr Int group_k() const { return extent(y, 1) / groups(); }
    FUSEKIT_HD constexpr int window_rows() const { return detail::window_rows(filter); }
    FUSEKIT_HD constexpr int window_columns() const { return detail::window_columns(filter); }
    FUSEKIT_HD constexpr Int taps() const { return Int{window_rows()} * window_columns(); }
    FUSEKIT_HD constexpr Int gemm_m() const { return extent(y, 0) * extent(y, 2) * extent(y, 3); }
    FUSEKIT_HD constexpr Int gemm_k() const { return group_c() * window_rows() * window_columns(); }

    /// Pixel m of GemmM, counted row by row and image by image.
    FUSEKIT_HD constexpr Pixel pixel(Int m) const {
        auto const at = static_cast<Unsigned>(m), q = static_cast<Unsigned>(extent(y, 3));
        Unsigned const plane = static_cast<Unsigned>(extent(y, 2)) * q, n = at / plane, p = at % plane / q;
        return {static_cast<Int>(n), static_cast<Int>(p), static_cast<Int>(at - n * plane - p * q)};
    }
    /// The pixel after `at`.
    FUSEKIT_HD constexpr Pixel next(Pixel at) const {
        if (++at.q < extent(y, 3)) return at;
        at.q = 0;
        if (++at.p < extent(y, 2)) return at;
        return {at.n + 1, 0, 0};
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
