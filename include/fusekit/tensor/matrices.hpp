// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/tensor/collapsed.hpp"
#include "fusekit/tensor/overflow.hpp"

/// Collapses matrices to images of one row: matrix row m becomes pixel q = m, and matrix column k becomes channel k. M
/// x K is 1 x K x 1 x M, B x M x K is B x K x 1 x M, and A x B x M x K is A x K x B x M, for any strides.
namespace fusekit::detail {

/// Mode of the image (0 to 3 for N, K, P, Q) to which mode `mode` of a batch of matrices of this rank is mapped.
FUSEKIT_H constexpr int image_mode(int rank, int mode) {
    if (mode == rank - 1) return 1;
    if (mode == rank - 2) return 3;
    return mode == 0 ? 0 : 2;
}

template <int Rank>
FUSEKIT_H constexpr CollapsedShape<4> collapse_matrices(Index<Rank> const& extents) {
    static_assert(Rank >= 2 && Rank <= 4);
    CollapsedShape<4> shape({{1, 1, 1, 1}}, {CollapsedFrom::matrices, false, Rank - 2});
    for (int mode = 0; mode < Rank; ++mode) shape[image_mode(Rank, mode)] = extents[mode];
    return shape;
}

template <int Rank>
FUSEKIT_H constexpr CollapsedLayout<4> collapse_matrices(Layout<Rank> const& layout) {
    CollapsedLayout<4> result(collapse_matrices(layout.shape), {});
    for (int mode = 0; mode < Rank; ++mode) result.stride[image_mode(Rank, mode)] = layout.stride[mode];
    // Modes that the matrix does not have get the strides of a packed image.
    auto const size = [&](int mode) {
        Extent product = 0;
        return mul_overflows(result.shape[mode], result.stride[mode], product) ? 0 : product;
    };
    if (Rank < 4) result.stride[2] = size(3);
    if (Rank < 3) result.stride[0] = size(1) > size(3) ? size(1) : size(3);
    return result;
}

template <class T, int Rank>
FUSEKIT_H constexpr ImageView<T> collapse_matrices(TensorView<T, Rank> const& view) {
    CollapsedLayout<4> const collapsed = collapse_matrices(view.layout);
    return {{view.data, collapsed.layout()}, collapsed.shape.from};
}

/// Extents of a batch of matrices from those of its image: the inverse of collapse_matrices().
template <int Rank>
FUSEKIT_H constexpr Index<Rank> expand_matrices(Index<4> const& shape) {
    Index<Rank> result{};
    for (int mode = 0; mode < Rank; ++mode) result[mode] = shape[image_mode(Rank, mode)];
    return result;
}

/// Changes a layout B x M x K or A x B x M x K, which collapse() has converted as a signal or an image, to that of
/// matrices; other layouts are returned unchanged.
FUSEKIT_H constexpr CollapsedLayout<4> as_matrices(CollapsedLayout<4> const& layout) {
    Index<4> const &e = layout.shape, &s = layout.stride;
    if (layout.shape.from.kind == CollapsedFrom::signal)
        return collapse_matrices(Layout<3>{{{e[0], e[1], e[3]}}, {{s[0], s[1], s[3]}}});
    if (layout.shape.from.kind == CollapsedFrom::images) return collapse_matrices(layout.layout());
    return layout;
}

}  // namespace fusekit::detail
