// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/conv_limits.hpp"
#include "fusekit/backend/hip/dispatch/operand_layout.hpp"
#include "fusekit/backend/hip/dispatch/product.hpp"
#include "fusekit/backend/hip/schedule/depthwise.hpp"
#include "fusekit/backend/hip/schedule/planes.hpp"
#include "fusekit/backend/hip/schedule/stem.hpp"
#include "fusekit/backend/hip/schedule/tall_gemm.hpp"
#include "fusekit/backend/hip/schedule/tall_planes.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"

namespace fusekit::hip {

namespace detail {

/// Layout of the weights with modes collapsed to K, C, R, S; for a Gemm N x K x 1 x 1.
template <class Plan, class Bound>
FUSEKIT_H constexpr CollapsedLayout<4> layout_of_weights(Bound const& bound) {
    auto const& weights = Plan::Head::filters(bound.head);
    return {weights.layout, collapsed_from(weights)};
}

/// Operands of a plan with a Conv or Gemm, and values that are computed from them once per call. Bound is a BoundPlan,
/// or at compile time its head alone.
template <class Plan, Element T, OutputElement U, class Bound = BoundPlan<Plan>>
struct ConvOperands {
    using Geometry = decltype(Plan::Head::geometry(std::declval<BoundPlan<Plan> const&>().head));

    Bound const& bound;
    ImageView<T const> const& x;
    ImageView<U> const& y;
    Geometry const filter;
    CollapsedLayout<4> const weights;
    /// extents and collapsed modes (tensor/collapse.hpp) of the mainloop's output: y's, or before a Pool those of its
    /// input
    CollapsedShape<4> const output;

    // Initializes from the parameters: nvcc's front end does not read a reference member at compile time.
    FUSEKIT_H constexpr ConvOperands(Bound const& the_bound, ImageView<T const> const& the_x, ImageView<U> const& the_y)
        : bound(the_bound),
          x(the_x),
          y(the_y),
          filter(Plan::Head::geometry(the_bound.head)),
          weights(layout_of_weights<Plan>(the_bound)),
          output(conv_output<Plan>(the_y.layout).shape, the_y.from) {}

    /// Returns an error if an extent exceeds the kernels' 32-bit indices. Must be called before the functions below.
    FUSEKIT_H Refusal refuse_limits() const {
        return refuse_conv_limits(type_name<Plan>, filter, x.shape(), weights.shape, output);
    }
    FUSEKIT_H constexpr GroupedProduct product() const { return product_of<Plan>(filter, output); }
    /// True if x or the weights have no elements, so that every sum over C, R and S is 0.
    FUSEKIT_H constexpr bool sum_nothing() const {
        return has_no_elements(x.layout.shape) || has_no_elements(weights.shape);
    }
    FUSEKIT_H constexpr bool exceed_offsets() const {
        return oversized_operand(filter, x.collapsed_layout(), weights, y.layout) != OversizedOperand::none;
    }
};

/// True if the mask of a KOffset has bits for all slices, rows and columns of a window, or if the filter is not padded,
/// so that no tap is out of bounds.
template <class Plan, class Geometry>
FUSEKIT_H constexpr bool has_bits_for(Geometry const& filter) {
    if constexpr (std::is_same_v<Geometry, Filter<Geometry::rank>>)
        if (filter.pad(0) == filter) return true;
    for (int mode = 0; mode < filter.rank; ++mode)
        if (Plan::Head::may_be_padded && filter.size[mode] > KOffset::most(filter.rank)) return false;
    return true;
}

/// Layout of a depthwise convolution's filters, K x 1 x R x S for K channels of y. Those of a transposed convolution
/// have groups along the second mode (TransposedConv::filters()).
template <class Plan, Element T, OutputElement U, class Bound>
FUSEKIT_H constexpr Layout<4> depthwise_layout(ConvOperands<Plan, T, U, Bound> const& operands) {
    Layout<4> w{operands.weights.shape, operands.weights.stride};
    if constexpr (has_transposed_conv<Plan>) {
        if (w.shape[0] == 1) w.stride[0] = w.stride[1];
        w.shape[0] *= operands.filter.group_count;
    }
    return w;
}

/// Returns the first condition of Depthwise's 32-bit indices on extents and strides that the operands do not meet.
template <class Plan, Element T, OutputElement U, class Bound>
FUSEKIT_H constexpr Unmet unmet_by_extents(ConvOperands<Plan, T, U, Bound> const& operands) {
    constexpr std::int64_t most = std::int64_t{1} << 24;  // elements; a thread steps over fewer than 64 columns
    auto const column = [](Layout<4> const& of) { return of.shape[3] > 1 ? of.stride[3] : 0; };
    Index<4> const& of_y = operands.y.layout.shape;
    auto const& w = operands.weights;
    std::int64_t const x = column(operands.x.layout), y = column(operands.y.layout);
    return first_unmet(holds(!operands.sum_nothing(), "x or weights have no elements", "use Direct"),
                       holds(!operands.exceed_offsets(), "offsets in a window exceed 32 bits", "use Direct"),
                       at_most("stride of x's columns", x < 0 ? -x : x, most, "use Direct"),
                       at_most("stride of y's columns", y < 0 ? -y : y, most, "use Direct"),
                       holds(!has_transposed_conv<Plan> || w.shape[0] == 1 || w.shape[1] > 1 ||
                                 w.stride[1] == w.shape[0] * w.stride[0],
                             "filters of a group do not follow those of the group before it", "use Direct"),
                       at_most("threads", of_y[0] * of_y[1] * of_y[2] * divide_up(of_y[3], 4),
                               (std::int64_t{1} << 31) - 1, "use Direct"));
}

template <class... Window>
FUSEKIT_H constexpr bool is_unrolled_filter(List<Window...>, Filter<2> const& filter) {
    return (false || ... || (Window::taps > 0 && Window::accepts(filter)));
}
/// True if Depthwise would loop over the taps of a channels-last convolution (AnyWindow) of so few outputs that Direct
/// takes less time.
template <class Plan, Element T, OutputElement U, class Bound>
FUSEKIT_H constexpr bool is_faster_direct([[maybe_unused]] ConvOperands<Plan, T, U, Bound> const& operands) {
    if constexpr (arch::is_targeted<arch::Amd> || sizeof(T) != 2 || has_transposed_conv<Plan>) return false;
    else {
        Filter<2> const filter = window_filter(operands.filter);
        return operands.y.layout.size() <= direct_max_depthwise_outputs &&
               std::int64_t{filter.size[0]} * filter.size[1] >= direct_min_depthwise_taps &&
               problem::channels_are_contiguous(operands.y.layout) &&
               operands.product().n <= direct_max_group_channels &&
               !is_unrolled_filter(WindowsOf<typename Plan::Head, static_cast<int>(sizeof(T))>{}, filter);
    }
}

/// True if the library selects Depthwise: each group has one channel of x, all its conditions are met, and Direct is
/// not faster.
template <class Plan, Element T, OutputElement U, class Bound>
FUSEKIT_H constexpr bool runs_depthwise([[maybe_unused]] ConvOperands<Plan, T, U, Bound> const& operands) {
    if constexpr (DepthwiseEntry::has_kernel<Plan, T, U>)
        return operands.filter.group_count > 1 && operands.weights.shape[1] == 1 && !unmet_by_extents(operands) &&
               !is_faster_direct(operands);
    else return false;
}

/// True if the Direct schedule, which has no tiles, is the only one possible: for sums over no products, groups of few
/// channels, windows with more taps than a KOffset's mask has bits, or operands whose offsets exceed 32 bits.
template <class Plan, Element T, OutputElement U, class Bound>
FUSEKIT_H constexpr bool runs_without_tiles(ConvOperands<Plan, T, U, Bound> const& operands) {
    if (operands.sum_nothing()) return true;
    bool const exceeds_offsets = operands.exceed_offsets();
    if constexpr (Plan::Head::may_be_grouped ||
                  Plan::Head::longest > KOffset::most(ConvOperands<Plan, T, U>::Geometry::rank)) {
        GroupedProduct const product = operands.product();
        return exceeds_offsets || (product.groups > 1 && product.n <= direct_max_group_channels) ||
               !has_bits_for<Plan>(operands.filter);
    }
    return exceeds_offsets;
}

/// Bytes of x, w and y. Elements of x that no window reads (with a stride larger than the filter) are not counted.
template <Element T, OutputElement U>
FUSEKIT_H constexpr double bytes_of(Index<4> const& x, Index<4> const& w, Index<4> const& y) {
    auto const size = [](Index<4> const& shape) {
        return static_cast<double>(shape[0]) * static_cast<double>(shape[1]) * static_cast<double>(shape[2]) *
               static_cast<double>(shape[3]);
    };
    double const all = size(x), used = size({y[0], x[1], y[2] * w[2], y[3] * w[3]});
    double const of_y = Element<U> ? size(y) * sizeof(U) : 0;
    return (all < used ? all : used) * sizeof(T) + size(w) * sizeof(T) + of_y;
}

}  // namespace detail

/// Returns the ConvCase of a plan's convolution or GEMM, from which schedules estimate their time and check conditions.
template <class Plan, Element T, detail::OutputElement U, class Bound>
FUSEKIT_H constexpr ConvCase case_of(detail::ConvOperands<Plan, T, U, Bound> const& operands, bool on_matrix_units,
                                     std::size_t workspace_bytes, IndexLimits const& limits = {}) {
    auto const& x = operands.x;
    auto const& y = operands.y;
    auto const& geometry = operands.filter;
    detail::CollapsedLayout<4> const& weights = operands.weights;
    Index<4> const &w = weights.shape, &of_y = operands.output;
    detail::GroupedProduct const product = operands.product();
    // GemmK of a tile; for a TransposedConv, whose phases have different numbers of taps, the mean over the phases
    std::int64_t const gemm_k = detail::divide_up(w[1] * w[2] * w[3], count_phases<Plan>());
    ConvCase result{.product = {product.m, product.n, product.groups, gemm_k,
                                detail::bytes_of<T, U>(x.layout.shape, w, y.layout.shape)},
                    .type = data_type<T>,
                    .x = x.layout.shape,
                    .y = of_y,
                    .filter = filter(1, 1),
                    .taps = static_cast<int>(w[2] * w[3]),
                    .channels_last = problem::channels_are_contiguous(y.layout),
                    .x_channels_last = problem::channels_are_contiguous(x.layout),
                    .in_bulk = x.layout.stride[1] == 1 && y.layout.stride[1] == 1 && product.groups == 1,
                    .rows_of_pixels = false,
                    .contiguous_taps = weights.stride[1] != 1,
                    .planes = detail::PlanesOrder::none,
                    .terms = !multiplies_floats<Plan, T>                 ? 1
                             : std::is_same_v<PlanFactor<Plan, T>, tf32> ? 2
                                                                         : 6,
                    .wants_matrix_units = std::is_same_v<FloatFactor<Plan>, bfloat16x3>,
                    .on_matrix_units = on_matrix_units,
                    .workspace_bytes = workspace_bytes,
                    .prologue = Plan::has_prologue,
                    .totals = Plan::totals_tiles,
                    .pools = Plan::pools,
                    .maxima = Plan::Epilogue::maxima > 0,
                    .reads_image = Plan::Epilogue::reads_image,
                    .transposed = has_transposed_conv<Plan>,
                    .phases = count_phases<Plan>(),
                    .in_slabs = of_y[0] * of_y[2] * of_y[3] >= limits.pixels,
                    .x_channel_stride = x.layout.stride[1],
                    .y_channel_stride = y.layout.stride[1]};
    if constexpr (Plan::pools) result.stores_pool_taps = Plan::Pool::writes_taps;
    if constexpr (count_phases<Plan>() > 1 && count_phases<Plan>() <= max_tma_phases &&
                  Plan::Head::collapsed_space == 2) {
        using Phases = ConvPhases<typename Plan::Head>;
        for (int i = 0; i < Phases::count; ++i)
            result.of_phases[i] = {Phases::pixels(i, of_y, {}), Phases::phase(i).all_taps()};
    }
    if constexpr (WarpSpecializedEntry::has_kernel<Plan, T, U> || StripHaloEntry::has_kernel<Plan, T, U>) {
        auto const filters =
            detail::typed<typename Plan::Head::template WeightElement<T>>(Plan::Head::filters(operands.bound.head));
        result.tma_rows = !detail::unmet_by_tma(x.layout, x.data, sizeof(T)) && !detail::unmet_by_stores(y);
        result.stores_by_tma = !detail::unmet_by_tile_stores(y, count_phases<Plan>() > 1);
        bool const by_tma =
            !detail::unmet_by_loads<U>(x, has_transposed_conv<Plan> ? transposed(filters, 0, 1) : filters);
        if constexpr (copies_rows<Plan, T, U>) {
            if (product.groups > 1) result.packs_taps = false;
            else if (by_tma) result.packs_taps = detail::packs_taps(x, filters);
            else result.copied_bytes = detail::copied_bytes(x, filters);
        }
        result.aligned_pixels =
            (by_tma || result.copied_bytes > 0) &&
            (result.stores_by_tma || (stores_by_threads<Plan, T, U> && !detail::unmet_by_thread_stores(y)));
    }
    if constexpr (TallGemmEntry::has_kernel<Plan, T, U>)
        result.dense_pixels = detail::has_dense_channels_last(x) && detail::has_dense_channels_last(y);
    if constexpr (TallPlanesEntry::has_kernel<Plan, T, U>)
        result.dense_planes = detail::has_channels_in_planes(x.layout) && detail::has_channels_in_planes(y.layout);
    if constexpr (requires { result.spread = geometry.of_y(); }) {
        if (detail::spreads<std::remove_cvref_t<decltype(geometry)>>) result.spread = geometry.of_y();
    }
    if constexpr (requires { result.filter = detail::window_filter(geometry); }) {
        result.filter = detail::window_filter(geometry);
        if constexpr (StemEntry::has_kernel<Plan, T, U>) {
            result.rows_of_pixels = detail::has_rows_of_pixels(x.layout);
            result.aligned_rows = detail::has_aligned_rows(x);
        }
        if constexpr (PlanesEntry::has_kernel<Plan, T, U> || TmaPlanesEntry::has_kernel<Plan, T, U>)
            result.planes = detail::planes_order<T, Plan::pools>(x, y, result.filter);
    }
    return result;
}

}  // namespace fusekit::hip
