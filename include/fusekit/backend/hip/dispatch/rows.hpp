// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "fusekit/backend/hip/dispatch/orders.hpp"
#include "fusekit/backend/hip/mainloop/contiguous_rows.hpp"
#include "fusekit/backend/hip/mainloop/image_rows.hpp"
#include "fusekit/backend/hip/mainloop/pixel_rows.hpp"
#include "fusekit/backend/hip/runtime/launch.hpp"
#include "fusekit/backend/hip/schedule/split.hpp"
#include "fusekit/backend/hip/tuning/policy.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::hip {

namespace detail {

/// True if the views can be read and written in vectors of `count` elements along `axis` at every index that is a
/// multiple of `count`, and a line of `length` elements has whole vectors. Lines of pixels are planes.
template <int count, class... Elements>
FUSEKIT_H bool has_lines_of_packets(Axis axis, std::int64_t length, TensorView<Elements> const&... views) {
    if (length % count != 0) return false;
    return axis == Axis::pixel ? (problem::vectorizable_planes<Elements>(views, count) && ...)
                               : (problem::vectorizable<Elements>(views, count, 1) && ...);
}

/// True if x, y and the head's parameters can be read and written in such vectors.
template <class Op, int count, Element T, detail::OutputElement U>
FUSEKIT_H bool has_row_packets(typename Op::Args const& args, TensorView<T const> const& x, TensorView<U> const& y,
                               Axis axis, std::int64_t length) {
    if constexpr (PreparesPackets<Op>)
        if (axis == Axis::channel && !Op::Affine::template has_packets<(min)(count, 4)>(args)) return false;
    return has_lines_of_packets<count>(axis, length, x, y);
}

/// Prepares a launch of ContiguousRows: rows that fit the registers of a CTA's threads are held there; longer ones have
/// a CTA each or, if there are few, a cluster.
template <int lanes, Axis axis, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<RowParams<Plan, T, U>>> prepare_contiguous_rows(Gpu const& gpu, RowParams<Plan, T, U> params) {
    using Held = ContiguousRows<Plan, T, U, lanes, axis, true>;
    using Long = ContiguousRows<Plan, T, U, lanes, axis, false>;
    auto const processors = static_cast<unsigned>(gpu.processors());
    auto const grow = [&](unsigned least, unsigned most) {  // threads of a row, for `least` packets each
        params.group = static_cast<unsigned>(power_of_two(divide_up(params.packets, least), most));
    };
    constexpr unsigned held = Held::threads * Held::resident;
    // few rows: one packet a thread, so that more threads load at once
    bool const is_few = params.rows <= 2 * processors;
    if (params.packets <= held && !(is_few && params.packets > Held::threads * 2)) {
        grow(is_few ? 1 : static_cast<unsigned>(Held::resident), static_cast<unsigned>(Held::threads));
        unsigned const threads = params.group < 128 ? 128 : params.group;
        return prepare_launch<Plan, Held>(gpu, params, divide_up(params.rows, std::int64_t{threads / params.group}),
                                          static_cast<int>(threads));
    }
    constexpr unsigned most = Long::threads;
    grow(1, most);
    if constexpr (kernels_cluster)
        if (params.group == most && launches_clusters(gpu.architecture()))
            while (params.cluster < max_cluster_blocks && params.cluster * most < params.packets &&
                   params.rows * params.cluster < processors)
                params.cluster *= 2;
    unsigned const at_once = params.group * params.cluster * Long::resident;
    params.batches = (params.packets + at_once - 1) / at_once;
    unsigned const threads = params.group < 128 ? 128 : params.group;
    return prepare_launch<Plan, Long>(
        gpu, params, divide_up(params.rows, std::int64_t{threads / params.group}) * params.cluster,
        static_cast<int>(threads), params.cluster > 1 ? LaunchMode::clusters : LaunchMode::plain, 0, params.cluster);
}

/// True if ImageRows computes the plan: a thread keeps the parameters of its channels.
template <class Plan>
inline constexpr bool has_image_rows = !Plan::has_prologue && !Plan::Epilogue::pixelwise && !Plan::Epilogue::stores;

/// Prepares a launch of ImageRows: as many CTAs as run at once share the images. Nothing if the kernel cannot run, or
/// not with `workspace_bytes` of workspace.
template <int lanes, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H std::optional<Result<Launch<RowParams<Plan, T, U>>>> prepare_image_rows(Gpu const& gpu,
                                                                                  RowParams<Plan, T, U> params,
                                                                                  std::size_t workspace_bytes) {
    using Mainloop = ImageRows<Plan, T, U, lanes>;
    constexpr std::int64_t threads = Mainloop::threads;
    Index<4> const& shape = params.y.layout.shape;
    std::int64_t const packets = shape[1] / lanes, groups = params.of_image.value(), processors = gpu.processors();
    auto const kernel = kernel_of<Plan, Mainloop>();
    if (packets > threads || groups > Mainloop::max_groups || !kernel.is_launchable(gpu.index())) return {};
    params.rows = static_cast<unsigned>(shape[0]);
    params.packets = static_cast<unsigned>(packets);
    std::int64_t parts = processors / shape[0];
    for (std::int64_t const limit : {divide_up(shape[2] * shape[3], threads / packets),
                                     static_cast<std::int64_t>(GroupWorkspace::floats) / (2 * groups * shape[0])})
        if (parts > limit) parts = limit;
    if (parts <= 1) return prepare_launch(gpu, kernel, params, shape[0] < processors ? shape[0] : processors);
    params.cluster = static_cast<unsigned>(parts);
    std::int64_t const blocks = parts * shape[0];
    std::size_t const bytes =
        GroupWorkspace::state_bytes + static_cast<std::size_t>(2 * blocks * groups) * sizeof(float);
    if (workspace_bytes < bytes) return {};
    return prepare_launch(gpu, kernel, params, blocks, LaunchMode::cooperative, bytes);
}

}  // namespace detail

/// Prepares a launch of a plan whose head is a RowOp. workspace_bytes: size of the stream's own
/// workspace.
template <Orders orders = Orders::any, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<RowParams<Plan, T, U>>> prepare_rows(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                             detail::ImageView<T const> const& x,
                                                             detail::ImageView<U> const& y,
                                                             std::size_t workspace_bytes) {
    using Op = typename Plan::Head;
    constexpr int most = packet_elements<T, U>;
    constexpr int most_pixels = Plan::has_prologue ? (min)(4, most) : most;  // PixelRows spills with 8
    Index<4> const shape = y.layout.shape;
    RowParams<Plan, T, U> params{.bound = bound, .x = x, .y = y};
    if (detail::has_no_elements(shape)) return launch_nothing(gpu, type_name<Plan>, params);
    detail::RowsOf<Op> const rows(bound.head, shape);
    std::int64_t const plane = shape[2] * shape[3], limit = std::int64_t{1} << 31;
    for (auto const& [value, expected] : {std::pair{rows.count(shape), "fewer than 2^31 rows"},
                                          std::pair{rows.values(), "rows of fewer than 2^31 values"},
                                          std::pair{plane, "planes of fewer than 2^31 pixels"}})
        if (Refusal refusal = refuse_limit(type_name<Plan>, "y", expected, y.shape(), value, limit)) return *refusal;
    params.rows = static_cast<unsigned>(rows.count(shape));
    params.channels = static_cast<unsigned>(rows.channels);
    params.count = static_cast<float>(rows.values());
    params.columns = FastDivmod(static_cast<unsigned>(shape[3]));
    Index<4> const &sx = x.layout.stride, &sy = y.layout.stride;
    bool const by_channels = problem::channels_are_contiguous(x.layout) && problem::channels_are_contiguous(y.layout);
    if constexpr (!Op::over_pixels) {
        params.of_image = FastDivmod(static_cast<unsigned>(plane));
        params.x_row = {{sx[2], sx[3]}}, params.y_row = {{sy[2], sy[3]}};
        auto const along_channels = [&]<int lanes>(std::integral_constant<int, lanes>) {
            params.packets = static_cast<unsigned>(shape[1] / lanes);
            return detail::prepare_contiguous_rows<lanes, detail::Axis::channel>(gpu, params);
        };
        auto const in_channels = [&] {
            if (detail::has_row_packets<Op, most>(bound.head, x, y, detail::Axis::channel, shape[1]))
                return along_channels(std::integral_constant<int, most>{});
            return along_channels(std::integral_constant<int, 1>{});
        };
        if constexpr (orders == Orders::channels_last) {
            return in_channels();
        } else {
            if (by_channels) return in_channels();
            auto const along_pixels =
                [&]<int lanes>(std::integral_constant<int, lanes>) -> Result<Launch<RowParams<Plan, T, U>>> {
                using Mainloop = PixelRows<Plan, T, U, lanes>;
                params.rows = static_cast<unsigned>(plane / lanes);
                std::int64_t const tiles = detail::divide_up(params.rows, Mainloop::packets_of_cta);
                params.of_image = FastDivmod(static_cast<unsigned>(tiles));
                return prepare_launch<Plan, Mainloop>(gpu, params, tiles * shape[0]);
            };
            if (detail::has_row_packets<Op, most_pixels>(bound.head, x, y, detail::Axis::pixel, plane))
                return along_pixels(std::integral_constant<int, most_pixels>{});
            return along_pixels(std::integral_constant<int, 1>{});
        }
    } else {
        params.of_image = FastDivmod(static_cast<unsigned>(rows.groups));
        params.x_row = {{rows.channels * sx[1], 0}}, params.y_row = {{rows.channels * sy[1], 0}};
        auto const along = [&]<int lanes, detail::Axis axis>(std::integral_constant<int, lanes>,
                                                             std::integral_constant<detail::Axis, axis>) {
            constexpr bool channel = axis == detail::Axis::channel;
            bool const dense = problem::planes_are_rows(x.layout) && problem::planes_are_rows(y.layout);
            std::int64_t const length = channel ? rows.channels : dense ? plane : shape[3];
            params.of_line = FastDivmod(static_cast<unsigned>(length / lanes));
            params.inner = FastDivmod(static_cast<unsigned>(channel ? shape[3] : plane / length));
            params.x_line = channel ? Index<2>{{sx[2], sx[3]}} : Index<2>{{sx[1], sx[2]}};
            params.y_line = channel ? Index<2>{{sy[2], sy[3]}} : Index<2>{{sy[1], sy[2]}};
            params.packets = static_cast<unsigned>(rows.values() / lanes);
            return detail::prepare_contiguous_rows<lanes, axis>(gpu, params);
        };
        using AlongChannels = std::integral_constant<detail::Axis, detail::Axis::channel>;
        using AlongPixels = std::integral_constant<detail::Axis, detail::Axis::pixel>;
        auto const in_channels = [&]() -> Result<Launch<RowParams<Plan, T, U>>> {
            // lines of a group that are whole vectors and sectors of 32 bytes are faster in ContiguousRows
            // (bench/results/h200/row_gradients.txt)
            bool const has_lines =
                rows.channels % most == 0 && rows.channels * static_cast<std::int64_t>(sizeof(T)) >= 32;
            if constexpr (detail::has_image_rows<Plan>)
                if (!has_lines &&
                    detail::has_lines_of_packets<most>(detail::Axis::channel, shape[1], params.x, params.y))
                    if (auto launch = detail::prepare_image_rows<most>(gpu, params, workspace_bytes))
                        return *std::move(launch);
            if (detail::has_row_packets<Op, most>(bound.head, x, y, detail::Axis::channel, rows.channels))
                return along(std::integral_constant<int, most>{}, AlongChannels{});
            if constexpr (most > 2)
                if (detail::has_row_packets<Op, 2>(bound.head, x, y, detail::Axis::channel, rows.channels))
                    return along(std::integral_constant<int, 2>{}, AlongChannels{});
            return along(std::integral_constant<int, 1>{}, AlongChannels{});
        };
        if constexpr (orders == Orders::channels_last) {
            return in_channels();
        } else {
            if (by_channels) return in_channels();
            if (detail::has_row_packets<Op, most>(bound.head, x, y, detail::Axis::pixel, plane))
                return along(std::integral_constant<int, most>{}, AlongPixels{});
            return along(std::integral_constant<int, 1>{}, AlongPixels{});
        }
    }
}

}  // namespace fusekit::hip
