// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/collective/prologue.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/schedule/direct.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// Returns the accumulator of the output at pixel `at` and channel k of y: the sum over c, r, s of x (after the
/// prologue) times w. Taps out of bounds of x add 0.
template <class Plan, Element T, detail::OutputElement U>
__device__ float sum_of_window(ConvParams<Plan, T, U> const& params, Pixel const& at, int k) {
    using Prologue = typename Plan::Prologue;
    auto const conv = params.problem();
    int const group = conv.group_of(at, k);
    auto const first = conv.window(at);
    T const* const x = conv.x.data + conv.x.layout.offset({{at.n, conv.first_c(group), 0, 0}});
    auto const* const filter = conv.weights_of(group) + (k - conv.first_k(group)) * conv.w.layout.stride[0];
    detail::AccumulatorOf<T> sum = 0;
    for (int c = 0; c < conv.group_c(); ++c) {
        typename Prologue::Args const& args = params.bound.prologue;
        auto const state = Prologue::prepare(std::int64_t{conv.first_c(group) + c}, args);
        for (int r = 0; r < conv.window_rows(); ++r)
            for (int s = 0; s < conv.window_columns(); ++s) {
                auto const distance = conv.distance(r, s);
                T const* const tap =
                    x + c * conv.x.layout.stride[1] + conv.input_offset(first) + conv.input_offset(distance);
                detail::AccumulatorOf<T> const value =
                    conv.has(first, distance) ? detail::widened(before_conv<Prologue>(*tap, state, args)) : 0;
                sum +=
                    value * detail::widened_to<detail::AccumulatorOf<T>>(filter[conv.w.layout.offset({{0, c, r, s}})]);
            }
    }
    return static_cast<float>(sum);
}

/// Direct convolution, one output element per thread: for depthwise layers and for channel groups too narrow for a
/// tile. `fast` is the mode of y (pixels or channels) along which consecutive threads compute adjacent outputs.
template <class Plan, class Schedule, Element T, detail::OutputElement U, detail::Axis fast>
class DirectConv {
public:
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    using Params = ConvParams<Plan, T, U>;
    struct Shared {};

    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned block) {
        auto const channels = static_cast<std::uint32_t>(params.y.layout.shape[1]);
        auto const plane = static_cast<std::uint64_t>(params.y.layout.shape[2] * params.y.layout.shape[3]);
        auto const row = static_cast<std::uint64_t>(params.y.layout.shape[3]);
        std::uint64_t const id = std::uint64_t{block} * threads + thread;
        if (id >= static_cast<std::uint64_t>(params.y.layout.size())) return;

        std::uint64_t m = id / channels, k = id % channels;
        if (fast == detail::Axis::pixel) {
            std::uint64_t const image = id / plane;
            m = image / channels * plane + id % plane;
            k = image % channels;
        }
        auto const n = static_cast<int>(m / plane), p = static_cast<int>(m % plane / row),
                   q = static_cast<int>(m % row), channel = static_cast<int>(k);
        auto const state = Epilogue::prepare(static_cast<std::int64_t>(k), params.bound.epilogue);
        auto const value = [&](Pixel const& at) {
            ThreadCoord const coord({at.n, channel, at.p, at.q});
            return Epilogue::apply(sum_of_window(params, at, channel), coord, state, params.bound.epilogue);
        };
        U& to = params.y(n, k, p, q);
        if constexpr (!Plan::pools) {
            to = U(value({n, p, q}));
        } else {
            detail::WindowTotal<typename Plan::Pool::Reduce> total;
            for (int i = 0; i < 4; ++i) total.add(value({n, 2 * p + i / 2, 2 * q + i % 2}), i);
            to = U(total.finish(4));
            if constexpr (Plan::Pool::writes_taps)
                Plan::Pool::store_tap(detail::get<Epilogue::size - 1>(params.bound.epilogue), {{n, channel, p, q}},
                                      total.tap);
        }
    }

private:
    using Epilogue = typename Plan::Epilogue;
};

}  // namespace fusekit::hip
