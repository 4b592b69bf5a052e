// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/problem/conv.hpp"
#include "fusekit/problem/facts.hpp"
#include "fusekit/tensor/no_output.hpp"

namespace fusekit::host {

using Pixel = problem::PixelOf<std::int64_t>;

/// A convolution as loops see it.
template <Element T, int Space, Element W = T, class Groups = problem::ChannelGroups, class Geometry = Filter<Space>>
struct ConvProblem : problem::ConvProblem<T, Space, std::int64_t, W, Groups, Geometry> {
    using Sum = detail::AccumulatorOf<T>;
    /// Whether neighbouring pixels have windows that lie alike in x, column_step() columns apart.
    static constexpr bool has_steps = !detail::spreads<Geometry>;

    [[no_unique_address]] detail::SliceHeights<Space> heights;

    /// Row of x under row r of the window of output row p; outside [0, H) where that is padding.
    FUSEKIT_H std::int64_t row(std::int64_t p, int r) const { return detail::row_under(this->filter, heights, p, r); }
    FUSEKIT_H std::int64_t column(std::int64_t q, int s) const { return detail::column_under(this->filter, q, s); }
    FUSEKIT_H std::int64_t column_step() const
        requires has_steps
    {
        if constexpr (detail::is_transposed<Geometry>) return 1;
        else return this->filter.strides[Space - 1];
    }

    FUSEKIT_H bool has_row(std::int64_t h) const { return h >= 0 && h < this->x.layout.shape[2]; }
    FUSEKIT_H bool has_column(std::int64_t column) const { return column >= 0 && column < this->x.layout.shape[3]; }
};

template <class Problem, detail::OutputElement U>
struct ConvAndOutput {
    Problem conv;
    TensorView<U> y;
};

/// A convolution of single pixels of planes that are rows, with each plane as one long row; any other as it is. Rows
/// that are matrices with weights of their own stay apart.
template <class Problem, detail::OutputElement U>
FUSEKIT_H ConvAndOutput<Problem, U> flattened(Problem const& conv, TensorView<U> const& y) {
    ConvAndOutput<Problem, U> flat{conv, y};
    if (!Problem::of_channels || !detail::is_single_pixels(conv.filter) || !problem::planes_are_rows(conv.x.layout) ||
        !problem::planes_are_rows(y.layout))
        return flat;
    for (Layout<4>* layout : {&flat.conv.x.layout, &flat.y.layout})
        layout->shape = {{layout->shape[0], layout->shape[1], 1, layout->shape[2] * layout->shape[3]}};
    flat.conv.y = flat.y.layout.shape;
    flat.conv.heights = {flat.conv.x.layout.shape, flat.conv.y};
    return flat;
}

/// Where k of GemmK lies for channel c and tap t = r S + s, t fastest or c fastest.
struct GemmKOrder {
    std::int64_t channel, tap;
};

}  // namespace fusekit::host
