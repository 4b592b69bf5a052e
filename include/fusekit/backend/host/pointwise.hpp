// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/integer.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

namespace detail {

/// Elements per work item of parallel_for: enough to amortise the assignment to a thread, few enough to balance the
/// load.
inline constexpr std::int64_t pointwise_item = 16 * 1024;

/// Channels, or vectors of channels, whose parameters one work item prepares.
inline constexpr std::int64_t channel_item = 128;

/// Elements of a tensor along one mode, contiguous or strided: address of the first, and their stride.
template <class T>
struct Line {
    T* first;
    std::int64_t stride;
};

/// Applies the epilogue to `count` elements of a line from coordinate `at` on; state(i) returns the prepared parameters
/// of the vector at element i. All variables are locals, because the compiler must assume that a store may alias
/// anything else.
template <class Epilogue, detail::Axis axis, Element T, detail::OutputElement U, class StateAt>
void stream(Line<T const> from, Line<U> to, std::int64_t count, OutputCoord at, std::int64_t columns, StateAt state,
            typename Epilogue::Args args) {
    auto const coord = [&](std::int64_t i, int used) {
        OutputCoord const first = axis == detail::Axis::channel ? OutputCoord{at.n, at.k + i, at.p, at.q}
                                                                : OutputCoord{at.n, at.k, at.p, at.q + i};
        return LaneCoord<axis>{first, used, columns};
    };
    auto const whole = [&](std::int64_t i) {
        return Epilogue::apply(load(from.first + i), coord(i, lanes), state(i), args);
    };
    std::int64_t i = 0;
    if (from.stride == 1 && to.stride == 1) {
        // The tail is a full vector that overlaps the previous one: loaded and computed before the previous one is
        // stored, because `to` may equal `from`.
        bool const overlaps = axis == detail::Axis::pixel && count > lanes && count % lanes != 0;
        Vector const last = overlaps ? whole(count - lanes) : Vector{};
        for (; i + lanes <= count; i += lanes) store(to.first + i, whole(i));
        if (overlaps) return store(to.first + (count - lanes), last);
    }
    for (; i < count; i += lanes) {
        int const used = static_cast<int>((min)(lanes, count - i));
        Vector const v = load(from.first + i * from.stride, from.stride, used);
        store(to.first + i * to.stride, to.stride, used, Epilogue::apply(v, coord(i, used), state(i), args));
    }
}

/// Splits the number of a row into three coordinates, row = (outer middles + middle) inners + inner; divides once, then
/// increments.
struct RowCounter {
    std::int64_t outer, middle, inner, middles, inners;

    RowCounter(std::int64_t row, std::int64_t the_middles, std::int64_t the_inners)
        : outer(row / (the_middles * the_inners)),
          middle(row / the_inners % the_middles),
          inner(row % the_inners),
          middles(the_middles),
          inners(the_inners) {}

    void advance() {
        if (++inner < inners) return;
        inner = 0;
        if (++middle < middles) return;
        middle = 0;
        ++outer;
    }
};

}  // namespace detail

/// Plan without a Conv. Channels-last: loops over all channels of every pixel, with the prepared parameters of each
/// vector of channels. Other layouts: loops over all pixels of every channel of every image; a dense plane is one long
/// row.
template <class Epilogue, Element T, detail::OutputElement U>
class Pointwise {
public:
    static constexpr char const* name = "Pointwise";

    Pointwise(TensorView<T const> const& the_x, TensorView<U> const& the_y, typename Epilogue::Args const& the_args)
        : x(the_x), y(the_y), args(the_args) {}

    std::int64_t scratch_floats() const {
        std::int64_t const bytes = channel_lanes
                                       ? detail::divide_up(shape[1], lanes) * std::int64_t{sizeof(State<Vector>)}
                                       : shape[1] * std::int64_t{sizeof(State<float>)};
        return detail::divide_up(bytes, sizeof(float));
    }

    void run(Device::RunContext& context) const {
        if (channel_lanes) along_channels(context);
        else along_pixels(context);
    }

private:
    template <class V>
    using State = typename Epilogue::template State<V>;

    TensorView<T const> x;
    TensorView<U> y;
    typename Epilogue::Args const& args;
    Index<4> const shape = y.layout.shape;
    bool const channel_lanes = problem::channels_are_contiguous(y.layout);

    void along_channels(Device::RunContext& context) const {
        std::int64_t const vectors = detail::divide_up(shape[1], lanes), pixels = shape[0] * shape[2] * shape[3];
        auto* const states = reinterpret_cast<State<Vector>*>(context.scratch(scratch_floats()));
        context.parallel_for(detail::divide_up(vectors, detail::channel_item), [&](std::int64_t item, int) {
            std::int64_t const end = (min)(vectors, (item + 1) * detail::channel_item);
            for (std::int64_t v = item * detail::channel_item; v < end; ++v)
                states[v] = Epilogue::template prepare_lanes<Vector>(
                    v * lanes, static_cast<int>((min)(lanes, shape[1] - v * lanes)), args);
        });

        std::int64_t const block = (max)(1, detail::pointwise_item / shape[1]);
        context.parallel_for(detail::divide_up(pixels, block), [&](std::int64_t item, int) {
            detail::RowCounter pixel(item * block, shape[2], shape[3]);
            for (std::int64_t remaining = (min)(block, pixels - item * block); remaining > 0;
                 --remaining, pixel.advance()) {
                OutputCoord const at{pixel.outer, 0, pixel.middle, pixel.inner};
                detail::stream<Epilogue, detail::Axis::channel, T, U>(
                    {&x(at.n, 0, at.p, at.q), x.layout.stride[1]}, {&y(at.n, 0, at.p, at.q), y.layout.stride[1]},
                    shape[1], at, shape[3],
                    [states](std::int64_t k) -> State<Vector> const& { return states[k / lanes]; }, args);
            }
        });
    }

    void along_pixels(Device::RunContext& context) const {
        auto* const states = reinterpret_cast<State<float>*>(context.scratch(scratch_floats()));
        context.parallel_for(detail::divide_up(shape[1], detail::channel_item), [&](std::int64_t item, int) {
            std::int64_t const end = (min)(shape[1], (item + 1) * detail::channel_item);
            for (std::int64_t k = item * detail::channel_item; k < end; ++k) states[k] = Epilogue::prepare(k, args);
        });

        bool const whole = problem::planes_are_rows(x.layout) && problem::planes_are_rows(y.layout);
        std::int64_t const rows = whole ? 1 : shape[2], columns = whole ? shape[2] * shape[3] : shape[3];
        std::int64_t const all_rows = shape[0] * shape[1] * rows, block = (max)(1, detail::pointwise_item / columns);
        context.parallel_for(detail::divide_up(all_rows, block), [&](std::int64_t item, int) {
            detail::RowCounter row(item * block, shape[1], rows);
            for (std::int64_t remaining = (min)(block, all_rows - item * block); remaining > 0;
                 --remaining, row.advance()) {
                OutputCoord const at{row.outer, row.middle, row.inner, 0};
                auto const state = Epilogue::template broadcast<Vector>(states[at.k]);
                detail::stream<Epilogue, detail::Axis::pixel, T, U>(
                    {&x(at.n, at.k, at.p, 0), x.layout.stride[3]}, {&y(at.n, at.k, at.p, 0), y.layout.stride[3]},
                    columns, at, shape[3], [state](std::int64_t) -> auto const& { return state; }, args);
            }
        });
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
