// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/device.hpp"
#include "fusekit/backend/hip/direct.hpp"
#include "fusekit/backend/hip/implicit_gemm.hpp"
#include "fusekit/backend/hip/kernel.hpp"
#include "fusekit/backend/hip/stream.hpp"
#include "fusekit/backend/hip/tuning.hpp"

namespace fusekit::hip {

static_assert(fusekit::Device<Device>);

namespace detail {

/// Throws the Error of a launch that was refused. What an earlier kernel did comes to light at any later call: then
/// it is that work that is named, and not this plan.
[[noreturn]] inline void refuse_launch(Device const& device, Text (*plan)(), hipError_t status) {
    forget_last_error();
    bool const no_code = status == hipErrorNoBinaryForGpu || status == hipErrorInvalidDeviceFunction;
    bool const earlier = status == hipErrorIllegalAddress || status == hipErrorLaunchFailure;
    if (no_code)
        throw Error(plan(), "hip::Device", "hipLaunchKernel",
                    "code for " + device.name() + " in this program: compile for it", "none: " + words(status));
    throw Error(plan(), "hip::Device", "hipLaunchKernel", earlier ? "a device that works" : "success",
                (earlier ? "a failure of work before this call: " : "") + words(status));
}

template <class Plan, class Mainloop>
void launch(Device const& device, typename Mainloop::Params const& params, std::int64_t blocks) {
    constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
    if (blocks > most)
        throw Error(type_name<Plan>(), "hip::Device", "blocks", "at most " + Text::number(most), Text::number(blocks));
    Current const current(device.index());
    void* arguments[] = {const_cast<typename Mainloop::Params*>(&params)};
    auto const start = [&](auto* kernel) {
        dim3 const grid(static_cast<unsigned>(blocks)), block(Mainloop::threads);
        if constexpr (requires { hipLaunchKernel(kernel, grid, block, arguments, 0, device.stream()); })
            return hipLaunchKernel(kernel, grid, block, arguments, 0, device.stream());
        else return hipLaunchKernel(reinterpret_cast<void const*>(kernel), grid, block, arguments, 0, device.stream());
    };
    hipError_t const status = start(&fused<Plan, Mainloop>);
    if (status != hipSuccess) refuse_launch(device, type_name<Plan>, status);
}

inline bool aligned(void const* data, int bytes) {
    return reinterpret_cast<std::uintptr_t>(data) % static_cast<unsigned>(bytes) == 0;
}

/// Whether runs of `count` elements, each beginning at a multiple of it along `modes`, are aligned packs of memory.
template <class T>
bool packed(TensorView<T> const& view, int count, int fastest) {
    for (int mode = 0; mode < 4; ++mode)
        if (mode != fastest && view.layout.shape[mode] > 1 && view.layout.stride[mode] % count != 0) return false;
    return view.layout.stride[fastest] == 1 && view.layout.shape[fastest] % count == 0 &&
           aligned(view.data, count * static_cast<int>(sizeof(T)));
}

/// Whether planes are without gaps, of a multiple of `count` pixels, and all begin aligned.
template <class T>
bool packed_planes(TensorView<T> const& x, int count) {
    Index<4> const &shape = x.layout.shape, &stride = x.layout.stride;
    bool const rows = shape[3] == 1 || stride[3] == 1, plane = shape[2] == 1 || stride[2] == shape[3];
    return rows && plane && shape[2] * shape[3] % count == 0 && (shape[1] == 1 || stride[1] % count == 0) &&
           (shape[0] == 1 || stride[0] % count == 0) && aligned(x.data, count * static_cast<int>(sizeof(T)));
}

/// Whether the weights' indices of GemmK, taps fastest, are neighbours throughout.
template <class T>
bool packed_taps(TensorView<T> const& w, int count) {
    Index<4> const &shape = w.layout.shape, &stride = w.layout.stride;
    bool const columns = shape[3] == 1 || stride[3] == 1, rows = shape[2] == 1 || stride[2] == shape[3];
    return columns && rows && (shape[1] == 1 || stride[1] == shape[2] * shape[3]) &&
           (shape[0] == 1 || stride[0] % count == 0) && shape[1] * shape[2] * shape[3] % count == 0 &&
           aligned(w.data, count * static_cast<int>(sizeof(T)));
}

/// Whether a row has bits for the rows and columns of a padded window.
template <class Plan>
bool has_bits_for(Filter<2> const& filter) {
    return !Plan::Head::may_be_padded || (filter.size[0] <= Tap::most && filter.size[1] <= Tap::most);
}

template <class Schedule, Axis fast, class Plan, Element T>
void run_conv(Device const& device, ConvParams<Plan, T> params) {
    auto const w = typed<T>(params.bound.head.weights);
    if constexpr (GemmSchedule<Schedule>) {
        using Mainloop = ImplicitGemm<Plan, Schedule, T, fast>;
        Filter<2> const filter = Plan::Head::geometry(params.bound.head);
        if (!has_bits_for<Plan>(filter))
            throw Error(type_name<Plan>(), "Conv", "filter", "15 rows and columns at most, for a Gemm schedule",
                        filter.to_string());
        constexpr int x_pack = Mainloop::Inputs::count, w_pack = Mainloop::Weights::count;
        params.channels_fastest = fast == Axis::channel;
        params.inputs_packed = params.channels_fastest ? packed(params.x, x_pack, 1) && w.layout.shape[1] % x_pack == 0
                                                       : is_single_pixels(filter) && packed_planes(params.x, x_pack);
        params.weights_packed = params.channels_fastest ? packed(w, w_pack, 1) : packed_taps(w, w_pack);
        Index<4> const y = params.y.layout.shape;
        launch<Plan, Mainloop>(device, params,
                               divide_up(y[0] * y[2] * y[3], Schedule::tile_m) *
                                   divide_up(y[1] / filter.group_count, Schedule::tile_n) * filter.group_count);
    } else {
        launch<Plan, DirectConv<Plan, Schedule, T, fast>>(device, params,
                                                          divide_up(params.y.layout.size(), Schedule::threads));
    }
}

template <class Schedule, class Plan, Element T>
void run_conv(Device const& device, ConvParams<Plan, T> const& params) {
    if (params.y.layout.stride[1] == 1 && params.y.layout.shape[1] > 1)
        run_conv<Schedule, Axis::channel>(device, params);
    else run_conv<Schedule, Axis::pixel>(device, params);
}

inline void check_limit(Text (*plan)(), char const* tensor, char const* expected, Index<4> const& shape,
                        std::int64_t value, std::int64_t limit = std::int64_t{1} << 31) {
    if (value >= limit) throw Error(plan(), tensor, "shape", expected, to_string(shape));
}

/// Kernels count pixels and channels, and step through an image and a filter, in 32 bits.
inline void check_conv_limits(Text (*plan)(), char const* tensor, Layout<4> layout) {
    Index<4> const shape = layout.shape;
    for (int mode = 0; mode < 4; ++mode)
        check_limit(plan, tensor, "extents below 2^30", shape, shape[mode], std::int64_t{1} << 30);
    check_limit(plan, tensor, "fewer than 2^30 pixels", shape, shape[0] * shape[2] * shape[3], std::int64_t{1} << 30);
    layout.shape[0] = 1;
    check_limit(plan, tensor, "an image of fewer than 2^31 elements", shape, layout.span());
}

/// Whether x and y lie in memory alike and without gaps.
template <Element T>
bool alike(TensorView<T const> const& x, TensorView<T> const& y) {
    Layout<4> const dense = packed_like(y.layout.shape, y.layout);
    for (int mode = 0; mode < 4; ++mode)
        if (dense.shape[mode] > 1 &&
            (x.layout.stride[mode] != dense.stride[mode] || y.layout.stride[mode] != dense.stride[mode]))
            return false;
    return true;
}

/// Starts Streaming with packs of `lanes` of the `period` places after which parameters repeat.
template <class Schedule, int lanes, class Plan, Element T>
void run_stream(Device const& device, StreamParams<Plan, T> params, std::int64_t period) {
    using Mainloop = Streaming<Plan, Schedule, T, lanes>;
    Index<4> const shape = params.y.layout.shape;
    std::int64_t const packs = period / lanes, plane = shape[2] * shape[3], block_places = Mainloop::threads * lanes;
    check_limit(type_name<Plan>, "y", "an image of fewer than 2^31 elements", shape, shape[1] * plane);
    params.packs = Divisor(static_cast<unsigned>(packs));
    params.channels = Divisor(static_cast<unsigned>(shape[1]));
    params.plane = Divisor(static_cast<unsigned>(plane));
    params.columns = Divisor(static_cast<unsigned>(shape[3]));
    params.block_channels = static_cast<unsigned>(block_places < shape[1] ? block_places : shape[1]);

    std::int64_t const busy = device.processors() * busy_threads / packs;
    std::int64_t const fewest = divide_up(params.walks, Schedule::walks), most = (std::int64_t{1} << 31) / packs;
    params.slices = fewest > busy ? fewest : params.walks < busy ? params.walks : busy > 0 ? busy : 1;
    if (params.slices > most) params.slices = most > 0 ? most : 1;
    launch<Plan, Mainloop>(device, params, divide_up(packs * params.slices, Mainloop::threads));
}

template <class Schedule, class Plan, Element T>
void run_stream(Device const& device, Bound<Plan> const& bound, TensorView<T const> const& x, TensorView<T> const& y) {
    using Epilogue = typename Plan::Epilogue;
    constexpr int lanes = Schedule::bytes / static_cast<int>(sizeof(T));
    std::int64_t const size = y.layout.size(), image = size / y.layout.shape[0];
    StreamParams<Plan, T> params{bound,
                                 x,
                                 y,
                                 channels_last(y.layout),
                                 {},
                                 {},
                                 {},
                                 {},
                                 0,
                                 y.layout.shape[0],
                                 1,
                                 x.layout.stride[0],
                                 y.layout.stride[0]};
    std::int64_t period = image;
    bool const dense = alike(x, y);
    if (dense) {
        if (!Epilogue::placewise && params.channels_last) period = y.layout.shape[1];
        if (!Epilogue::placewise && !Epilogue::channelwise) period = size % lanes == 0 ? lanes : 1;
        params.walks = size / period;
        params.x_step = params.y_step = period;
    }
    if (dense && period % lanes == 0 && aligned(x.data, Schedule::bytes) && aligned(y.data, Schedule::bytes))
        run_stream<Schedule, lanes>(device, params, period);
    else run_stream<Schedule, 1>(device, params, period);
}

}  // namespace detail

template <class Bound, Element T>
void Device::run(Bound const& bound, TensorView<T const> const& x, TensorView<T> const& y) {
    using Plan = typename Bound::Plan;
    if constexpr (Plan::has_conv) {
        detail::check_conv_limits(type_name<Plan>, "x", x.layout);
        detail::check_conv_limits(type_name<Plan>, "y", y.layout);
        ConvParams<Plan, T> const params{bound, x, y, false, false, false};
        Filter<2> const filter = Plan::Head::geometry(bound.head);
        std::int64_t const groups = filter.group_count;
        Index<4> const shape = y.layout.shape;
        if constexpr (Plan::Head::may_be_grouped || Plan::Head::longest > Tap::most)
            if ((groups > 1 && shape[1] / groups <= thin_group) || !detail::has_bits_for<Plan>(filter))
                return detail::run_conv<DefaultDirect>(*this, params);
        with_fastest(GemmTable{}, shape[0] * shape[2] * shape[3], shape[1] / groups, groups, processors(),
                     [&]<class Schedule>(Schedule) { detail::run_conv<Schedule>(*this, params); });
    } else {
        detail::run_stream<DefaultStream<T, Plan::Epilogue::placewise>>(*this, bound, x, y);
    }
}

/// A device for calls that run with one schedule. It borrows the device that made it.
template <class Schedule>
class Scheduled : public Memory {
public:
    explicit Scheduled(Device& device) : Memory(device), device(&device) {}

    template <class Bound, Element T>
    void run(Bound const& bound, TensorView<T const> const& x, TensorView<T> const& y) {
        using Plan = typename Bound::Plan;
        if constexpr (suits<Schedule, Plan::has_conv>()) {
            if constexpr (Plan::has_conv) {
                detail::check_conv_limits(type_name<Plan>, "x", x.layout);
                detail::check_conv_limits(type_name<Plan>, "y", y.layout);
                detail::run_conv<Schedule>(*device, ConvParams<Plan, T>{bound, x, y, false, false, false});
            } else {
                detail::run_stream<Schedule>(*device, bound, x, y);
            }
        }
    }
    void reach(Check const& in, char const* argument, void const* data) const { device->reach(in, argument, data); }

private:
    Device* device;
};

}  // namespace fusekit::hip
