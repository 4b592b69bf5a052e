// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/conv_limits.hpp"
#include "fusekit/backend/hip/dispatch/planes.hpp"
#include "fusekit/backend/hip/dispatch/product.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/dispatch/stem.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"

namespace fusekit::hip {

/// What a schedule's time depends on: a convolution's extents, and how its operands lie.
struct ConvCase {
    Product product;
    DataType type;  ///< of x
    Index<4> x, y;  ///< y of the mainloop: more than the tensor has where a plan pools
    Filter<2> filter;  ///< whose windows move over x, where space is rows and columns, else of a single tap
    int taps;
    bool channels_last;  ///< in y: GemmK runs over channels first
    bool x_channels_last;
    bool in_bulk;  ///< channels are neighbours, and there is one group
    bool rows_of_pixels, taps_neighbour;  ///< of x, of the weights
    detail::PlanesOrder planes;  ///< of x and y
    int terms;  ///< products on matrix units for one of its own, by the rate of half
    bool wants_matrix_units;  ///< the user wants floats to be split there
    bool on_matrix_units;  ///< the GPU has sm_90a's, and the program code for them
    std::size_t workspace_bytes;
    bool totals = false;  ///< of each channel of y, for statistics
    bool maxima = false;  ///< of what passes the epilogue
    bool transposed = false;
    bool in_slabs = false;  ///< has more pixels than kernels of bulk copies count
};

namespace detail {

/// The weights' layout as collapsed; N x K x 1 x 1 for a Gemm.
template <class Plan>
FUSEKIT_H CollapsedLayout<4> layout_of_weights(BoundPlan<Plan> const& bound) {
    auto const& weights = Plan::Head::filters(bound.head);
    return {weights.layout, collapsed_from(weights)};
}

/// Whether a row has bits for the slices, rows and columns of a padded window.
template <class Plan, class Geometry>
FUSEKIT_H bool has_bits_for(Geometry const& filter) {
    for (int mode = 0; mode < filter.rank; ++mode)
        if (Plan::Head::may_be_padded && filter.size[mode] > KOffset::most(filter.rank)) return false;
    return true;
}

/// True if x or the weights have no elements: the sums have no products, or those with padding alone.
template <class Plan, Element T>
FUSEKIT_H bool sums_nothing(BoundPlan<Plan> const& bound, ImageView<T const> const& x) {
    return has_no_elements(x.layout.shape) || has_no_elements(layout_of_weights<Plan>(bound).shape);
}

/// True if Direct runs in place of tiles: sums of no products, groups of few channels, windows of many taps, or
/// operands beyond 32-bit offsets.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H bool runs_without_tiles(BoundPlan<Plan> const& bound, ImageView<T const> const& x, ImageView<U> const& y,
                                  GroupedProduct const& product) {
    auto const filter = Plan::Head::geometry(bound.head);
    if (sums_nothing(bound, x)) return true;
    bool const exceeds_offsets =
        far_operand(filter, x.collapsed_layout(), layout_of_weights<Plan>(bound), y.layout) != FarOperand::none;
    if constexpr (Plan::Head::may_be_grouped || Plan::Head::longest > KOffset::most(filter.rank))
        return exceeds_offsets || (product.groups > 1 && product.n <= direct_max_group_channels) ||
               !has_bits_for<Plan>(filter);
    return exceeds_offsets;
}

/// The bytes of x, of which no more is read than there are products, of the weights and of y.
template <Element T, OutputElement U>
FUSEKIT_H double bytes_of(Index<4> const& x, Index<4> const& w, Index<4> const& y) {
    auto const size = [](Index<4> const& shape) {
        return static_cast<double>(shape[0]) * static_cast<double>(shape[1]) * static_cast<double>(shape[2]) *
               static_cast<double>(shape[3]);
    };
    double const all = size(x), used = size({y[0], x[1], y[2] * w[2], y[3] * w[3]});
    double const of_y = Element<U> ? size(y) * sizeof(U) : 0;
    return (all < used ? all : used) * sizeof(T) + size(w) * sizeof(T) + of_y;
}

}  // namespace detail

/// A plan's convolution or product of x to y as schedules see it.
template <class Plan, Element T, detail::OutputElement U>
FUSEKIT_H ConvCase case_of(BoundPlan<Plan> const& bound, detail::ImageView<T const> const& x,
                           detail::ImageView<U> const& y, bool on_matrix_units, std::size_t workspace_bytes,
                           IndexLimits const& limits = {}) {
    auto const geometry = Plan::Head::geometry(bound.head);
    Index<4> const w = detail::layout_of_weights<Plan>(bound).shape, of_y = conv_output<Plan>(y.layout).shape;
    detail::GroupedProduct const product = detail::product_of(bound, of_y);
    std::int64_t const gemm_k = detail::divide_up(w[1] * w[2] * w[3], count_phases<Plan>());  // of a phase, the mean
    ConvCase result{.product = {product.m, product.n, product.groups, gemm_k,
                                detail::bytes_of<T, U>(x.layout.shape, w, y.layout.shape)},
                    .type = data_type<T>,
                    .x = x.layout.shape,
                    .y = of_y,
                    .filter = filter(1, 1),
                    .taps = static_cast<int>(w[2] * w[3]),
                    .channels_last = problem::channels_are_neighbours(y.layout),
                    .x_channels_last = problem::channels_are_neighbours(x.layout),
                    .in_bulk = x.layout.stride[1] == 1 && y.layout.stride[1] == 1 && product.groups == 1,
                    .rows_of_pixels = false,
                    .taps_neighbour = Plan::Head::filters(bound.head).layout.stride[1] != 1,
                    .planes = detail::PlanesOrder::none,
                    .terms = !multiplies_floats<Plan, T>                 ? 1
                             : std::is_same_v<PlanFactor<Plan, T>, tf32> ? 2
                                                                         : 6,
                    .wants_matrix_units = std::is_same_v<FloatFactor<Plan>, bfloat16x3>,
                    .on_matrix_units = on_matrix_units,
                    .workspace_bytes = workspace_bytes,
                    .totals = Plan::totals_tiles,
                    .maxima = Plan::Epilogue::maxima > 0,
                    .transposed = has_transposed_conv<Plan>,
                    .in_slabs = of_y[0] * of_y[2] * of_y[3] >= limits.pixels};
    if constexpr (requires { result.filter = detail::window_filter(geometry); }) {
        result.filter = detail::window_filter(geometry);
        if constexpr (has_stem<Plan, T, U>) result.rows_of_pixels = detail::has_rows_of_pixels(x);
        if constexpr (has_planes<Plan, T, U>) result.planes = detail::planes_order(x, y, geometry);
    }
    return result;
}

}  // namespace fusekit::hip
