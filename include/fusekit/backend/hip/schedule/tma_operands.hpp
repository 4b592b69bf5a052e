// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/phase_maps.hpp"
#include "fusekit/backend/hip/schedule/conv_case.hpp"
#include "fusekit/backend/hip/schedule/operand_types.hpp"
#include "fusekit/backend/hip/unmet.hpp"

namespace fusekit::hip::detail {

/// Returns an unmet condition if the program has no code for sm_90a.
FUSEKIT_H constexpr Unmet unmet_by_target() {
    return holds(arch::is_targeted<arch::Sm90a>, "the program has no code for sm_90a",
                 "compile for it, or use Gemm or NativeGemm");
}

/// Returns an unmet condition if y's type U is an output type, such as float64, but no element type.
template <class U>
FUSEKIT_H constexpr Unmet unmet_by_element() {
    return holds(Element<U>, "y is not of the library's element types", "use MatrixGemm");
}

/// Returns the first TMA condition that a plan does not meet, among those that neither depend on extents nor are
/// members of PlanConditions. `phased`: the schedule computes the phases of a TransposedConv's stride.
template <class Plan, bool phased = false>
FUSEKIT_H constexpr Unmet unmet_by_tma_loads() {
    constexpr bool of_channels = problem::GroupsOf<typename Plan::Head>::of_channels,
                   spreads = detail::spreads<problem::GeometryOf<typename Plan::Head>>;
    std::int64_t phases = 1;
    if constexpr (spreads) {
        for (int mode = 0; mode < Plan::Head::collapsed_space && phases <= max_tma_phases; ++mode)
            phases *= Plan::Head::filter.strides[mode];
    }
    return first_unmet(
        unmet_by_target(),
        holds(Plan::Head::collapsed_space == 2, "TMA loads windows of two modes, not volumes", "use MatrixGemm"),
        holds(of_channels, "the plan has a BatchedGemm", "use MatrixGemm"),
        holds(!spreads || phased, "the plan has a TransposedConv with a stride", "use MatrixGemm"),
        holds(!spreads || !Plan::totals_tiles, "ChannelStatistics after a TransposedConv with a stride",
              "use MatrixGemm"),
        holds(!spreads || !Plan::pools, "a Pool after a TransposedConv with a stride", "use MatrixGemm"),
        at_most("phases of the stride", phases, max_tma_phases, "use MatrixGemm"));
}

/// Returns the first condition of TMA loads on channel strides and groups that channels-last tensors do not meet.
FUSEKIT_H constexpr Unmet unmet_by_channel_strides(ConvCase const& of) {
    bool const planes = !of.stores_pool_taps;  // Planes has no MaxWithTaps
    return first_unmet(equal("x's channel stride", of.x_channel_stride, 1,
                             planes ? "pass x channels-last, or use Planes" : "pass x channels-last"),
                       equal("y's channel stride", of.y_channel_stride, 1,
                             planes ? "pass y channels-last, or use Planes" : "pass y channels-last"));
}
FUSEKIT_H constexpr Unmet unmet_by_channels_last(ConvCase const& of) {
    if (of.in_bulk) return {};
    return first_unmet(unmet_by_channel_strides(of), equal("groups", of.product.groups, 1, "use MatrixGemm"),
                       holds(false, "x or y is not channels-last", "use MatrixGemm"));
}

/// Returns the first of these conditions that a filter does not meet: stride 1, dilation 1. Schedules with halos in
/// SMEM require them.
FUSEKIT_H constexpr Unmet unmet_by_steps(Filter<2> const& filter) {
    return first_unmet(equal("stride_h", filter.strides[0], 1, "use MatrixGemm"),
                       equal("stride_w", filter.strides[1], 1, "use MatrixGemm"),
                       equal("dilation_h", filter.dilations[0], 1, "use MatrixGemm"),
                       equal("dilation_w", filter.dilations[1], 1, "use MatrixGemm"));
}

/// Returns the first unmet condition among those of unmet_by_steps() and one group of channels.
FUSEKIT_H constexpr Unmet unmet_by_unit_steps(Filter<2> const& filter) {
    return first_unmet(equal("groups", filter.group_count, 1, "use MatrixGemm"), unmet_by_steps(filter));
}

/// Returns unmet(filter) for the filter in a plan's type, if the type has one. For a 1x1 filter returns an unmet
/// condition.
template <class Plan>
FUSEKIT_H consteval Unmet unmet_by_taps(Unmet (*unmet)(Filter<2> const&)) {
    if (Plan::Head::longest <= 1) return holds(false, "the filter has one tap, and so no halo", "use WarpSpecialized");
    if constexpr (!has_transposed_conv<Plan> && requires { Plan::Head::collapsed.size.w; } &&
                  Plan::Head::collapsed_space == 2)
        return unmet(Plan::Head::collapsed);
    return {};
}

/// True for the 8-bit types that sm_90a's tensor cores multiply.
template <class T>
inline constexpr bool is_sm90a_byte = std::is_same_v<T, int8> || std::is_same_v<T, e4m3> || std::is_same_v<T, e5m2>;

}  // namespace fusekit::hip::detail
