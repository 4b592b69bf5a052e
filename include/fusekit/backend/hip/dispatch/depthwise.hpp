// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/dispatch/orders.hpp"
#include "fusekit/backend/hip/mainloop/depthwise.hpp"
#include "fusekit/backend/hip/mainloop/depthwise_halo.hpp"
#include "fusekit/backend/hip/mainloop/depthwise_planes.hpp"
#include "fusekit/backend/hip/schedule/depthwise.hpp"
#include "fusekit/backend/hip/schedule/grouped.hpp"

namespace fusekit::hip::detail {

/// Extents of a DepthwiseShape and of its filter type as run-time values.
struct DepthwiseNumbers {
    int channels, columns, x_vector, y_vector;  ///< most elements per access, in x_vector and y_vector
    int left;  ///< columns of left padding for which vectors of x are aligned
    int window_rows, stride;
    DepthwiseHaloNumbers halo = {};
    bool few_taps = false;  ///< has_few_taps
    bool in_planes = false;  ///< true if the filter type has a DepthwisePlanes kernel
    DepthwisePlaneTiles::Numbers planes = {};
};

template <class Window, class T, class U, Axis fast>
FUSEKIT_H constexpr DepthwiseNumbers numbers_of_depthwise() {
    using Shape = DepthwiseShape<Window, static_cast<int>(sizeof(T)), fast>;
    constexpr bool along_channels = fast == Axis::channel;
    DepthwiseNumbers numbers{
        .channels = Shape::channels,
        .columns = Shape::columns,
        .x_vector = along_channels ? Shape::channels : 1,
        .y_vector = along_channels ? Shape::channels : widest_vector(static_cast<int>(sizeof(U)), Shape::columns),
        .left = 0,
        .window_rows = Window::rows,
        .stride = Window::stride_h};
    if constexpr (requires { Window::left; }) {
        if (!along_channels)
            numbers.x_vector = widest_vector(static_cast<int>(sizeof(T)), Shape::columns / Window::stride_w);
        numbers.window_rows = Window::depth, numbers.stride = 1;
    } else if constexpr (Window::taps > 0 && !along_channels) {
        numbers.x_vector = widest_vector(static_cast<int>(sizeof(T)), Shape::columns * Window::stride_w);
        numbers.left = (Window::columns - 1) / 2;
    }
    numbers.halo = DepthwiseHaloNumbers::of<Window>();
    numbers.few_taps = has_few_taps<Window>;
    if constexpr (is_unrolled<Window, true> || is_unrolled<Window, false>) {
        numbers.in_planes = true;
        numbers.planes = {.window = {Window::rows, Window::columns},
                          .strides = {Window::stride_h, Window::stride_w},
                          .columns = Shape::columns,
                          .x_bytes = static_cast<int>(sizeof(T)),
                          .y_bytes = static_cast<int>(sizeof(U)),
                          .multiplier = 1,
                          .few_taps = has_few_taps<Window>};
    }
    return numbers;
}

/// Largest number of elements, at most `most`, of an aligned vector along a mode of `view`; 1 if none is aligned.
template <class T>
FUSEKIT_H int vector_along(TensorView<T> const& view, int most, int mode) {
    while (most > 1 && !problem::vectorizable(view, most, mode)) most /= 2;
    return most;
}

/// Arguments of divide_outputs(), which is compiled once for all plans.
struct DepthwiseDivision {
    Filter<2> const& filter;
    bool spread;  ///< true if strides are y's, as in a TransposedConv
    Axis fast;
    bool twice;  ///< true if twice the threads compute the outputs
    int threads, blocks;  ///< of a CTA, per SM
    int processors;
};

/// Sets the rows of y per thread, the number of items (a thread's outputs), their divisors and the threads per CTA.
FUSEKIT_H inline void divide_outputs(DepthwiseTiles& tiles, DepthwiseNumbers const& numbers, Index<4> const& y,
                                     DepthwiseDivision const& of) {
    std::int64_t const channels = divide_up(y[1], numbers.channels), columns = divide_up(y[3], numbers.columns),
                       resident = std::int64_t{of.threads} * of.blocks * of.processors * (of.twice ? 2 : 1);
    // a thread's rows of y are whole blocks of the stride, from the first block that is in y
    std::int64_t const block = of.spread ? of.filter.strides[0] : 1,
                       height = y[2] + (of.spread ? of.filter.pad_before[0] % of.filter.strides[0] : 0);
    tiles.rows =
        static_cast<int>(block) * DepthwiseTiles::best_rows(divide_up(height, block), y[0] * channels * columns,
                                                            resident, numbers.window_rows, numbers.stride);
    if (of.twice) {
        int const most = DepthwiseTiles::few_rows(height, numbers.window_rows, numbers.stride);
        if (tiles.rows > most) tiles.rows = most;
    }
    std::int64_t const rows = divide_up(height, tiles.rows), items = y[0] * channels * columns * rows;
    auto const divisor = [](std::int64_t value) { return FastDivmod(static_cast<std::uint32_t>(value)); };
    bool const along_channels = of.fast == Axis::channel;
    tiles.inner = divisor(along_channels ? channels : columns);
    tiles.middle = divisor(along_channels ? columns : rows);
    tiles.outer = divisor(along_channels ? rows : channels);
    tiles.items = static_cast<unsigned>(items);
    tiles.threads = items < std::int64_t{2} * of.threads * of.processors ? 64 : of.threads;
}

template <>
struct Launcher<DepthwiseEntry> {
    template <class Schedule, Orders orders, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Result<Launch<ConvParams<Plan, T, U>>> prepare(Gpu const& gpu,
                                                                    ConvOperands<Plan, T, U> const& operands, int,
                                                                    IndexLimits const& limits) {
        Unmet unmet = DepthwiseEntry::can_implement<Schedule, T, U>(case_of(operands, false, 0, limits));
        if (!unmet) unmet = unmet_by_extents(operands);
        if (unmet) return refuse_schedule(type_name<Plan>, DepthwiseEntry::name, unmet);
        return prepare_unchecked<Schedule, orders>(gpu, operands);
    }
    /// Prepares a launch without checking conditions. Precondition: runs_depthwise().
    template <class Schedule, Orders orders, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Result<Launch<ConvParams<Plan, T, U>>> prepare_unchecked(
        Gpu const& gpu, ConvOperands<Plan, T, U> const& operands) {
        return with_fast_axis<orders>(operands.y.layout, [&]<Axis fast>(std::integral_constant<Axis, fast>) {
            return prepare_along<Schedule, fast>(gpu, operands);
        });
    }

private:
    template <class Schedule, Axis fast, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Result<Launch<ConvParams<Plan, T, U>>> prepare_along(Gpu const& gpu,
                                                                          ConvOperands<Plan, T, U> const& operands) {
        ConvParams<Plan, T, U> params = conv_params(operands);
        constexpr bool spread = fusekit::detail::spreads<typename ConvParams<Plan, T, U>::Geometry>;
        Filter<2> const filter = [&] {
            if constexpr (spread) return operands.filter.of_y();
            else return fusekit::detail::window_filter(operands.filter);
        }();
        DepthwiseTiles& tiles = params.depthwise;
        DepthwiseNumbers numbers{};
        tiles.window =
            select_window<T, U, fast>(WindowsOf<typename Plan::Head, static_cast<int>(sizeof(T))>{}, filter, numbers);
        Index<4> const& y = params.y.layout.shape;
        tiles.multiplier = static_cast<int>(y[1] / filter.group_count);
        tiles.dense_weights = problem::dense(depthwise_layout(operands), Index<4>{{0, 1, 2, 3}});
        if (fast == Axis::channel)
            tiles.x_vector = tiles.multiplier == 1 ? vector_along(params.x, numbers.x_vector, 1) : 1;
        else if (spread || filter.pad_before[1] == numbers.left)
            tiles.x_vector = vector_along(params.x, numbers.x_vector, 3);
        tiles.y_vector = vector_along(params.y, numbers.y_vector, fast == Axis::channel ? 1 : 3);
        if constexpr (fast == Axis::channel && DepthwiseEntry::has_halo<Plan, T, U>)
            if (plan_halo<Schedule>(gpu, params, numbers.halo)) return launch_halo<Schedule>(gpu, params);
        if constexpr (fast == Axis::pixel && DepthwiseEntry::has_planes<Plan, T, U>) {
            numbers.planes.multiplier = tiles.multiplier;
            constexpr int packet_bytes = 16;
            if (numbers.few_taps && tiles.x_vector * static_cast<int>(sizeof(T)) < packet_bytes)
                if (auto launch = launch_planes<Schedule, true>(gpu, params, numbers.planes)) return *launch;
            if (numbers.in_planes && !numbers.few_taps && tiles.x_vector == 1)
                if (auto launch = launch_planes<Schedule, false>(gpu, params, numbers.planes)) return *launch;
        }

        constexpr bool in_parts = fast == Axis::pixel && !arch::is_targeted<arch::Amd>;
        bool const twice = in_parts && numbers.few_taps;  // twice the threads
        divide_outputs(tiles, numbers, y,
                       {filter, spread, fast, twice, Schedule::threads, Schedule::blocks, gpu.processors()});
        auto const launch = [&]<DepthwisePart part>() {
            return prepare_launch<Plan, DepthwiseConv<Plan, Schedule, T, U, fast, part>>(
                gpu, params, divide_up(std::int64_t{tiles.items}, tiles.threads), tiles.threads);
        };
        if constexpr (!in_parts) {
            return launch.template operator()<DepthwisePart::all>();
        } else if constexpr (!DepthwiseEntry::has_part<Plan, T, true>) {
            return launch.template operator()<DepthwisePart::others>();
        } else {
            if constexpr (DepthwiseEntry::has_part<Plan, T, false>)
                if (!numbers.few_taps) return launch.template operator()<DepthwisePart::others>();
            return launch.template operator()<DepthwisePart::few_taps>();
        }
    }

    /// Divides the outputs for a DepthwiseHalo kernel. Returns false if it cannot compute them.
    template <class Schedule, class Plan, Element T, OutputElement U>
    FUSEKIT_H static bool plan_halo(Gpu const& gpu, ConvParams<Plan, T, U>& params, DepthwiseHaloNumbers const& of) {
        constexpr int bytes = static_cast<int>(sizeof(T));
        if (!GroupedEntry::runs_on(gpu.architecture()) || of.channels == 0 || params.depthwise.multiplier != 1)
            return false;
        params.depthwise_halo.vector = vector_along(params.x, 16 / bytes, 1);
        using Weight = typename Plan::Head::template WeightElement<T>;
        if (!problem::aligned(typed<Weight>(Plan::Head::filters(params.bound.head)).data, 4))
            params.depthwise.dense_weights = false;
        return params.depthwise_halo.vector > 1 && vector_along(params.y, 2, 1) == 2 &&
               kernel_of<Plan, DepthwiseHaloConv<Plan, Schedule, T, U>>().is_launchable(gpu.index()) &&
               params.depthwise_halo.choose(of, params.y.layout.shape, bytes, gpu.processors());
    }
    template <class Schedule, class Plan, Element T, OutputElement U>
    [[gnu::cold]] FUSEKIT_H static Result<Launch<ConvParams<Plan, T, U>>> launch_halo(
        Gpu const& gpu, ConvParams<Plan, T, U> const& params) {
        auto kernel = kernel_of<Plan, DepthwiseHaloConv<Plan, Schedule, T, U>>();
        kernel.threads = params.depthwise_halo.threads;
        Launch<ConvParams<Plan, T, U>> result = *prepare_launch(gpu, kernel, params, params.depthwise_halo.ctas);
        result.shared_bytes = static_cast<unsigned>(params.depthwise_halo.shared_bytes);
        return result;
    }

    /// Returns a launch of a DepthwisePlanes kernel, empty if it cannot compute the outputs, or if they are too few for
    /// its tiles.
    template <class Schedule, bool few_taps, class Plan, Element T, OutputElement U>
    [[gnu::cold]] FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch_planes(
        Gpu const& gpu, ConvParams<Plan, T, U>& params, DepthwisePlaneTiles::Numbers const& of) {
        if constexpr (!DepthwiseEntry::has_unrolled<Plan, T, few_taps>) {
            return {};
        } else {
            constexpr Index<3> plane{{1, 2, 3}};
            DepthwisePlaneTiles& tiles = params.depthwise_planes;
            auto kernel = kernel_of<Plan, DepthwisePlanesConv<Plan, Schedule, T, U, few_taps>>();
            if (!GroupedEntry::runs_on(gpu.architecture()) || !problem::dense(params.x.layout, plane) ||
                !problem::dense(params.y.layout, plane) || !kernel.is_launchable(gpu.index()) ||
                !tiles.choose(of, params.x.layout.shape, params.y.layout.shape) || tiles.ctas < gpu.processors())
                return {};
            kernel.threads = tiles.threads;
            Launch<ConvParams<Plan, T, U>> result = *prepare_launch(gpu, kernel, params, tiles.ctas);
            result.shared_bytes = static_cast<unsigned>(tiles.shared_bytes);
            return result;
        }
    }

    template <class T, class U, Axis fast, class... Window>
    FUSEKIT_H static int select_window(List<Window...>, Filter<2> const& filter, DepthwiseNumbers& numbers) {
        int number = 0;
        static_cast<void>(((Window::accepts(filter) ? (numbers = numbers_of_depthwise<Window, T, U, fast>(), true)
                                                    : (++number, false)) ||
                           ...));
        return number;
    }
};

}  // namespace fusekit::hip::detail
