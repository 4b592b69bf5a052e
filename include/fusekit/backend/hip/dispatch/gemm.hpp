// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/conv_limits.hpp"
#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/dispatch/orders.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/dispatch/tiles.hpp"
#include "fusekit/backend/hip/mainloop/implicit_gemm.hpp"
#include "fusekit/backend/hip/mainloop/split_gemm.hpp"
#include "fusekit/backend/hip/schedule/matrix_gemm.hpp"
#include "fusekit/backend/hip/schedule/native_gemm.hpp"

namespace fusekit::hip::detail {

/// Type: mainloop of a Gemm, NativeGemm or MatrixGemm schedule, ImplicitGemm or, with split-K, SplitGemm.
template <class Schedule, class Plan, Element T, detail::OutputElement U, detail::Axis fast>
struct GemmMainloop {
    using Type = ImplicitGemm<Plan, Schedule, T, U, fast>;
};
template <SplitSchedule Schedule, class Plan, Element T, detail::OutputElement U, detail::Axis fast>
struct GemmMainloop<Schedule, Plan, T, U, fast> {
    using Type = SplitGemm<Plan, Split<typename Schedule::Whole>, T, U, fast>;
};

template <class Plan>
FUSEKIT_H Error refuse_matrix_units(Gpu const& gpu) {
    return Error(type_name<Plan>(), "MatrixGemm", "",
                 "a GPU of compute capability 9.0, and code for sm_90a in this program", gpu.name());
}

/// True if x and KCRS filters meet the conditions of TapOperands: quads of x (four consecutive pixels) can be loaded at
/// once, and the taps of the filters are dense.
template <class Plan, class Geometry, Element T>
FUSEKIT_H bool has_quads_of_taps([[maybe_unused]] Geometry const& filter, TensorView<T const> const& x,
                                 Layout<4> const& weights, Index<4> const& y) {
    if constexpr (!may_have_quads_of_taps<Plan, T>) return false;
    else
        return AnyTapOrder<Plan, T>::fills_packets(weights.shape[1]) && problem::dense(weights, Index<2>{{2, 3}}) &&
               (weights.stride[1] > 0 || weights.shape[1] == 1) && x.layout.stride[1] >= 0 &&
               has_quads(window_filter(filter), x, y);
}

/// Kernel of an implicit GEMM, with the properties of its schedule and of its loads that a launch needs.
template <class Params>
struct GemmKernel {
    ScheduleFacts schedule;  ///< without the kind of schedule
    bool on_native_units, on_matrix_units;
    Axis fast;
    int input_packet, weight_packet;  ///< elements per load of x, and of the weights
    Kernel<Params> kernel;
};
template <class Schedule, Axis fast, class Plan, Element T, OutputElement U>
FUSEKIT_H GemmKernel<ConvParams<Plan, T, U>> gemm_kernel() {
    using Mainloop = typename GemmMainloop<Schedule, Plan, T, U, fast>::Type;
    using Loader = typename Mainloop::Loader;
    return {numbers_of<GemmEntry, Schedule>(),
            NativeSchedule<Schedule>,
            MatrixSchedule<Schedule>,
            fast,
            Loader::input_packet,
            Loader::weight_packet,
            kernel_of<Plan, Mainloop>()};
}

/// Returns the kernel for y's layout: consecutive threads store consecutive channels if y is channels-last, else
/// consecutive pixels.
template <class Schedule, Orders orders, class Plan, Element T, OutputElement U>
FUSEKIT_H GemmKernel<ConvParams<Plan, T, U>> gemm_kernel_for(ImageView<U> const& y) {
    return with_fast_axis<orders>(y.layout, []<Axis fast>(std::integral_constant<Axis, fast>) {
        return gemm_kernel<Schedule, fast, Plan, T, U>();
    });
}

/// Returns an error for a Gemm schedule that the caller named if the operands' offsets exceed 32 bits, or if filters
/// have more taps than a KOffset's mask has bits. In the library's own selection runs_without_tiles() selects Direct
/// instead.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H Refusal refuse_product(ConvOperands<Plan, T, U> const& operands) {
    auto const& filter = operands.filter;
    if (Refusal refusal =
            refuse_oversized_operands(type_name<Plan>, type_name<typename Plan::Head>, filter,
                                      operands.x.collapsed_layout(), operands.weights, operands.y.collapsed_layout()))
        return refusal;
    if constexpr (Plan::Head::may_be_padded)
        if (!has_bits_for<Plan>(filter))
            return Error(
                type_name<Plan>(), name_of_conv<problem::GeometryOf<typename Plan::Head>>, "filter",
                Text::number(KOffset::most(filter.rank)) + " slices, rows and columns at most, for a Gemm schedule",
                Plan::Head::written(operands.bound.head));
    return {};
}

/// Prepares a launch of one schedule's kernel. With split-K, `split_k` CTAs compute one tile.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H Result<Launch<ConvParams<Plan, T, U>>> prepare_product(Gpu const& gpu,
                                                                 GemmKernel<ConvParams<Plan, T, U>> const& with,
                                                                 ConvOperands<Plan, T, U> const& operands,
                                                                 [[maybe_unused]] int split_k,
                                                                 IndexLimits const& limits) {
    BoundPlan<Plan> const& bound = operands.bound;
    auto const& filter = operands.filter;
    auto const& [schedule, on_native_units, on_matrix_units, fast, input_packet, weight_packet, kernel] = with;
    // is_launchable() also sets the kernel's limit of dynamic shared memory in the driver.
    if (on_matrix_units && !kernel.is_launchable(gpu.index())) return refuse_matrix_units<Plan>(gpu);
    auto const w = typed<typename Plan::Head::template WeightElement<T>>(Plan::Head::filters(bound.head));
    ConvParams<Plan, T, U> params = conv_params(operands);
    bool const has_unit = on_native_units && has_native_unit<PlanFactor<Plan, T>>(gpu.architecture());
    int const of_unit = 16 / static_cast<int>(sizeof(T)), x_packet = has_unit ? of_unit : input_packet,
              w_packet = has_unit ? of_unit : weight_packet;
    params.channels_fastest = fast == Axis::channel;
    params.inputs_vectorized =
        params.channels_fastest
            ? problem::vectorizable(params.x, x_packet, 1) && w.layout.shape[1] % x_packet == 0
            : !Plan::pools && is_single_pixels(filter) && pixels_are_vectorizable<Plan>(params.x, x_packet);
    params.weights_vectorized =
        batch_steps_whole(bound, w_packet) &&
        (params.channels_fastest ? problem::vectorizable(w, w_packet, 1)
                                 : !has_phases<Plan>() && problem::vectorizable_taps(w, w_packet));
    Index<4> const outputs = conv_output<Plan>(params.y.layout).shape;
    if constexpr (arch::is_targeted<arch::Amd>) {
        auto const pixels = pixels_of_group<Plan>(params.x);
        if constexpr (has_transposed_conv<Plan>)
            params.fits_32bit_offsets =
                has_unit && transposed_windows_fit_buffer(filter, params.x) &&
                (params.channels_fastest ? params.inputs_vectorized && problem::vectorizable(w, w_packet, 0)
                                         : has_quads_of_taps<Plan>(filter, pixels, w.layout, outputs));
        else
            params.fits_32bit_offsets =
                has_unit && params.weights_vectorized &&
                (params.channels_fastest ? params.inputs_vectorized
                                         : !Plan::pools && has_quads(filter, pixels, outputs) &&
                                               (!may_have_quads_of_taps<Plan, T> ||
                                                has_quads_of_taps<Plan>(filter, pixels, w.layout, outputs))) &&
                windows_fit_buffer(filter, params.x, params.slices, w.layout, outputs, schedule.m);
        params.fits_32bit_offsets = params.fits_32bit_offsets && filters_fit_buffer<T>(w.layout, schedule.n);
    }
    GroupedProduct const product = operands.product();
    std::int64_t const columns = divide_up(product.n, schedule.n) * product.groups;
    SlabTiles const cut = cut_slabs<Plan>(outputs, params.slices, schedule.m, columns, limits);
    params.slabs = cut.slabs;
    if constexpr (can_split<Plan, T>)
        if (schedule.splits) {
            params.split_k.count = static_cast<unsigned>(split_k);
            return prepare_split_k(gpu, kernel, params, schedule, cut.tiles * columns);
        }
    return prepare_tiles<Plan>(gpu, kernel, params, cut.tiles, columns);
}

/// Launcher (launcher.hpp) of Gemm, NativeGemm and MatrixGemm schedules.
struct GemmLauncher {
    template <class Schedule, Orders orders, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Result<Launch<ConvParams<Plan, T, U>>> prepare(Gpu const& gpu,
                                                                    ConvOperands<Plan, T, U> const& operands,
                                                                    int split_k, IndexLimits const& limits) {
        if constexpr (SplitSchedule<Schedule> && !can_split<Plan, T>) {
            return refuse_matrix_units<Plan>(gpu);
        } else {
            if (Refusal refusal = refuse_product(operands)) return *refusal;
            auto const with = gemm_kernel_for<Schedule, orders, Plan, T, U>(operands.y);
            return prepare_product(gpu, with, operands, split_k, limits);
        }
    }
};
template <>
struct Launcher<GemmEntry> : GemmLauncher {};
template <>
struct Launcher<NativeGemmEntry> : GemmLauncher {};
template <>
struct Launcher<MatrixGemmEntry> : GemmLauncher {};

}  // namespace fusekit::hip::detail
