// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/host/conv_channel_lanes.hpp"
#include "fusekit/backend/host/conv_pixel_lanes.hpp"
#include "fusekit/backend/host/depthwise_channel_lanes.hpp"
#include "fusekit/backend/host/depthwise_pixel_lanes.hpp"
#include "fusekit/backend/host/few_pixels.hpp"
#include "fusekit/backend/host/gather.hpp"
#include "fusekit/backend/host/launch.hpp"
#include "fusekit/backend/host/pointwise.hpp"
#include "fusekit/backend/host/pooling.hpp"
#include "fusekit/backend/host/reduction.hpp"
#include "fusekit/backend/host/row_gradient.hpp"
#include "fusekit/backend/host/rows.hpp"
#include "fusekit/backend/host/run_double.hpp"
#include "fusekit/backend/host/weight_gradient.hpp"
#include "fusekit/plan/empty.hpp"
#include "fusekit/plan/plan.hpp"

namespace fusekit::host {

static_assert(fusekit::Device<Device>);

namespace detail {

/// Loop of a run: its name, and the floats of scratch that it needs.
struct Loop {
    char const* name;
    std::int64_t floats;
};

/// Runs plans whose head is of one kind: run(context, bound, x, y), and loop(), which depends on the layouts of x and y
/// alone.
template <detail::HeadKind kind>
struct RunHead;

template <>
struct RunHead<detail::HeadKind::conv> {
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H static Loop loop(int threads, Steps steps, BoundPlan const& bound, detail::ImageView<T const> const& x,
                               detail::ImageView<U> const& y) {
        char const* name = nullptr;
        std::int64_t size = 0;
        detail::ImageView<T const> read = x;
        if constexpr (BoundPlan::Plan::has_prologue) {
            detail::ImageView<T> const made = prologue_output(x);
            if (!has_no_elements(x.layout.shape))
                size = host::scratch_size(floats_of(made)) +
                       host::scratch_size(prologue_of(bound, x, made).scratch_floats());
            read = {made, made.from};
        }
        with_loop(threads, steps, bound, read, y, [&](auto const& chosen) {
            size += host::scratch_size(chosen.scratch_floats());
            name = chosen.name;
        });
        return {name, size};
    }
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H static void run(Device::RunContext& context, BoundPlan const& bound, detail::ImageView<T const> const& x,
                              detail::ImageView<U> const& y) {
        detail::ImageView<T const> read = x;
        if constexpr (BoundPlan::Plan::has_prologue) {
            detail::ImageView<T> made = prologue_output(x);
            if (!has_no_elements(x.layout.shape)) {
                made.data = reinterpret_cast<T*>(context.scratch(floats_of(made)));
                auto prologue = prologue_of(bound, x, made);
                if (context.only_packs()) context.scratch(prologue.scratch_floats());
                else prologue.run(context);
            }
            read = {made, made.from};
        }
        with_loop(context.threads(), context.steps, bound, read, y, [&](auto& loop) { loop.run(context); });
    }

private:
    template <class BoundPlan, Element T, detail::OutputElement U, class F>
    FUSEKIT_H static void with_loop(int threads, Steps steps, BoundPlan const& bound,
                                    detail::ImageView<T const> const& x, detail::ImageView<U> const& y, F const& f) {
        using Plan = typename BoundPlan::Plan;
        using Head = typename Plan::Head;
        using Epilogue = typename Plan::Epilogue;
        constexpr int space = Head::collapsed_space;
        auto const call = [&](auto loop) { f(loop); };
        CollapsedShape<4> const shape = Plan::pools ? bound.epilogue_shape(x.shape()) : y.shape();
        using W = typename Head::template WeightElement<T>;
        using Groups = problem::GroupsOf<Head>;
        using Geometry = problem::GeometryOf<Head>;
        using Problem = ConvProblem<T, space, W, Groups, Geometry>;
        Problem conv{{x, detail::typed<W>(Head::filters(bound.head)), shape, Head::geometry(bound.head),
                      problem::groups_of<Head>(bound.head)},
                     {x.shape(), shape}};
        // Empty operands may have null pointers, which must not be offset.
        if (has_no_elements(x.layout.shape)) conv.x.layout.stride = {};
        if (has_no_elements(conv.w.layout.shape)) conv.w.layout.stride = {}, conv.of_groups = {};
        bool const channel_lanes = !Problem::has_steps || problem::channels_are_contiguous(y.layout);
        if constexpr (Plan::pools) {
            using Pool = typename Plan::Pool;
            call(ConvChannelLanes<Epilogue, T, U, space, Pool, W, Groups, Geometry>(threads, conv, bound.epilogue, y));
        } else {
            if constexpr (Head::may_be_grouped)
                if (conv.group_c() == 1 && conv.group_k() == 1 && conv.groups() > 1) {
                    if constexpr (Problem::has_steps)
                        if (!channel_lanes && PaddedRows<Problem, space>(conv).fit())
                            return call(DepthwisePixelLanes<Epilogue, T, U, space, W, Geometry>(threads, conv,
                                                                                                bound.epilogue, y));
                    return call(
                        DepthwiseChannelLanes<Epilogue, T, U, space, W, Geometry>(threads, conv, bound.epilogue, y));
                }
            if constexpr (Head::may_be_single_pixels && Problem::of_channels && !Epilogue::collects) {
                FewPixels<Epilogue, T, U, space, W, Geometry> const few(threads, conv, bound.epilogue, y);
                // ConvChannelLanes reads packed weights as often, and does not transpose sums.
                if (few.fits() && (steps == Steps::all || !channel_lanes)) return call(few);
            }
            if (channel_lanes)
                return call(ConvChannelLanes<Epilogue, T, U, space, void, W, Groups, Geometry>(threads, conv,
                                                                                               bound.epilogue, y));
            if constexpr (Problem::has_steps) {
                auto const flat = flattened(conv, y);
                call(ConvPixelLanes<Epilogue, T, U, space, W, Groups, Geometry>(threads, flat.conv, bound.epilogue,
                                                                                flat.y, y.layout.shape[3]));
            }
        }
    }

    /// Layout of the prologue's result for all of x, which is computed once to scratch: each element is in up to R S
    /// windows, and packing windows would apply the prologue as many times.
    template <Element T>
    FUSEKIT_H static detail::ImageView<T> prologue_output(detail::ImageView<T const> const& x) {
        return {{nullptr, packed_like(x.layout.shape, x.layout)}, x.from};
    }
    template <Element T>
    FUSEKIT_H static std::int64_t floats_of(TensorView<T> const& made) {
        return detail::divide_up(made.layout.size() * std::int64_t{sizeof(T)}, sizeof(float));
    }
    template <class BoundPlan, Element T>
    FUSEKIT_H static auto prologue_of(BoundPlan const& bound, detail::ImageView<T const> const& x,
                                      TensorView<T> const& made) {
        return Pointwise<typename BoundPlan::Plan::Prologue, T, T>(x, made, bound.prologue);
    }
};

/// A Gemm runs as a 1x1 convolution.
template <>
struct RunHead<detail::HeadKind::gemm> : RunHead<detail::HeadKind::conv> {};

template <>
struct RunHead<detail::HeadKind::weight_gradient> {
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H static Loop loop(int threads, Steps, BoundPlan const& bound, detail::ImageView<T const> const& x,
                               TensorView<U> const& dw) {
        WeightGradient<BoundPlan, T, U> const of(bound, x, dw);
        return {of.name, host::scratch_size(of.sum_floats()) + host::scratch_size(of.thread_floats() * threads)};
    }
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H static void run(Device::RunContext& context, BoundPlan const& bound, detail::ImageView<T const> const& x,
                              TensorView<U> const& dw) {
        WeightGradient<BoundPlan, T, U>(bound, x, dw).run(context);
    }
};

template <>
struct RunHead<detail::HeadKind::reduction> {
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H static Loop loop(int, Steps, BoundPlan const&, TensorView<T const> const&, TensorView<U> const&) {
        return {Reduction<typename BoundPlan::Plan, T, U>::name, 0};
    }
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H static void run(Device::RunContext& context, BoundPlan const& bound, TensorView<T const> const& x,
                              TensorView<U> const& y) {
        Reduction<typename BoundPlan::Plan, T, U>(bound, x, y).run(context);
    }
};

template <>
struct RunHead<detail::HeadKind::rows> {
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H static Loop loop(int, Steps, BoundPlan const& bound, TensorView<T const> const& x,
                               TensorView<U> const& y) {
        Rows<typename BoundPlan::Plan, T, U> const of(bound, x, y);
        return {of.name, host::scratch_size(of.scratch_floats())};
    }
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H static void run(Device::RunContext& context, BoundPlan const& bound, TensorView<T const> const& x,
                              TensorView<U> const& y) {
        Rows<typename BoundPlan::Plan, T, U>(bound, x, y).run(context);
    }
};

template <>
struct RunHead<detail::HeadKind::gather> {
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H static Loop loop(int, Steps, BoundPlan const& bound, TensorView<T const> const& x,
                               TensorView<U> const& y) {
        Gather<typename BoundPlan::Plan, T, U> const of(bound, x, y);
        return {of.name, host::scratch_size(of.scratch_floats())};
    }
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H static void run(Device::RunContext& context, BoundPlan const& bound, TensorView<T const> const& x,
                              TensorView<U> const& y) {
        Gather<typename BoundPlan::Plan, T, U>(bound, x, y).run(context);
    }
};

template <>
struct RunHead<detail::HeadKind::row_gradient> {
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H static Loop loop(int, Steps, BoundPlan const& bound, TensorView<T const> const& dy,
                               TensorView<U> const& dx) {
        RowGradient<typename BoundPlan::Plan, T, U> const of(bound, dy, dx);
        return {of.name, host::scratch_size(of.scratch_floats())};
    }
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H static void run(Device::RunContext& context, BoundPlan const& bound, TensorView<T const> const& dy,
                              TensorView<U> const& dx) {
        RowGradient<typename BoundPlan::Plan, T, U>(bound, dy, dx).run(context);
    }
};

template <>
struct RunHead<detail::HeadKind::elementwise> {
    FUSEKIT_H static Loop loop(int threads, Steps, auto const& bound, auto const& x, auto const& y) {
        auto const of = loop_of(threads, bound, x, y);
        return {of.name, host::scratch_size(of.scratch_floats())};
    }
    FUSEKIT_H static void run(Device::RunContext& context, auto const& bound, auto const& x, auto const& y) {
        loop_of(context.threads(), bound, x, y).run(context);
    }

private:
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H static auto loop_of([[maybe_unused]] int threads, BoundPlan const& bound, TensorView<T const> const& x,
                                  TensorView<U> const& y) {
        using Plan = typename BoundPlan::Plan;
        if constexpr (Plan::pools) return Pooling<Plan, T, U>(threads, bound.epilogue, x, y);
        else return Pointwise<typename Plan::Epilogue, T, U>(x, y, bound.epilogue);
    }
};

/// Name of the loop of plans of double, which are not vectorized (run_double.hpp).
inline constexpr char const* loop_of_double = "Double";

/// Loop of a run; without a name if the run writes nothing.
template <class BoundPlan, Element T, detail::OutputElement U>
FUSEKIT_H Loop choose_loop(int threads, Steps steps, BoundPlan const& bound, detail::ImageView<T const> const& x,
                           detail::ImageView<U> const& y) {
    if (writes_nothing(bound, y.layout.shape)) return {nullptr, 0};
    if constexpr (std::is_same_v<T, double>) {
        if constexpr (BoundPlan::Plan::head_kind != HeadKind::row_gradient) return {loop_of_double, 0};
        else return {loop_of_double, host::scratch_size(row_states_floats(bound, y.layout.shape))};
    } else return RunHead<BoundPlan::Plan::head_kind>::loop(threads, steps, bound, x, y);
}

FUSEKIT_H inline std::size_t workspace_bytes(Loop const& loop) {
    return sizeof(float) * static_cast<std::size_t>(loop.floats);
}

template <class BoundPlan, Element T, detail::OutputElement U>
FUSEKIT_H void run(Device::RunContext context, BoundPlan const& bound, detail::ImageView<T const> const& x,
                   detail::ImageView<U> const& y) {
    if (writes_nothing(bound, y.layout.shape)) return;
    constexpr bool packs = (BoundPlan::Plan::has_conv || BoundPlan::Plan::has_gemm) && !std::is_same_v<T, double>;
    if (!packs && context.only_packs()) return;
    if constexpr (std::is_same_v<T, double>) run_double(context, bound, x, y);
    else RunHead<BoundPlan::Plan::head_kind>::run(context, bound, x, y);
}

/// Runs a prepared launch with the vector width of this translation unit.
template <class BoundPlan, Element T, detail::OutputElement U>
FUSEKIT_H void start(Launch<BoundPlan, T, U> const& launch, Device& device, T const* x, U* y, WorkspaceView workspace) {
    detail::ImageView<T const> const from({x, launch.x_layout.layout()}, launch.x_layout.shape.from);
    detail::ImageView<U> const to({y, launch.y_layout.layout()}, launch.y_layout.shape.from);
    detail::run(Device::RunContext(device, workspace, launch.steps), launch.bound, from, to);
}

}  // namespace detail

template <class BoundPlan, Element T, detail::OutputElement U>
FUSEKIT_H auto Device::prepare(BoundPlan const& bound, detail::ImageView<T const> const& x,
                               detail::ImageView<U> const& y) {
    detail::Loop const loop = detail::choose_loop(count, Steps::all, bound, x, y);
    std::size_t const bytes = detail::workspace_bytes(loop);
    std::size_t const packed_bytes =
        detail::workspace_bytes(detail::choose_loop(count, Steps::after_packing, bound, x, y));
    if (Refusal refusal = keep_workspace(bytes)) return Result<Launch<BoundPlan, T, U>>(*refusal);
    return Result<Launch<BoundPlan, T, U>>({bound, x.collapsed_layout(), y.collapsed_layout(), count, bytes,
                                            packed_bytes, &detail::start<BoundPlan, T, U>,
                                            loop.name ? Choice::named(loop.name) : Choice{}});
}

template <class BoundPlan, Element T, detail::OutputElement U>
FUSEKIT_H void Device::run(BoundPlan const& bound, detail::ImageView<T const> const& x, detail::ImageView<U> const& y) {
    keep_workspace(detail::workspace_bytes(detail::choose_loop(count, Steps::all, bound, x, y))).raise();
    detail::run(RunContext(*this), bound, x, y);
}

}  // namespace fusekit::host
