// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/integer.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/plan/pairwise.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::host::inline FUSEKIT_SIMD {

/// A plan without a Conv that pools: every output is made of its window of x, which nobody else reads, pairwise. Lanes
/// run along what is contiguous in x.
template <class Plan, Element T, detail::OutputElement U>
class Pooling {
    using Epilogue = typename Plan::Epilogue;
    using Reduce = typename Plan::Pool::Reduce;
    using State = typename Epilogue::template State<Vector>;

public:
    Pooling(typename Epilogue::Args const& the_args, TensorView<T const> const& the_x, TensorView<U> const& the_y)
        : args(the_args), x(the_x), y(the_y) {}

    std::int64_t scratch_floats() const {
        return detail::divide_up(vectors * std::int64_t{sizeof(State)}, sizeof(float));
    }

    void run(Device::Turn& turn) const {
        auto* const states = reinterpret_cast<State*>(turn.scratch(scratch_floats()));
        turn.parallel_for(vectors, [&](std::int64_t v, int) {
            if (channel_lanes) states[v] = Epilogue::template prepare_lanes<Vector>(v * lanes, used_of(v), args);
            else states[v] = Epilogue::template broadcast<Vector>(Epilogue::prepare(v, args));
        });
        Index<4> const out = y.layout.shape;
        std::int64_t const outputs = channel_lanes ? out[0] * out[2] * out[3] * vectors : out[0] * vectors * out[2];
        std::int64_t const values = window[0] * (channel_lanes ? window[1] * lanes : columns);
        std::int64_t const block = max(1, 16 * 1024 / values);  // enough to hide handing it out
        turn.parallel_for(detail::divide_up(outputs, block), [&](std::int64_t item, int) {
            for (std::int64_t i = item * block; i < min(outputs, (item + 1) * block); ++i) {
                if (channel_lanes) {
                    std::int64_t const v = i % vectors, pixel = i / vectors, p = pixel / out[3];
                    write_channels({p / out[2], v * lanes, p % out[2], pixel % out[3]}, used_of(v), states[v]);
                } else {
                    std::int64_t const plane = i / out[2];
                    write_row({plane / k, plane % k, i % out[2], 0}, states[plane % k]);
                }
            }
        });
    }

private:
    typename Epilogue::Args const& args;
    TensorView<T const> x;
    TensorView<U> y;
    std::int64_t const k = x.layout.shape[1], columns = x.layout.shape[3];
    bool const channel_lanes = problem::channels_are_neighbours(x.layout);
    std::int64_t const vectors = channel_lanes ? detail::divide_up(k, lanes) : k;
    Index<2> const window = Plan::Pool::window(x.layout.shape);

    int used_of(std::int64_t v) const { return static_cast<int>(min(lanes, k - v * lanes)); }

    template <detail::Axis axis>
    Vector value(OutputCoord const& at, int used, State const& state) const {
        Vector const v = load(&x(at.n, at.k, at.p, at.q), x.layout.stride[axis == detail::Axis::channel ? 1 : 3], used);
        return Epilogue::apply(v, LaneCoord<axis>{at, used, columns}, state, args);
    }

    /// The output `at`, of `used` channels.
    void write_channels(OutputCoord const& at, int used, State const& state) const {
        OutputCoord const first{at.n, at.k, at.p * window[0], at.q * window[1]};
        Vector const total = total_of(window[0], window[1], [&](std::int64_t row, std::int64_t column) {
            return value<detail::Axis::channel>({first.n, first.k, first.p + row, first.q + column}, used, state);
        });
        store(&y(at.n, at.k, at.p, at.q), y.layout.stride[1], used, Reduce::finish(total, window[0] * window[1]));
    }

    /// The row of outputs that begins `at`: one of a whole plane, or one of each two columns.
    void write_row(OutputCoord const& at, State const& state) const {
        U* const to = &y(at.n, at.k, at.p, 0);
        std::int64_t const count = window[0] * window[1], stride = y.layout.stride[3];
        if constexpr (Plan::Pool::fits_tile) {
            for (OutputCoord from{at.n, at.k, at.p * 2, 0}; from.q < columns; from.q += lanes) {
                int const used = static_cast<int>(min(lanes, columns - from.q));
                Vector const upper = value<detail::Axis::pixel>(from, used, state);
                Vector const both = Reduce::combine(
                    upper, value<detail::Axis::pixel>({from.n, from.k, from.p + 1, from.q}, used, state));
                for (int lane = 0; lane < used; lane += 2)
                    to[(from.q + lane) / 2 * stride] =
                        U(Reduce::finish(Reduce::combine(float{both[lane]}, float{both[lane + 1]}), count));
            }
        } else {
            Vector const total =
                total_of(window[0], detail::divide_up(columns, lanes), [&](std::int64_t row, std::int64_t vector) {
                    std::int64_t const first = vector * lanes;
                    int const used = static_cast<int>(min(lanes, columns - first));
                    Vector const v = value<detail::Axis::pixel>({at.n, at.k, row, first}, used, state);
                    if (used == lanes) return v;
                    Vector const neutral = Reduce::template neutral<Vector>();
                    return first_lanes(used) ? v : neutral;
                });
            float const whole = detail::pairwise(
                0, lanes, 1, [&](std::int64_t lane, std::int64_t) { return float{total[lane]}; },
                Reduce::template combine<float>);
            *to = U(Reduce::finish(whole, count));
        }
    }

    /// Of value(row, column) for all rows and columns of a window.
    template <class Value>
    static Vector total_of(std::int64_t rows, std::int64_t columns, Value const& value) {
        auto const add = [&](std::int64_t begin, std::int64_t end) {
            Vector sum = Reduce::template neutral<Vector>();
            detail::each_row(begin, end, columns, [&](std::int64_t row, std::int64_t first, std::int64_t last) {
                for (; first < last; ++first) sum = Reduce::combine(sum, value(row, first));
            });
            return sum;
        };
        return detail::pairwise(0, rows * columns, detail::addends, add, Reduce::template combine<Vector>);
    }
};

}  // namespace fusekit::host::inline FUSEKIT_SIMD
