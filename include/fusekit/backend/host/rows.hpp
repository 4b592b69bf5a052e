// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/integer.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/backend/host/pointwise.hpp"
#include "fusekit/backend/host/row_vectors.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/plan/rows.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Runs a plan whose head is a RowOp. A row is read three times, from cache if it fits: for its center, for the sum of
/// its terms, and for its results. A prologue is applied each time, and stores values the last time alone. Lanes are
/// values of one row or, where the channels of a pixel are not contiguous, pixels, each a row of its own. The order of
/// sums does not depend on the number of threads.
template <class Plan, Element T, detail::OutputElement U>
class Rows {
    using Op = typename Plan::Head;
    using Steps = detail::RowSteps<Op>;
    using States = typename Steps::States;
    using Prologue = typename Plan::Prologue;
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
                prepared[v] = channel_lanes
                                  ? prepare<detail::Axis::channel>(v * lanes, (min)(lanes, shape[1] - v * lanes))
                                  : prepare<detail::Axis::pixel>(v, lanes);
        });
        bool const dense = problem::planes_are_rows(x.layout) && problem::planes_are_rows(y.layout);
        each_row_of<Op>(context, rows, shape, channel_lanes, dense ? shape[2] * shape[3] : shape[3],
                        [&]<class TheRow>(TheRow const& row) {
                            constexpr auto axis = TheRow::axis;
                            auto const value = [&](OutputCoord const& at, int used) {
                                return load<axis, false>(at, used);
                            };
                            Row const parameters = row_parameters<Op>(row, value, rows.values(), bound.head);
                            row.each([&](OutputCoord const& at, int used) {
                                write<axis>(at, used, load<axis, true>(at, used), parameters);
                            });
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
        typename Prologue::template State<Vector> prologue;
        typename States::template State<Vector> head;
        typename Epilogue::template State<Vector> epilogue;
    };
    Prepared* prepared = nullptr;  ///< of each vector of channels or, if lanes are pixels, of each channel

    std::int64_t vectors() const { return channel_lanes ? detail::divide_up(shape[1], lanes) : shape[1]; }
    template <detail::Axis axis>
    Prepared prepare(std::int64_t k, std::int64_t used) const {
        int const count = static_cast<int>(used);
        return {prepare_vector<Prologue, axis>(k, count, bound.prologue),
                prepare_vector<States, axis>(k, count, Steps::state_args(bound.head)),
                prepare_vector<Epilogue, axis>(k, count, bound.epilogue)};
    }

    /// Values of x after the prologue, rounded to x's type; its operators store values only if `stores`.
    template <detail::Axis axis, bool stores>
    Vector load(OutputCoord const& at, int used) const {
        Vector value =
            host::load(&x(at.n, at.k, at.p, at.q), x.layout.stride[axis == detail::Axis::channel ? 1 : 3], used);
        if constexpr (Plan::has_prologue) {
            LaneCoord<axis> const coord{at, used, shape[3]};
            with_prepared<axis>(at, used, [&](Prepared const& with) {
                if constexpr (stores) value = Prologue::apply(value, coord, with.prologue, bound.prologue);
                else
                    value = Prologue::template apply_first<Prologue::size>(value, coord, with.prologue, bound.prologue);
            });
            T rounded[lanes];
            store(rounded, value);
            value = host::load(rounded);
        }
        return value;
    }
    template <detail::Axis axis>
    void write(OutputCoord const& at, int used, Vector value, Row const& parameters) const {
        LaneCoord<axis> const coord{at, used, shape[3]};
        with_prepared<axis>(at, used, [&](Prepared const& with) {
            Vector const result = Steps::apply(value, parameters, coord, with.head, bound.head);
            store(&y(at.n, at.k, at.p, at.q), y.layout.stride[axis == detail::Axis::channel ? 1 : 3], used,
                  Epilogue::apply(result, coord, with.epilogue, bound.epilogue));
        });
    }
    template <detail::Axis axis, class F>
    void with_prepared(OutputCoord const& at, int used, F const& f) const {
        if constexpr (axis == detail::Axis::pixel) f(prepared[at.k]);
        else if (at.k % lanes == 0) f(prepared[at.k / lanes]);
        else f(prepare<axis>(at.k, used));  // the group's first channel is not the first of a vector
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
