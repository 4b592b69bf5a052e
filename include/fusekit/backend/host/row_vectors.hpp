// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/integer.hpp"
#include "fusekit/backend/host/vector.hpp"
#include "fusekit/math_select.hpp"
#include "fusekit/plan/pairwise.hpp"
#include "fusekit/plan/rows.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// `count` vectors that one pass over a row reduces.
template <std::size_t count>
struct Vectors {
    Vector of[count];
};

/// Merges vectors value(index) of [0, number), pairwise, each by merge(a, b).
template <std::size_t count, class Leaf, class Merge>
Vectors<count> merge_pairwise(std::int64_t number, Leaf const& leaf, Merge const& merge) {
    return detail::pairwise(0, number, detail::addends, leaf, [&](Vectors<count> a, Vectors<count> const& b) {
        for (std::size_t i = 0; i < count; ++i) a.of[i] = merge(a.of[i], b.of[i]);
        return a;
    });
}

/// One row of a RowOp in vectors along `the_axis`: lines of `length` adjacent values, which are pixels, each with the
/// channels of a group, or rows of the planes of these channels.
template <class Op, detail::Axis the_axis>
struct RowAlong {
    static constexpr detail::Axis axis = the_axis;
    static constexpr bool along_channels = axis == detail::Axis::channel;
    std::int64_t index;
    OutputCoord first;
    std::int64_t length, of_line, lines, inner;

    RowAlong(std::int64_t the_index, detail::RowsOf<Op> const& rows, Index<4> const& shape, std::int64_t columns)
        : index(the_index),
          first{the_index / rows.groups, the_index % rows.groups * rows.channels, 0, 0},
          length(along_channels ? rows.channels : columns),
          of_line(detail::divide_up(length, lanes)),
          lines(rows.values() / length),
          inner(along_channels ? shape[3] : rows.pixels / columns) {
        std::int64_t const plane = shape[2] * shape[3];
        if constexpr (!Op::over_pixels) first = {index / plane, 0, index % plane / shape[3], index % shape[3]};
    }

    std::int64_t number(int) const { return index; }

    /// Calls f(coordinate of the first value, number of values) for each vector of the row.
    template <class F>
    void each(F const& f) const {
        each(0, lines * of_line, f);
    }
    /// Merges the vectors value(coordinate, number of values) of all vectors of the row and all their lanes; each lane
    /// of the result has the row's value. merge(neutral, v) is v.
    template <std::size_t count, class Value, class Merge>
    Vectors<count> reduce(Vector neutral, Value const& value, Merge const& merge) const {
        Vectors<count> result = merge_pairwise<count>(
            lines * of_line,
            [&](std::int64_t begin, std::int64_t end) {
                Vectors<count> sums;
                for (Vector& sum : sums.of) sum = neutral;
                each(begin, end, [&](OutputCoord const& at, int used) {
                    Vectors<count> const next = value(at, used);
                    for (std::size_t i = 0; i < count; ++i)
                        sums.of[i] =
                            merge(sums.of[i],
                                  used == lanes ? next.of[i] : math::select(first_lanes(used), next.of[i], neutral));
                });
                return sums;
            },
            merge);
        for (Vector& v : result.of) {
            float whole = v[0];
            for (int lane = 1; lane < lanes; ++lane) whole = merge(whole, static_cast<float>(v[lane]));
            v = Vector{} + whole;
        }
        return result;
    }

private:
    template <class F>
    void each(std::int64_t begin, std::int64_t end, F const& f) const {
        detail::each_row(begin, end, of_line, [&](std::int64_t line, std::int64_t from, std::int64_t to) {
            OutputCoord at = first;
            if constexpr (!along_channels) at.k += line / inner, at.p = line % inner;
            else if constexpr (Op::over_pixels) at.p = line / inner, at.q = line % inner;
            for (std::int64_t v = from; v < to; ++v) {
                OutputCoord of = at;
                (along_channels ? of.k : of.q) += v * lanes;
                f(of, static_cast<int>((min)(lanes, length - v * lanes)));
            }
        });
    }
};

/// A row in each of `used` lanes: the channels of adjacent pixels. Functions as of RowAlong.
struct RowsInLanes {
    static constexpr detail::Axis axis = detail::Axis::pixel;
    std::int64_t index;  ///< row of the first lane
    OutputCoord first;
    int used;
    std::int64_t channels;

    std::int64_t number(int lane) const { return index + lane; }
    template <class F>
    void each(F const& f) const {
        for (OutputCoord at = first; at.k < channels; ++at.k) f(at, used);
    }
    template <std::size_t count, class Value, class Merge>
    Vectors<count> reduce(Vector neutral, Value const& value, Merge const& merge) const {
        return merge_pairwise<count>(
            channels,
            [&](std::int64_t begin, std::int64_t end) {
                Vectors<count> sums;
                for (Vector& sum : sums.of) sum = neutral;
                for (OutputCoord at{first.n, begin, first.p, first.q}; at.k < end; ++at.k) {
                    Vectors<count> const next = value(at, used);
                    for (std::size_t i = 0; i < count; ++i) sums.of[i] = merge(sums.of[i], next.of[i]);
                }
                return sums;
            },
            merge);
    }
};

/// Calls f(row) for each row of a tensor of this shape: a RowAlong channels if these are the lanes; else RowsInLanes
/// or, for rows over pixels, a RowAlong pixels. Planes have lines of `columns` adjacent pixels.
template <class Op, class F>
void each_row_of(Device::RunContext& context, detail::RowsOf<Op> const& rows, Index<4> const& shape, bool channel_lanes,
                 std::int64_t columns, F const& f) {
    if (Op::over_pixels || channel_lanes)
        return context.parallel_for(rows.count(shape), [&](std::int64_t index, int) {
            if (channel_lanes) f(RowAlong<Op, detail::Axis::channel>(index, rows, shape, columns));
            else f(RowAlong<Op, detail::Axis::pixel>(index, rows, shape, columns));
        });
    std::int64_t const of_line = detail::divide_up(columns, lanes), of_plane = shape[2] * shape[3] / columns;
    context.parallel_for(shape[0] * of_plane * of_line, [&](std::int64_t index, int) {
        std::int64_t const line = index / of_line, from = index % of_line * lanes;
        f(RowsInLanes{line * columns + from,
                      {line / of_plane, 0, line % of_plane, from},
                      static_cast<int>((min)(lanes, columns - from)),
                      shape[1]});
    });
}

/// The RowOp's parameters of `row`, whose values load(coordinate, number of values) returns.
template <class Op, class TheRow, class Load>
typename Op::template Row<Vector> row_parameters(TheRow const& row, Load const& load, std::int64_t values,
                                                 typename Op::Args const& args) {
    using Steps = detail::RowSteps<Op>;
    Vector const count = Vector{} + static_cast<float>(values);
    Vector center{};
    if constexpr (Steps::has_center)
        center = Steps::center_of(row.template reduce<1>(
                                         Steps::template neutral_center<Vector>(),
                                         [&](OutputCoord const& at, int used) { return Vectors<1>{{load(at, used)}}; },
                                         []<class V>(V a, V b) { return Steps::template merge_centers<V>(a, b); })
                                      .of[0],
                                  count);
    Vector const sum =
        row.template reduce<1>(
               Vector{},
               [&](OutputCoord const& at, int used) { return Vectors<1>{{Op::term(load(at, used), center)}}; },
               []<class V>(V a, V b) { return a + b; })
            .of[0];
    return Op::finish(center, sum, count, args);
}

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
