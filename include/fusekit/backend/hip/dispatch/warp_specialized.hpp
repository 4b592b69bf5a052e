// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/mainloop/split_warp_specialized.hpp"

namespace fusekit::hip::detail {

/// Mainloop of a schedule with TMA loads; the same for all split-K factors.
template <class Schedule, class Plan, Element T, OutputElement U>
struct BulkMainloop {
    using Type = WarpSpecializedGemm<Plan, Schedule, T, U>;
};
template <SplitSchedule Schedule, class Plan, Element T, OutputElement U>
struct BulkMainloop<Schedule, Plan, T, U> {
    using Type = SplitWarpSpecializedGemm<Plan, Split<typename Schedule::Whole>, T, U>;
};

/// Prepares a launch of an sm_90a kernel. Empty if TMA cannot load an operand's layout, or if the program or the GPU
/// lacks the kernel.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H Maybe<Launch<ConvParams<Plan, T, U>>> launch_bulk_kernel(Gpu const& gpu, ScheduleFacts const& schedule,
                                                                   Kernel<ConvParams<Plan, T, U>> const& kernel,
                                                                   ConvOperands<Plan, T, U> const& operands,
                                                                   [[maybe_unused]] int parts) {
    ConvParams<Plan, T, U> params{operands.bound, operands.x, operands.y};
    if (!kernel.is_launchable(gpu.index())) return {};
    Refusal refusal;
    DeviceGuard const guard(gpu.index(), &refusal);
    auto const w = typed<typename Plan::Head::template WeightElement<T>>(Plan::Head::filters(params.bound.head));
    auto const filter = window_filter(operands.filter);
    if (refusal ||
        !encode(params.maps, params.x, w, params.y, filter, schedule.m, schedule.n, has_transposed_conv<Plan>))
        return {};
    if constexpr (reads_in_bulk<Plan, T, U>)
        if (!encode_read<typename Plan::Epilogue>(
                params.read, params.bound.epilogue, params.y, [&](TensorMap& map, auto const& z) {
                    return encode_pixels(map, z, 64, static_cast<std::uint32_t>(schedule.m));
                }))
            return {};
    Index<4> const of_y = params.y.layout.shape;
    std::int64_t const columns = divide_up(of_y[1], schedule.n),
                       tiles = divide_up(of_y[0] * of_y[2] * of_y[3], schedule.m) * columns;
    if constexpr (can_split<Plan, T>)
        if (schedule.splits) {
            if (!launches_clusters(gpu)) return {};
            params.parts.count = static_cast<unsigned>(parts);
            return *prepare_parts(gpu, kernel, params, schedule, tiles);
        }
    std::int64_t const most = std::int64_t{gpu.processors()} * schedule.blocks;
    // Consecutive CTAs read the same tile of x or w. In clusters of two they run on the same GPC: on an H100 a launch
    // then takes 0.96 to 1.0 of the time. With fewer tiles than SMs, pairs cost up to a fifth.
    bool const in_pairs = launches_clusters(gpu) && most % 2 == 0 && tiles >= most;
    return *prepare_launch(gpu, kernel, params, tiles < most ? tiles : most,
                           in_pairs ? LaunchMode::clusters : LaunchMode::plain,
                           Plan::totals_tiles ? GridShares::workspace_bytes : 0, in_pairs ? 2 : 1);
}

template <>
struct Launcher<WarpSpecializedEntry> {
    template <class Schedule, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch(Gpu const& gpu,
                                                                  ConvOperands<Plan, T, U> const& operands, int parts) {
        using Mainloop = typename BulkMainloop<Schedule, Plan, T, U>::Type;
        return launch_bulk_kernel(gpu, facts_of<Schedule>(), kernel_of<Plan, Mainloop>(), operands, parts);
    }

    template <class Schedule, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Unmet unmet_by_layout(Gpu const& gpu, ConvOperands<Plan, T, U> const& operands, int) {
        using Mainloop = typename BulkMainloop<Schedule, Plan, T, U>::Type;
        auto const w = typed<typename Plan::Head::template WeightElement<T>>(Plan::Head::filters(operands.bound.head));
        return first_unmet(
            unmet_by_code(gpu, kernel_of<Plan, Mainloop>()),
            holds(!SplitSchedule<Schedule> || launches_clusters(gpu), "this program has code for GPUs without clusters",
                  "compile for sm_90a alone"),
            unmet_by_layouts<T const, T const, U>(operands.x, has_transposed_conv<Plan> ? transposed(w, 0, 1) : w,
                                                  operands.y),
            holds(pixel_stride(operands.y.layout) > 0, "y's pixels are not at one stride", "pass y without gaps"),
            unmet_by_window(window_filter(operands.filter)), unmet_by_read(operands),
            holds(false, "TMA does not address the operands", "use MatrixGemm"));
    }

private:
    /// Conditions of im2col TMA loads on a filter.
    FUSEKIT_H static Unmet unmet_by_window(Filter<2> const& filter) {
        Unmet unmet;
        for (int mode = 0; mode < 2 && !unmet; ++mode) {
            std::int64_t const reach = (std::int64_t{filter.size[mode]} - 1) * filter.dilations[mode];
            unmet = first_unmet(at_most("(taps of a mode - 1) * dilation", reach, 255, "use MatrixGemm"),
                                at_most("pad_before", filter.pad_before[mode], 128, "use MatrixGemm"),
                                at_most("pad_after", filter.pad_after[mode], 127, "use MatrixGemm"),
                                at_most("stride", filter.strides[mode], 8, "use MatrixGemm"));
        }
        return unmet;
    }
};

}  // namespace fusekit::hip::detail
