// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "fusekit/backend/hip/dispatch/rows.hpp"
#include "fusekit/backend/hip/mainloop/image_row_gradient.hpp"
#include "fusekit/backend/hip/mainloop/resident_row_gradient.hpp"
#include "fusekit/backend/hip/mainloop/row_gradient.hpp"
#include "fusekit/backend/hip/tma_limits.hpp"
#include "fusekit/backend/hip/tuning/rates.hpp"
#include "fusekit/plan/empty.hpp"

namespace fusekit::hip {

namespace detail {

template <int lanes, Axis axis, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<RowGradientParams<Plan, T, U>>> prepare_row_gradient_with(
    Gpu const& gpu, RowGradientParams<Plan, T, U> params) {
    using Mainloop = RowGradient<Plan, T, U, lanes, axis>;
    constexpr bool along_channels = axis == Axis::channel;
    constexpr auto threads = static_cast<unsigned>(Mainloop::threads);
    Index<4> const shape = params.y.layout.shape;
    using Op = typename RowGradientSteps<typename Plan::Head>::Op;
    std::int64_t const pixels = Op::over_pixels ? shape[2] * shape[3] : 1;
    params.columns = params.channels / static_cast<unsigned>(along_channels ? lanes : 1);
    params.steps = static_cast<unsigned>(along_channels ? pixels : pixels / lanes);
    std::int64_t const of_steps = power_of_two(params.steps, threads);
    params.width = static_cast<unsigned>(power_of_two(params.columns, along_channels ? threads : threads / of_steps));
    std::int64_t const at_once = std::int64_t{gpu.processors()} * Mainloop::blocks;
    std::int64_t sets = at_once / params.groups, blocks = 0;
    if (sets < 1) sets = 1;
    if (sets > params.rows) sets = params.rows;
    std::size_t workspace_bytes = 0;
    if (params.saves_totals) {
        std::int64_t const floats = shape[1] * std::int64_t{ChannelPartials<Plan>::words},
                           most = static_cast<std::int64_t>(GroupWorkspace::floats) / floats;
        if (sets > most) sets = most;
        workspace_bytes = GroupWorkspace::state_bytes + static_cast<std::size_t>(sets * floats) * sizeof(float);
    }
    params.sets = static_cast<unsigned>(sets);
    blocks = sets * params.groups < at_once ? sets * params.groups : at_once;
    return prepare_launch<Plan, Mainloop>(gpu, params, blocks > 0 ? blocks : 1, Mainloop::threads,
                                          params.saves_totals ? LaunchMode::cooperative : LaunchMode::plain,
                                          workspace_bytes);
}

/// Makes the stride of a layout's columns the distance from each pixel of the batch to the next. Returns false if there
/// is no such distance.
FUSEKIT_H inline bool take_pixel_stride(Layout<4>& layout) {
    layout.stride[3] = pixel_stride(layout);
    return layout.stride[3] > 0;
}

/// Prepares a launch of ResidentRowGradient: nothing if the GPU lacks the shared memory. With totals of channels, as
/// many CTAs as run at once, in clusters if sets of all CTAs exceed the workspace.
template <int lanes, int resident, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H std::optional<Result<Launch<RowGradientParams<Plan, T, U>>>> prepare_resident_row_gradient(
    Gpu const& gpu, RowGradientParams<Plan, T, U> params) {
    using Mainloop = ResidentRowGradient<Plan, T, U, lanes, resident>;
    auto const kernel = kernel_of<Plan, Mainloop>();
    if (!kernel.is_launchable(gpu.index())) return {};
    constexpr std::int64_t threads = Mainloop::threads, words = ChannelPartials<Plan>::words;
    params.columns = params.channels / lanes;
    params.group = static_cast<unsigned>(power_of_two(divide_up(params.columns, resident), threads));
    std::int64_t const wanted = divide_up(params.rows, threads / params.group);
    std::int64_t blocks = std::int64_t{gpu.processors()} * Mainloop::blocks;
    if (!params.saves_totals) return prepare_launch(gpu, kernel, params, wanted < blocks ? wanted : blocks);
    std::int64_t const floats = params.channels * words, most = std::int64_t{GroupWorkspace::floats} / floats;
    std::int64_t sets = blocks;
    if constexpr (kernels_cluster)
        if (launches_clusters(gpu.architecture()) && wanted >= max_cluster_blocks) {
            auto const resident_sets = [&] {
                return resident_clusters(gpu.processors(), Mainloop::blocks, params.cluster);
            };
            params.cluster = max_cluster_blocks;
            while (params.cluster > 1 && resident_sets() < 2) params.cluster /= 2;  // few SMs
            sets = resident_sets();
        }
    for (std::int64_t const limit : {most, divide_up(wanted, params.cluster)})
        if (sets > limit) sets = limit;
    params.sets = static_cast<unsigned>(sets);
    return prepare_launch(
        gpu, kernel, params, sets * params.cluster, params.cluster > 1 ? LaunchMode::clusters : LaunchMode::cooperative,
        GroupWorkspace::state_bytes + static_cast<std::size_t>(sets * floats) * sizeof(float), params.cluster);
}

/// Prepares a launch of ImageRowGradient: as many CTAs as run at once share the images. Nothing if the kernel cannot
/// run, or not with `workspace_bytes` of workspace while RowGradient needs none.
template <int lanes, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H std::optional<Result<Launch<RowGradientParams<Plan, T, U>>>> prepare_image_row_gradient(
    Gpu const& gpu, RowGradientParams<Plan, T, U> params, std::size_t workspace_bytes) {
    using Mainloop = ImageRowGradient<Plan, T, U, lanes>;
    constexpr std::int64_t threads = Mainloop::threads, words = ChannelPartials<Plan>::words,
                           most = std::int64_t{GroupWorkspace::floats};
    Index<4> const& shape = params.y.layout.shape;
    std::int64_t const packets = shape[1] / lanes, groups = params.groups;
    auto const kernel = kernel_of<Plan, Mainloop>();
    if (packets > threads || groups > Mainloop::max_groups || !kernel.is_launchable(gpu.index())) return {};
    params.columns = static_cast<unsigned>(packets);
    std::int64_t const floats = (params.saves_totals ? words * shape[1] : 0) + Mainloop::sums_of_group * groups;
    std::int64_t at_once = gpu.processors();
    if (at_once > most / floats) at_once = most / floats;
    std::int64_t parts = at_once / shape[0];
    std::int64_t const limit = divide_up(shape[2] * shape[3], threads / packets);
    if (parts > limit) parts = limit;
    if (parts < 1) parts = 1;
    std::int64_t const images = shape[0] < at_once ? shape[0] : at_once, blocks = images * parts;
    params.cluster = static_cast<unsigned>(parts);
    params.sets = static_cast<unsigned>(blocks);
    if (parts == 1 && !params.saves_totals) return prepare_launch(gpu, kernel, params, blocks);
    std::size_t const bytes = GroupWorkspace::state_bytes + static_cast<std::size_t>(blocks * floats) * sizeof(float);
    if (!params.saves_totals && workspace_bytes < bytes) return {};
    return prepare_launch(gpu, kernel, params, blocks, LaunchMode::cooperative, bytes);
}

}  // namespace detail

/// Prepares a launch of the gradient of a plan whose first operator is a RowOp. `dy` is the run's x, `dx` its y;
/// workspace_bytes: size of the stream's own workspace.
template <Orders orders = Orders::any, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<RowGradientParams<Plan, T, U>>> prepare_row_gradient(Gpu const& gpu,
                                                                             BoundPlan<Plan> const& bound,
                                                                             detail::ImageView<T const> const& dy,
                                                                             detail::ImageView<U> const& dx,
                                                                             std::size_t workspace_bytes) {
    using Steps = detail::RowGradientSteps<typename Plan::Head>;
    using Op = typename Steps::Op;
    constexpr int most = 4;
    [[maybe_unused]] constexpr int vector = packet_elements<T, U>;
    Index<4> const shape = dx.layout.shape;
    RowGradientParams<Plan, T, U> params{.bound = bound, .x = dy, .y = dx, .forward_x = detail::typed<T>(bound.head.x)};
    if (detail::writes_nothing(bound, shape)) return launch_nothing(gpu, type_name<Plan>, params);
    detail::RowsOf<Op> const rows(Steps::row_args(bound.head), shape);
    std::int64_t const plane = shape[2] * shape[3], limit = std::int64_t{1} << 31;
    for (auto const& [value, expected] : {std::pair{rows.count(shape), "fewer than 2^31 rows"},
                                          std::pair{rows.values(), "rows of fewer than 2^31 values"},
                                          std::pair{plane, "planes of fewer than 2^31 pixels"}})
        if (Refusal refusal = refuse_limit(type_name<Plan>, "y", expected, dx.shape(), value, limit)) return *refusal;
    params.saves_totals = Steps::has_totals && Steps::saves_totals(bound.head);
    if (params.saves_totals)
        if (Refusal refusal = refuse_limit(
                type_name<Plan>, "y", "fewer channels, whose gradients fit a workspace of 1 MiB", dx.shape(), shape[1],
                static_cast<std::int64_t>(GroupWorkspace::floats / ChannelPartials<Plan>::words)))
            return *refusal;
    params.rows = static_cast<unsigned>(Op::over_pixels ? shape[0] : rows.count(shape));
    params.groups = static_cast<unsigned>(rows.groups);
    params.channels = static_cast<unsigned>(rows.channels);
    params.of_plane = FastDivmod(static_cast<unsigned>(plane));
    params.of_line = FastDivmod(static_cast<unsigned>(shape[3]));
    params.count = static_cast<float>(rows.values());
    [[maybe_unused]] bool const is_empty =
        detail::has_no_elements(shape);  // RowGradient writes totals over no values, which are 0
    if constexpr (!Op::over_pixels && !Steps::States::pixelwise) {
        RowGradientParams<Plan, T, U> of_matrix = params;
        auto const in_registers = [&]<int resident>(std::integral_constant<int, resident>) {
            using Mainloop = ResidentRowGradient<Plan, T, U, vector, resident>;
            return params.channels <= Mainloop::max_packets * vector
                       ? detail::prepare_resident_row_gradient<vector, resident>(gpu, of_matrix)
                       : std::nullopt;
        };
        if (!is_empty && detail::take_pixel_stride(of_matrix.x.layout) &&
            detail::take_pixel_stride(of_matrix.y.layout) && detail::take_pixel_stride(of_matrix.forward_x.layout) &&
            detail::has_lines_of_packets<vector>(detail::Axis::channel, rows.channels, of_matrix.x, of_matrix.y,
                                                 of_matrix.forward_x)) {
            if constexpr (!Steps::has_totals) {
                if (auto launch = in_registers(std::integral_constant<int, 4>{})) return *std::move(launch);
            } else {
                // with totals two packets a thread take 0.7 to 0.9 of one packet's time
                // (bench/results/h200/row_gradients.txt)
                constexpr bool can_hold_two = !arch::is_targeted<arch::Amd>;
                if (!can_hold_two || !params.saves_totals || params.channels < 32u * vector)
                    if (auto launch = in_registers(std::integral_constant<int, 1>{})) return *std::move(launch);
                if constexpr (can_hold_two)
                    if (auto launch = in_registers(std::integral_constant<int, 2>{})) return *std::move(launch);
            }
        }
    }
    if constexpr (Op::over_pixels && !Steps::States::pixelwise && !arch::is_targeted<arch::Amd>) {  // AMD: scratch
        if (!is_empty &&
            detail::has_lines_of_packets<vector>(detail::Axis::channel, shape[1], params.x, params.y, params.forward_x))
            if (auto launch = detail::prepare_image_row_gradient<vector>(gpu, params, workspace_bytes))
                return *std::move(launch);
    }
    if constexpr (Op::over_pixels && orders == Orders::any)
        if (!problem::channels_are_contiguous(dy.layout) || !problem::channels_are_contiguous(dx.layout)) {
            if (detail::has_lines_of_packets<most>(detail::Axis::pixel, plane, params.x, params.y, params.forward_x))
                return detail::prepare_row_gradient_with<most, detail::Axis::pixel>(gpu, params);
            return detail::prepare_row_gradient_with<1, detail::Axis::pixel>(gpu, params);
        }
    if (detail::has_lines_of_packets<most>(detail::Axis::channel, rows.channels, params.x, params.y, params.forward_x))
        return detail::prepare_row_gradient_with<most, detail::Axis::channel>(gpu, params);
    return detail::prepare_row_gradient_with<1, detail::Axis::channel>(gpu, params);
}

}  // namespace fusekit::hip
