// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/integer.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/plan/pairwise.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Plan without a Conv that pools: every output reduces its window of x. If x's channels are contiguous, lanes run
/// along channels, and a window's values are combined pairwise. Otherwise lanes run along rows of x: first the rows of
/// the windows are combined into one line of scratch, then the columns of the line; for whole planes (GlobalAverage),
/// all values of the plane are combined pairwise.
template <class Plan, Element T, detail::OutputElement U>
class Pooling {
    using Epilogue = typename Plan::Epilogue;
    using Reduce = typename Plan::Pool::Reduce;
    using State = typename Epilogue::template State<Vector>;

public:
    static constexpr char const* name = "Pooling";

    Pooling(int the_threads, typename Epilogue::Args const& the_args, TensorView<T const> const& the_x,
            TensorView<U> const& the_y)
        : threads(the_threads), args(the_args), x(the_x), y(the_y) {}

    std::int64_t scratch_floats() const {
        std::int64_t const states = detail::divide_up(vectors * std::int64_t{sizeof(State)}, sizeof(float));
        return states + threads * line_floats();
    }

    void run(Device::RunContext& context) const {
        float* const lines = context.scratch(scratch_floats());
        auto* const states = reinterpret_cast<State*>(lines + threads * line_floats());
        context.parallel_for(
            vectors, [&](std::int64_t v, int) { states[v] = prepare_vector<Epilogue>(channel_lanes, v, k, args); });
        Index<4> const out = y.layout.shape;
        std::int64_t const outputs = channel_lanes ? out[0] * out[2] * out[3] * vectors : out[0] * vectors * out[2];
        PoolWindow const window = Plan::Pool::window(x.layout.shape, out[2] / 2, out[3] / 2);
        std::int64_t const values = window.rows * (channel_lanes ? window.columns * lanes : columns);
        std::int64_t const block = (max)(1, 16 * 1024 / values);  // amortises the assignment to a thread
        context.parallel_for(detail::divide_up(outputs, block), [&](std::int64_t item, int thread) {
            std::int64_t const first = item * block, pixel = first / vectors, p = pixel / out[3], row = first / out[2];
            OutputCoord at = channel_lanes
                                 ? OutputCoord{p / out[2], first % vectors * lanes, p % out[2], pixel % out[3]}
                                 : OutputCoord{row / k, row % k, first % out[2], 0};
            for (std::int64_t i = first; i < (min)(outputs, first + block); ++i) {
                if (channel_lanes) {
                    write_channels(at, static_cast<int>((min)(lanes, k - at.k)), states[at.k / lanes]);
                    if ((at.k += lanes) < k) continue;
                    at.k = 0;
                    if (++at.q < out[3]) continue;
                    at.q = 0;
                    if (++at.p == out[2]) at.p = 0, ++at.n;
                } else {
                    if constexpr (writes_taps) write_tapped_row(at, states[at.k]);
                    else if constexpr (has_geometry) write_row(at, states[at.k], lines + thread * line_floats());
                    else write_whole_plane(at, states[at.k]);
                    if (++at.p < out[2]) continue;
                    at.p = 0;
                    if (++at.k == k) at.k = 0, ++at.n;
                }
            }
        });
    }

private:
    static constexpr bool has_geometry = requires { Plan::Pool::geometry; };
    static constexpr bool writes_taps = detail::writes_taps<typename Plan::Pool>;

    int threads;
    typename Epilogue::Args const& args;
    TensorView<T const> x;
    TensorView<U> y;
    std::int64_t const k = x.layout.shape[1], columns = x.layout.shape[3];
    bool const channel_lanes = problem::channels_are_contiguous(x.layout);
    std::int64_t const vectors = channel_lanes ? detail::divide_up(k, lanes) : k;

    /// Elements of the scratch line: one for each column of x, with padding on both sides, to the end of the last
    /// window.
    std::int64_t line_size() const {
        constexpr Filter<2> f = Plan::Pool::geometry;
        return (max)(f.pad_before.w + columns, (y.layout.shape[3] - 1) * f.strides.w + f.size.w);
    }
    std::int64_t line_floats() const {
        if constexpr (has_geometry && !writes_taps)
            if (!channel_lanes) return scratch_size(line_size());
        return 0;
    }

    /// Loads `used` elements of x from coordinate `at` on and applies the operators before the pool.
    template <detail::Axis axis>
    Vector value(T const* from, OutputCoord const& at, int used, State const& state) const {
        Vector const v = load(from, x.layout.stride[axis == detail::Axis::channel ? 1 : 3], used);
        return Epilogue::apply(v, LaneCoord<axis>{at, used, columns}, state, args);
    }

    /// Writes the maximum and its tap of output `at`, in `used` lanes along channels or in one.
    template <detail::Axis axis>
    void write_tapped(OutputCoord const& at, int used, State const& state) const {
        PoolWindow const window = Plan::Pool::window(x.layout.shape, at.p, at.q);
        detail::TappedMaximum<float> maximum[lanes];
        for (std::int64_t row = window.row; row < window.row + window.rows; ++row)
            for (std::int64_t column = window.column; column < window.column + window.columns; ++column) {
                Vector const v = value<axis>(&x(at.n, at.k, row, column), {at.n, at.k, row, column}, used, state);
                for (int lane = 0; lane < used; ++lane)
                    maximum[lane].add(v[lane], Plan::Pool::tap(at.p, at.q, row, column));
            }
        for (int lane = 0; lane < used; ++lane) {
            Plan::Pool::store_tap(detail::get<Epilogue::size - 1>(args), {{at.n, at.k + lane, at.p, at.q}},
                                  maximum[lane].tap);
            y(at.n, at.k + lane, at.p, at.q) = U(maximum[lane].value);
        }
    }
    void write_tapped_row(OutputCoord at, State const& state) const {
        for (; at.q < y.layout.shape[3]; ++at.q) write_tapped<detail::Axis::pixel>(at, 1, state);
    }

    /// Writes the pooled output `at` of `used` channels.
    void write_channels(OutputCoord const& at, int used, State const& state) const {
        if constexpr (writes_taps) return write_tapped<detail::Axis::channel>(at, used, state);
        PoolWindow const window = Plan::Pool::window(x.layout.shape, at.p, at.q);
        T const* const first = &x(at.n, at.k, window.row, window.column);
        Vector const total = total_of(window.rows, window.columns, [&](std::int64_t row, std::int64_t column) {
            OutputCoord const from{at.n, at.k, window.row + row, window.column + column};
            return value<detail::Axis::channel>(first + row * x.layout.stride[2] + column * x.layout.stride[3], from,
                                                used, state);
        });
        store(&y(at.n, at.k, at.p, at.q), y.layout.stride[1], used, Reduce::finish(total, window.count()));
    }

    /// Writes a row of pooled outputs, from `at` on.
    void write_row(OutputCoord const& at, State const& state, float* line) const {
        constexpr Filter<2> f = Plan::Pool::geometry;
        PoolWindow const window = Plan::Pool::window(x.layout.shape, at.p, 0);
        for (int i = 0; i < f.pad_before.w; ++i) line[i] = Reduce::template neutral<float>();
        for (std::int64_t i = f.pad_before.w + columns; i < line_size(); ++i)
            line[i] = Reduce::template neutral<float>();
        T const* const first = &x(at.n, at.k, window.row, 0);
        for (std::int64_t column = 0; column < columns; column += lanes) {
            int const used = static_cast<int>((min)(lanes, columns - column));
            Vector const total = total_of(window.rows, 1, [&](std::int64_t row, std::int64_t) {
                return value<detail::Axis::pixel>(first + row * x.layout.stride[2] + column * x.layout.stride[3],
                                                  {at.n, at.k, window.row + row, column}, used, state);
            });
            store(line + f.pad_before.w + column, 1, used, total);
        }
        U* const to = &y(at.n, at.k, at.p, 0);
        std::int64_t const outputs = y.layout.shape[3], stride = y.layout.stride[3];
        auto const count = [&](std::int64_t q) { return Plan::Pool::window(x.layout.shape, at.p, q).count(); };
        for (std::int64_t q = 0; q < outputs; q += lanes) {
            int const used = static_cast<int>((min)(lanes, outputs - q));
            Vector const total = total_of(1, f.size.w, [&](std::int64_t, std::int64_t column) {
                return every<f.strides.w>(line + q * f.strides.w + column, used);
            });
            std::int64_t const whole = (window.rows + window.padded_rows) * f.size.w;
            if (count(q) == whole && count(q + used - 1) == whole) {
                store(to + q * stride, stride, used, Reduce::finish(total, whole));
            } else {
                for (int lane = 0; lane < used; ++lane)
                    to[(q + lane) * stride] = U(Reduce::finish(float{total[lane]}, count(q + lane)));
            }
        }
    }

    /// Loads `count` of `lanes` floats, `stride` apart. A full vector needs no loop.
    template <int stride>
    static Vector every(float const* from, int count) {
        if (stride == 1 || count < lanes) return load(from, stride, count);
        return [&]<int... i>(std::integer_sequence<int, i...>) {
            return Vector{from[i * std::int64_t{stride}]...};
        }(std::make_integer_sequence<int, lanes>{});
    }

    /// Writes output `at`, the reduction of a whole plane of x.
    void write_whole_plane(OutputCoord const& at, State const& state) const {
        PoolWindow const window = Plan::Pool::window(x.layout.shape, at.p, at.q);
        Vector const neutral = Reduce::template neutral<Vector>();
        Vector const total = total_of(window.rows, detail::divide_up(columns, lanes), [&](auto row, auto vector) {
            std::int64_t const first = vector * lanes;
            int const used = static_cast<int>((min)(lanes, columns - first));
            Vector const v =
                value<detail::Axis::pixel>(&x(at.n, at.k, row, first), {at.n, at.k, row, first}, used, state);
            return used == lanes ? v : first_lanes(used) ? v : neutral;
        });
        float const whole = detail::pairwise(
            0, lanes, 1, [&](std::int64_t lane, std::int64_t) { return float{total[lane]}; },
            Reduce::template combine<float>);
        y(at.n, at.k, at.p, at.q) = U(Reduce::finish(whole, window.count()));
    }

    /// Combines value(row, column) over a window: pairwise, or, for small windows, sequentially, which gives the same
    /// result.
    template <class Value>
    static Vector total_of(std::int64_t rows, std::int64_t columns, Value const& value) {
        auto const add = [&](std::int64_t begin, std::int64_t end) {
            Vector sum = Reduce::template neutral<Vector>();
            detail::each_row(begin, end, columns, [&](std::int64_t row, std::int64_t first, std::int64_t last) {
                for (; first < last; ++first) sum = Reduce::combine(sum, value(row, first));
            });
            return sum;
        };
        if (rows * columns > detail::addends)
            return detail::pairwise(0, rows * columns, detail::addends, add, Reduce::template combine<Vector>);
        Vector sum = Reduce::template neutral<Vector>();
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t column = 0; column < columns; ++column) sum = Reduce::combine(sum, value(row, column));
        return sum;
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
