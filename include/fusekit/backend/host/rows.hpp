// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/integer.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/backend/host/pointwise.hpp"
#include "fusekit/plan/pairwise.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/plan/rows.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Runs a plan whose head is a RowOp. A row is read three times, from cache if it fits: for its center, for the sum of
/// its terms, and for its results. Lanes are values of one row or, where the channels of a pixel are not contiguous,
/// pixels, each a row of its own. The order of sums does not depend on the number of threads.
template <class Plan, Element T, detail::OutputElement U>
class Rows {
    using Op = typename Plan::Head;
    using Steps = detail::RowSteps<Op>;
    using States = typename Steps::States;
    using Epilogue = typename Plan::Epilogue;
    using Row = typename Steps::template Row<Vector>;

public:
    static constexpr char const* name = "Rows";

    Rows(BoundPlan<Plan> const& the_bound, TensorView<T const> const& the_x, TensorView<U> const& the_y)
        : bound(the_bound), x(the_x), y(the_y), shape(the_y.layout.shape), rows(bound.head, shape) {}

    std::int64_t scratch_floats() const {
        return detail::divide_up(vectors() * std::int64_t{sizeof(Prepared)}, sizeof(float));
    }

    void run(Device::RunContext& context) {
        prepared = reinterpret_cast<Prepared*>(context.scratch(scratch_floats()));
        context.parallel_for(detail::divide_up(vectors(), detail::channel_item), [&](std::int64_t item, int) {
            std::int64_t const end = (min)(vectors(), (item + 1) * detail::channel_item);
            for (std::int64_t v = item * detail::channel_item; v < end; ++v)
                prepared[v] =
                    channel_lanes ? of_channels(v * lanes, (min)(lanes, shape[1] - v * lanes)) : of_channel(v);
        });
        bool const dense = problem::planes_are_rows(x.layout) && problem::planes_are_rows(y.layout);
        std::int64_t const columns = dense ? shape[2] * shape[3] : shape[3], of_plane = shape[2] * shape[3] / columns;
        if (Steps::over_pixels || channel_lanes)
            return context.parallel_for(rows.count(shape), [&](std::int64_t index, int) {
                if (channel_lanes) row<detail::Axis::channel>(index, columns);
                else row<detail::Axis::pixel>(index, columns);
            });
        std::int64_t const of_line = detail::divide_up(columns, lanes);
        context.parallel_for(shape[0] * of_plane * of_line, [&](std::int64_t index, int) {
            std::int64_t const line = index / of_line, first = index % of_line * lanes;
            rows_in_lanes({line / of_plane, 0, line % of_plane, first},
                          static_cast<int>((min)(lanes, columns - first)));
        });
    }

private:
    BoundPlan<Plan> const& bound;
    TensorView<T const> x;
    TensorView<U> y;
    Index<4> shape;
    detail::RowsOf<Op> rows;
    bool const channel_lanes = problem::channels_are_contiguous(y.layout) && problem::channels_are_contiguous(x.layout);

    /// Parameters of the head's and of the epilogue's operators, of the channel of each lane.
    struct Prepared {
        typename States::template State<Vector> head;
        typename Epilogue::template State<Vector> epilogue;
    };
    Prepared* prepared = nullptr;  ///< of each vector of channels or, if lanes are pixels, of each channel

    std::int64_t vectors() const { return channel_lanes ? detail::divide_up(shape[1], lanes) : shape[1]; }
    Prepared of_channels(std::int64_t k, std::int64_t used) const {
        int const count = static_cast<int>(used);
        return {States::template prepare_lanes<Vector>(k, count, Steps::state_args(bound.head)),
                Epilogue::template prepare_lanes<Vector>(k, count, bound.epilogue)};
    }
    Prepared of_channel(std::int64_t k) const {
        return {States::template broadcast<Vector>(States::prepare(k, Steps::state_args(bound.head))),
                Epilogue::template broadcast<Vector>(Epilogue::prepare(k, bound.epilogue))};
    }

    /// One row, in vectors along `axis`; planes have lines of `columns` pixels.
    template <detail::Axis axis>
    void row(std::int64_t index, std::int64_t columns) const {
        constexpr bool along_channels = axis == detail::Axis::channel;
        OutputCoord first{index / rows.groups, index % rows.groups * rows.channels, 0, 0};
        if constexpr (!Steps::over_pixels) {
            std::int64_t const plane = shape[2] * shape[3];
            first = {index / plane, 0, index % plane / shape[3], index % shape[3]};
        }
        // lines of `length` values: pixels, each with the group's channels, or rows of the planes of these channels
        std::int64_t const length = along_channels ? rows.channels : columns,
                           of_line = detail::divide_up(length, lanes), lines = rows.values() / length,
                           inner = along_channels ? shape[3] : rows.pixels / columns;
        auto const each = [&](std::int64_t begin, std::int64_t end, auto const& f) {
            detail::each_row(begin, end, of_line, [&](std::int64_t line, std::int64_t from, std::int64_t to) {
                OutputCoord at = first;
                if constexpr (!along_channels) at.k += line / inner, at.p = line % inner;
                else if constexpr (Steps::over_pixels) at.p = line / inner, at.q = line % inner;
                for (std::int64_t v = from; v < to; ++v) {
                    OutputCoord of = at;
                    (along_channels ? of.k : of.q) += v * lanes;
                    f(of, static_cast<int>((min)(lanes, length - v * lanes)));
                }
            });
        };
        auto const reduce = [&](Vector neutral, auto const& value, auto const& merge) {
            return detail::pairwise(
                0, lines * of_line, detail::addends,
                [&](std::int64_t begin, std::int64_t end) {
                    Vector result = neutral;
                    each(begin, end, [&](OutputCoord const& at, int used) {
                        Vector const next = value(load<axis>(at, used));
                        result = merge(result, used == lanes ? next : math::select(first_lanes(used), next, neutral));
                    });
                    return result;
                },
                merge);
        };
        auto const whole = [](Vector v, auto const& merge) {  // merges the lanes
            float result = v[0];
            for (int lane = 1; lane < lanes; ++lane) result = merge(result, static_cast<float>(v[lane]));
            return result;
        };
        auto const merge = []<class V>(V a, V b) { return Steps::template merge_centers<V>(a, b); };
        auto const add = []<class V>(V a, V b) { return a + b; };
        float const count = static_cast<float>(rows.values());
        float center = 0;
        if constexpr (Steps::has_center)
            center =
                Steps::center_of(whole(reduce(
                                           Steps::template neutral_center<Vector>(), [](Vector v) { return v; }, merge),
                                       merge),
                                 count);
        Vector const centers = Vector{} + center;
        float const sum = whole(reduce(Vector{}, [&](Vector v) { return Op::term(v, centers); }, add), add);
        Row const parameters = Op::finish(centers, Vector{} + sum, Vector{} + count, bound.head);
        each(0, lines * of_line,
             [&](OutputCoord const& at, int used) { write<axis>(at, used, load<axis>(at, used), parameters); });
    }

    /// A row in each of `used` lanes: the channels of adjacent pixels.
    void rows_in_lanes(OutputCoord at, int used) const {
        constexpr auto axis = detail::Axis::pixel;
        auto const reduce = [&](Vector neutral, auto const& value, auto const& merge) {
            return detail::pairwise(
                0, shape[1], detail::addends,
                [&](std::int64_t begin, std::int64_t end) {
                    Vector result = neutral;
                    for (OutputCoord of{at.n, begin, at.p, at.q}; of.k < end; ++of.k)
                        result = merge(result, value(load<axis>(of, used)));
                    return result;
                },
                merge);
        };
        Vector const count = Vector{} + static_cast<float>(shape[1]);
        Vector center{};
        if constexpr (Steps::has_center)
            center = Steps::center_of(reduce(
                                          Steps::template neutral_center<Vector>(), [](Vector v) { return v; },
                                          [](Vector a, Vector b) { return Steps::merge_centers(a, b); }),
                                      count);
        Vector const sum =
            reduce(Vector{}, [&](Vector v) { return Op::term(v, center); }, [](Vector a, Vector b) { return a + b; });
        Row const parameters = Op::finish(center, sum, count, bound.head);
        for (; at.k < shape[1]; ++at.k) write<axis>(at, used, load<axis>(at, used), parameters);
    }

    template <detail::Axis axis>
    Vector load(OutputCoord const& at, int used) const {
        return host::load(&x(at.n, at.k, at.p, at.q), x.layout.stride[axis == detail::Axis::channel ? 1 : 3], used);
    }
    template <detail::Axis axis>
    void write(OutputCoord const& at, int used, Vector value, Row const& parameters) const {
        LaneCoord<axis> const coord{at, used, shape[3]};
        auto const store_with = [&](Prepared const& with) {
            Vector const result = Steps::apply(value, parameters, coord, with.head, bound.head);
            store(&y(at.n, at.k, at.p, at.q), y.layout.stride[axis == detail::Axis::channel ? 1 : 3], used,
                  Epilogue::apply(result, coord, with.epilogue, bound.epilogue));
        };
        if constexpr (axis == detail::Axis::pixel) store_with(prepared[at.k]);
        else if (at.k % lanes == 0) store_with(prepared[at.k / lanes]);
        else store_with(of_channels(at.k, used));  // the group's first channel is not the first of a vector
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
