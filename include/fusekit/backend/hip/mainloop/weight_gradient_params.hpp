// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/bulk_gradient.hpp"
#include "fusekit/backend/hip/collective/split_k.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/copy/wgrad/load_pixels.hpp"
#include "fusekit/backend/hip/depthwise_gradient.hpp"
#include "fusekit/backend/hip/grouped_gradient.hpp"
#include "fusekit/backend/hip/stem_gradient.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"
#include "fusekit/plan/plan.hpp"

namespace fusekit::hip {

/// True if the weight gradient also has a kernel for sm_90a's tensor cores (BulkWeightGradient): for 16-bit elements
/// and two spatial modes.
template <class Plan, Element T>
inline constexpr bool has_bulk_weight_gradient =
    arch::is_targeted<arch::Sm90a> && sizeof(T) == 2 && Plan::Head::collapsed_space == 2;

/// True if the weight gradient also has a kernel for depthwise convolutions (DepthwiseWeightGradient): for filters of
/// groups that are small enough for a thread's registers.
template <class Plan, Element T>
inline constexpr bool has_depthwise_weight_gradient =
    detail::has_depthwise_gradient<Plan, static_cast<int>(sizeof(T))>();

/// True if the weight gradient also has a kernel for depthwise convolutions of 16-bit elements whose operands are
/// copied to SMEM (DepthwiseHaloWeightGradient).
template <class Plan, Element T>
inline constexpr bool has_depthwise_halo_weight_gradient =
    has_depthwise_weight_gradient<Plan, T> && detail::targets_sm80(arch::All{}) &&
    detail::has_depthwise_halo_gradient<Plan, static_cast<int>(sizeof(T))>();

/// True if the weight gradient also has a kernel for groups of few channels by mma.sync (GroupedWeightGradient).
template <class Plan, Element T>
inline constexpr bool has_grouped_weight_gradient =
    detail::targets_sm80(arch::All{}) && detail::has_grouped_gradient<Plan, T>();

/// True if the weight gradient also has a kernel for first layers (StemWeightGradient): BulkWeightGradient's plans
/// unless their filter has one tap.
template <class Plan, Element T>
inline constexpr bool has_stem_weight_gradient = has_bulk_weight_gradient<Plan, T> && detail::has_stem_gradient<Plan>();

namespace detail {

/// True if each pixel of the input is in exactly one window of this filter (patch embeddings).
FUSEKIT_HD constexpr bool has_patches(Filter<2> const& filter) {
    for (int i = 0; i < 2; ++i)
        if (filter.strides[i] != filter.size[i] || filter.pad_before[i] != 0 || filter.pad_after[i] != 0 ||
            (filter.size[i] > 1 && filter.dilations[i] != 1))
            return false;
    return filter.group_count == 1 && (filter.size[0] > 1 || filter.size[1] > 1);
}

/// True if fold_patches() may change the operands: windows are patches, and no operator needs the coordinates of dw.
template <class Plan, Element T>
FUSEKIT_HD consteval bool may_fold_patches_of() {
    if constexpr (has_bulk_weight_gradient<Plan, T>)
        return has_patches(Plan::Head::collapsed) && !Plan::Epilogue::pixelwise;
    else return false;
}
template <class Plan, Element T>
inline constexpr bool may_fold_patches = may_fold_patches_of<Plan, T>();

}  // namespace detail

/// Kernel argument of a plan with a ConvWeightGradient; y is dw.
template <class Plan, Element T, detail::OutputElement U>
struct WeightGradientParams {
    static constexpr int space = Plan::Head::collapsed_space;
    /// True if k-tiles of the bulk kernel may have every n-th pixel (WeightGradientMaps::phases): for filters of one
    /// tap, without groups.
    static constexpr bool has_phases = has_bulk_weight_gradient<Plan, T> &&
                                       detail::is_single_pixels(Plan::Head::collapsed) &&
                                       Plan::Head::collapsed.group_count == 1;

    BoundPlan<Plan> bound;
    TensorView<T const> x;
    TensorView<U> y;
    problem::Slices<space> slices = {};
    ContiguousMode in_x = ContiguousMode::pixels, in_dy = ContiguousMode::pixels;
    int split_pixels = 0;  ///< number of pixels of dy that one CTA reduces
    /// true if the batch has more pixels than 32 bits can count: each CTA then numbers pixels from the first image of
    /// its range (WeightGradientTileAt)
    bool in_slabs = false;
    /// True if the layouts of x and dy allow the k-loop WeightGradientPackets (in_packets), WeightGradientPixels
    /// (in_pixels) or WeightGradientRows (in_rows).
    bool in_packets = false, in_pixels = false, in_rows = false;
    SplitKGroups split_k = {};
    std::conditional_t<has_bulk_weight_gradient<Plan, T>, WeightGradientMaps, detail::Nothing> maps = {};
    std::conditional_t<has_depthwise_weight_gradient<Plan, T>, DepthwiseGradientTiles, detail::Nothing> depthwise = {};
    std::conditional_t<has_grouped_weight_gradient<Plan, T>, GroupedGradientTiles, detail::Nothing> grouped = {};
    std::conditional_t<has_stem_weight_gradient<Plan, T>, StemGradientTiles, detail::Nothing> stem = {};

    /// Returns the filter of the forward convolution; with maps.folds_patches its rows, whose columns are channels.
    FUSEKIT_HD auto filter() const {
        auto filter = Plan::Head::geometry(bound.head);
        if constexpr (detail::may_fold_patches<Plan, T>)
            if (maps.folds_patches) filter.size[1] = filter.strides[0] = filter.strides[1] = 1;
        return filter;
    }
    /// Returns the forward convolution whose weight gradient the plan computes: its output has the extents of dy.
    __device__ ConvProblem<T, space> problem() const {
        auto const& dy = bound.head.dy;
        return {{x, {nullptr, y.layout}, dy.layout.shape, filter()}, dy.layout.stride, slices};
    }
    /// weights(): number of weights of one filter, C R S. columns(): number of columns of dw (GemmN): the weights and,
    /// if a bias gradient is requested, one more.
    FUSEKIT_HD std::int64_t weights() const {
        Index<4> const& dw = y.layout.shape;
        return dw[1] * dw[2] * dw[3];
    }
    FUSEKIT_HD std::int64_t columns() const { return weights() + bound.head.bias_gradient.given(); }

    /// Applies the epilogue to a gradient and stores the result to dw.
    __device__ void store(float sum, OutputCoord const& to) const {
        float const value = result(sum, to);
        if constexpr (Element<U>) y(to.n, to.k, to.p, to.q) = U(value);
    }
    /// True if four adjacent channels of x, from coordinate `from` of dw on, can be stored by one vector access in all
    /// filters.
    __device__ bool stores_packets(OutputCoord const& from) const {
        if constexpr (Element<U>)
            return y.layout.stride[1] == 1 && y.layout.stride[0] % 4 == 0 &&
                   reinterpret_cast<std::uintptr_t>(&y(from.n, from.k, from.p, from.q)) % (4 * sizeof(U)) == 0;
        else return true;
    }
    __device__ void store(Packet<float, 4> const& sums, OutputCoord const& to) const {
        Packet<float, 4> values;
#pragma unroll
        for (int i = 0; i < 4; ++i) values.values[i] = result(sums.values[i], {to.n, to.k + i, to.p, to.q});
        if constexpr (Element<U>)
            *reinterpret_cast<Packet<U, 4>*>(&y(to.n, to.k, to.p, to.q)) = {U(values.values[0]), U(values.values[1]),
                                                                            U(values.values[2]), U(values.values[3])};
    }
    __device__ void store_bias(float sum, std::int64_t k) const {
        auto const& bias = bound.head.bias_gradient;
        bias.data[k * bias.layout.stride[0]] = sum;
    }

    /// Applies the epilogue to a gradient.
    __device__ float result(float sum, OutputCoord const& at) const {
        using Epilogue = typename Plan::Epilogue;
        auto const state = Epilogue::prepare(at.n, bound.epilogue);
        return Epilogue::apply(sum, ThreadCoord(at), state, bound.epilogue);
    }
};

}  // namespace fusekit::hip
