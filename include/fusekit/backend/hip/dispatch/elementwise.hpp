// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/mainloop/elementwise.hpp"
#include "fusekit/backend/hip/runtime/launch.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::hip {

namespace detail {

/// True if x and y start at multiples of `lanes` elements, so that vectors of `lanes` elements are aligned.
template <int lanes, Element T, detail::OutputElement U>
FUSEKIT_H bool packets_are_aligned(TensorView<T const> const& x, TensorView<U> const& y) {
    return problem::aligned(x.data, lanes * static_cast<int>(sizeof(T))) &&
           problem::aligned(y.data, lanes * static_cast<int>(sizeof(U)));
}

/// Prepares a launch of Streaming with packets, vectors of `lanes` elements. `period`: number of elements of y, in
/// memory order, after which the operators' parameters repeat; with parameters per channel and channels last, K.
template <class Schedule, int lanes, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<StreamParams<Plan, T, U>>> prepare_streaming(Gpu const& gpu, StreamParams<Plan, T, U> params,
                                                                     std::int64_t period) {
    using Mainloop = Streaming<Plan, Schedule, T, U, lanes>;
    std::int64_t const size = params.y.layout.size(), image = size / params.y.layout.shape[0], packets = period / lanes;
    params.iterations = size / period;
    // distance in elements from one iteration to the next: an image's stride, or `period`; 0 if there is one iteration
    auto const step = [&](Layout<4> const& layout) {
        return params.iterations == 1 ? 0 : period == image ? layout.stride[0] : period;
    };
    params.x_step = step(params.x.layout);
    params.y_step = step(params.y.layout);
    bool const tiled = Mainloop::shares_channels && params.order.channels_last;
    std::int64_t const tiles = tiled ? detail::divide_up(packets, Mainloop::tile_packets) : 1,
                       tile_packets = detail::divide_up(packets, tiles);
    params.tiles = FastDivmod(static_cast<unsigned>(tiles));
    params.packets = FastDivmod(static_cast<unsigned>(tile_packets));
    params.all_packets = static_cast<unsigned>(packets);

    std::int64_t const busy = gpu.processors() * min_threads_per_processor / packets;
    std::int64_t const fewest =
        detail::divide_up(params.iterations, tiled ? Schedule::tile_iterations : Schedule::iterations);
    std::int64_t const most = ((std::int64_t{1} << 31) - Mainloop::threads) / packets;
    params.splits = fewest > busy ? fewest : params.iterations < busy ? params.iterations : busy > 0 ? busy : 1;
    if (params.splits > most) params.splits = most > 0 ? most : 1;
    params.x_stride = params.splits * params.x_step;
    params.y_stride = params.splits * params.y_step;
    return prepare_launch<Plan, Mainloop>(gpu, params,
                                          tiles * detail::divide_up(tile_packets * params.splits, Mainloop::threads));
}

}  // namespace detail

/// Prepares a launch of an elementwise plan with one schedule.
template <class Schedule, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<StreamParams<Plan, T, U>>> prepare_elementwise_with(Gpu const& gpu,
                                                                            BoundPlan<Plan> const& bound,
                                                                            detail::ImageView<T const> const& x,
                                                                            detail::ImageView<U> const& y) {
    using Epilogue = typename Plan::Epilogue;
    constexpr int lanes = Schedule::bytes / static_cast<int>(sizeof(Wider<T, U>));
    if (detail::has_no_elements(y.layout.shape))
        return launch_nothing(gpu, type_name<Plan>,
                              StreamParams<Plan, T, U>{.order = {}, .bound = bound, .x = x, .y = y});
    std::int64_t const image = y.layout.size() / y.layout.shape[0];
    std::int64_t const plane = y.layout.shape[2] * y.layout.shape[3];
    bool const dense = problem::dense_alike(x.layout, y.layout), last = channels_last(y.layout) || plane == 1;
    auto const period = [&](std::int64_t packet) {  // elements of y after which parameters repeat, in memory order
        if (!dense || Epilogue::pixelwise) return image;
        if (!Epilogue::channelwise) return packet;
        return last ? y.layout.shape[1] : image;
    };
    if (Refusal refusal =
            refuse_limit(type_name<Plan>, "y", "an image of fewer than 2^31 elements", y.shape(), period(1)))
        return *refusal;
    StreamParams<Plan, T, U> params{.order = {}, .bound = bound, .x = x, .y = y};
    // An image of 2^31 elements or more has no 32-bit coordinates p and q; it is valid only if no operator reads them.
    params.order = {image >> 31 == 0 ? y.layout.shape : Index<4>{{1, period(1), 1, 1}}, last};
    bool const two_channels = params.order.channels_last || Epilogue::pixelwise || !Epilogue::channelwise ||
                              plane >= lanes;  // then a packet has elements of at most two channels
    bool const whole = period(lanes) % lanes == 0 && y.layout.size() % lanes == 0;
    if (dense && two_channels && whole && detail::packets_are_aligned<lanes>(x, y))
        return detail::prepare_streaming<Schedule, lanes>(gpu, params, period(lanes));
    return detail::prepare_streaming<Schedule, 1>(gpu, params, period(1));
}

/// Prepares a launch of an elementwise plan with the schedule of the GPU's tuning table.
template <class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<StreamParams<Plan, T, U>>> prepare_elementwise(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                       detail::ImageView<T const> const& x,
                                                                       detail::ImageView<U> const& y) {
    using Epilogue = typename Plan::Epilogue;
    return with_tuning(gpu.architecture(), [&]<class Tuning>(Tuning) {
        using Schedule = DefaultElementwise<Tuning, Wider<T, U>, Epilogue::pixelwise, Epilogue::stores>;
        return prepare_elementwise_with<Schedule>(gpu, bound, x, y);
    });
}

}  // namespace fusekit::hip
