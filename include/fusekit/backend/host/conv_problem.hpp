// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/problem/conv.hpp"
#include "fusekit/problem/facts.hpp"
#include "fusekit/tensor/no_output.hpp"

namespace fusekit::host {

using Pixel = problem::PixelOf<std::int64_t>;

/// Convolution problem (problem/conv.hpp) with 64-bit indices and the host's accumulator type.
template <Element T, int Space, Element W = T, class Groups = problem::ChannelGroups, class Geometry = Filter<Space>>
struct ConvProblem : problem::ConvProblem<T, Space, std::int64_t, W, Groups, Geometry> {
    using Acc = detail::AccumulatorOf<T>;
    /// True if windows of adjacent pixels are a constant distance, column_step() columns, apart in x.
    static constexpr bool has_steps = !detail::spreads<Geometry>;

    [[no_unique_address]] detail::SliceHeights<Space> heights;

    /// Row of x that row r of the window of output row p reads; outside [0, H) for padding.
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

/// If the filter is 1x1 and planes are dense, makes each plane one long row; otherwise returns conv and y unchanged.
/// Rows that belong to different matrices of a batch are not joined.
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

/// Order of GemmK in a packed row: strides of channel c and of tap t = r S + s, either (taps, 1) or (1, channels).
struct GemmKOrder {
    std::int64_t channel, tap;
};

}  // namespace fusekit::host
