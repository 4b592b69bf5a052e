// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/integer.hpp"
#include "fusekit/backend/host/place.hpp"

namespace fusekit::host::inline FUSEKIT_SIMD {

namespace detail {

/// Elements that one item of work takes: enough to hide handing it out, few enough to share out evenly.
inline constexpr std::int64_t pointwise_item = 16 * 1024;

}  // namespace detail

/// Channels-last: for every pixel, all channels, with the state of each vector of channels prepared beforehand.
template <class Epilogue, Element T>
void pointwise_channel_lanes(Device::Turn& turn, TensorView<T const> const& x, TensorView<T> const& y,
                             typename Epilogue::Args const& args) {
    using State = typename Epilogue::template State<Vector>;
    Index<4> const shape = y.layout.shape;
    std::int64_t const vectors = divide_up(shape[1], lanes);
    auto* const states = reinterpret_cast<State*>(turn.scratch(divide_up(vectors * std::int64_t{sizeof(State)}, sizeof(float))));
    auto const used = [&](std::int64_t k) { return static_cast<int>(min(lanes, shape[1] - k)); };
    for (std::int64_t v = 0; v < vectors; ++v)
        states[v] = Epilogue::template prepare<Vector>(v * lanes, 1, used(v * lanes), args);

    std::int64_t const pixels = shape[0] * shape[2] * shape[3];
    std::int64_t const block = max(1, detail::pointwise_item / shape[1]);
    turn.parallel_for(divide_up(pixels, block), [&](std::int64_t item, int) {
        std::int64_t const end = min(pixels, (item + 1) * block);
        for (std::int64_t m = item * block; m < end; ++m) {
            OutputCoord at{m / (shape[2] * shape[3]), 0, m / shape[3] % shape[2], m % shape[3]};
            T const* const from = &x(at.n, 0, at.p, at.q);
            T* const to = &y(at.n, 0, at.p, at.q);
            for (; at.k < shape[1]; at.k += lanes) {
                int const count = used(at.k);
                Vector const v = load(from + at.k * x.layout.stride[1], x.layout.stride[1], count);
                store(to + at.k * y.layout.stride[1], y.layout.stride[1], count,
                      Epilogue::apply(v, Place<Axis::channel>{at, count, shape[3]}, states[at.k / lanes], args));
            }
        }
    });
}

/// Any other layout: for every channel of every image, all pixels; a plane without gaps is one long row.
template <class Epilogue, Element T>
void pointwise_pixel_lanes(Device::Turn& turn, TensorView<T const> const& x, TensorView<T> const& y,
                           typename Epilogue::Args const& args) {
    Index<4> const shape = y.layout.shape;
    auto const flat = [&](auto const& view) { return view.layout.stride[2] == shape[3] * view.layout.stride[3]; };
    bool const whole = flat(x) && flat(y);
    std::int64_t const rows = whole ? 1 : shape[2], columns = whole ? shape[2] * shape[3] : shape[3];
    std::int64_t const all_rows = shape[0] * shape[1] * rows, block = max(1, detail::pointwise_item / columns);
    turn.parallel_for(divide_up(all_rows, block), [&](std::int64_t item, int) {
        std::int64_t const end = min(all_rows, (item + 1) * block);
        for (std::int64_t row = item * block; row < end; ++row) {
            OutputCoord at{row / (shape[1] * rows), row / rows % shape[1], row % rows, 0};
            auto const state = Epilogue::template prepare<Vector>(at.k, 0, lanes, args);
            T const* const from = &x(at.n, at.k, at.p, 0);
            T* const to = &y(at.n, at.k, at.p, 0);
            for (; at.q < columns; at.q += lanes) {
                int const count = static_cast<int>(min(lanes, columns - at.q));
                Vector const v = load(from + at.q * x.layout.stride[3], x.layout.stride[3], count);
                store(to + at.q * y.layout.stride[3], y.layout.stride[3], count,
                      Epilogue::apply(v, Place<Axis::pixel>{at, count, shape[3]}, state, args));
            }
        }
    });
}

template <class Epilogue, Element T>
void pointwise(Device::Turn& turn, TensorView<T const> const& x, TensorView<T> const& y,
               typename Epilogue::Args const& args) {
    if (y.layout.stride[1] == 1 && y.layout.shape[1] > 1) pointwise_channel_lanes<Epilogue>(turn, x, y, args);
    else pointwise_pixel_lanes<Epilogue>(turn, x, y, args);
}

}  // namespace fusekit::host::inline FUSEKIT_SIMD
