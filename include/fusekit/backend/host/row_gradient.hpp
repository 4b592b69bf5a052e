// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/backend/host/row_vectors.hpp"
#include "fusekit/plan/empty.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/plan/row_gradient.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Runs a gradient of a plan whose first operator is a RowOp: dy is x of this run, dx its y. Pass 1, by rows: the
/// parameters of x's row and the sums of its gradients, to scratch. Pass 2, by channels: their totals, then dx. The
/// order of sums does not depend on the number of threads.
template <class Plan, Element T, detail::OutputElement U>
class RowGradient {
    using Steps = detail::RowGradientSteps<typename Plan::Head>;
    using Op = typename Steps::Op;
    using Row = typename Op::template Row<Vector>;
    using Total = typename Steps::template Total<float>;
    using Totals = typename Steps::template Total<Vector>;
    using RowState = typename Steps::template State<float>;
    using RowStates = typename Steps::template State<Vector>;
    using State = typename Steps::States::template State<Vector>;
    using Epilogue = typename Plan::Epilogue;

public:
    static constexpr char const* name = "RowGradient";

    RowGradient(BoundPlan<Plan> const& the_bound, TensorView<T const> const& the_dy, TensorView<U> const& the_dx)
        : bound(the_bound),
          dy(the_dy),
          dx(the_dx),
          shape(the_dx.layout.shape),
          rows(Steps::row_args(the_bound.head), shape) {}

    std::int64_t scratch_floats() const {
        return detail::has_no_elements(shape) ? 0 : rows.count(shape) * std::int64_t{sizeof(RowState) / sizeof(float)};
    }

    void run(Device::RunContext& context) {
        if (detail::has_no_elements(shape)) return detail::save_empty_totals<float>(bound, shape);
        states = reinterpret_cast<RowState*>(context.scratch(scratch_floats()));
        each_row_of<Op>(context, rows, shape, channel_lanes, columns, [&](auto const& row) { reduce(row); });
        std::int64_t const of_item = channel_lanes ? lanes : 1;
        context.parallel_for(detail::divide_up(shape[1], of_item), [&](std::int64_t item, int) {
            if (channel_lanes) channels<detail::Axis::channel>(item * lanes);
            else channels<detail::Axis::pixel>(item);
        });
    }

private:
    BoundPlan<Plan> const& bound;
    TensorView<T const> dy;
    TensorView<U> dx;
    Index<4> shape;
    detail::RowsOf<Op> rows;
    RowState* states = nullptr;  ///< of each row
    bool const channel_lanes =
        problem::channels_are_contiguous(dy.layout) && problem::channels_are_contiguous(dx.layout);
    bool const dense = problem::planes_are_rows(dy.layout) && problem::planes_are_rows(dx.layout);
    std::int64_t const plane = shape[2] * shape[3], columns = dense ? plane : shape[3];

    template <class TheRow>
    void reduce(TheRow const& row) const {
        constexpr auto axis = TheRow::axis;
        auto const value = [&](OutputCoord const& at, int used) { return x<axis>(at, used); };
        Row const parameters = row_parameters<Op>(row, value, rows.values(), Steps::row_args(bound.head));
        auto const [sums] = row.template reduce<2>(
            Vector{},
            [&](OutputCoord const& at, int used) {
                Vectors<2> terms{};
                Totals unused{};
                Steps::add(unused, terms.of[0], terms.of[1], load<axis>(at, used), value(at, used), parameters,
                           LaneCoord<axis>{at, used, shape[3]}, state_of<axis>(at.k, used), bound.head);
                return terms;
            },
            []<class V>(V a, V b) { return a + b; });
        RowStates const all{parameters, {sums[0], sums[1], Vector{} + static_cast<float>(rows.values())}};
        int used = 1;
        if constexpr (requires { row.used; }) used = row.used;
        for (int lane = 0; lane < used; ++lane) states[row.number(lane)] = of_lane<RowState>(all, lane);
    }

    /// Totals of channel k, or of the lanes' channels from k on; then their dx.
    template <detail::Axis axis>
    void channels(std::int64_t k) const {
        constexpr bool along_channels = axis == detail::Axis::channel;
        std::int64_t const length = along_channels ? 1 : columns, of_line = detail::divide_up(length, lanes),
                           lines = plane / length;
        int const last = along_channels ? static_cast<int>((min)(lanes, shape[1] - k)) : lanes;
        auto const each = [&](std::int64_t begin, std::int64_t end, auto const& f) {
            for (std::int64_t i = begin; i < end; ++i) {
                std::int64_t const line = i / of_line, from = i % of_line * lanes;
                OutputCoord at{line / lines, k, line % lines, from};
                if constexpr (along_channels) at.p = line % plane / shape[3], at.q = line % shape[3];
                f(at, along_channels ? last : static_cast<int>((min)(lanes, length - from)));
            }
        };
        std::int64_t const vectors = shape[0] * lines * of_line;
        State const state = state_of<axis>(k, last);
        if (Steps::has_totals && Steps::saves_totals(bound.head)) {
            Totals const totals = detail::pairwise(
                0, vectors, detail::addends,
                [&](std::int64_t begin, std::int64_t end) {
                    Totals result{};
                    each(begin, end, [&](OutputCoord const& at, int used) {
                        Vector no_sums[2] = {};
                        Steps::add(result, no_sums[0], no_sums[1], load<axis>(at, used), x<axis>(at, used),
                                   rows_of<axis>(at, used).row, LaneCoord<axis>{at, used, shape[3]}, state, bound.head,
                                   first_lanes(used));
                    });
                    return result;
                },
                detail::merged);
            if constexpr (along_channels)
                for (int lane = 0; lane < last; ++lane)
                    Steps::Steps::save(of_lane<Total>(totals, lane), {0, k + lane, 0, 0}, bound.head);
            else Steps::Steps::save(merge_lanes<Total>(totals), {0, k, 0, 0}, bound.head);
        }
        auto const epilogue = prepare_vector<Epilogue, axis>(k, last, bound.epilogue);
        each(0, vectors, [&](OutputCoord const& at, int used) {
            LaneCoord<axis> const coord{at, used, shape[3]};
            Vector const result = Steps::apply(load<axis>(at, used), x<axis>(at, used), rows_of<axis>(at, used), coord,
                                               state, bound.head);
            store(&dx(at.n, at.k, at.p, at.q), dx.layout.stride[along_channels ? 1 : 3], used,
                  Epilogue::apply(result, coord, epilogue, bound.epilogue));
        });
    }

    /// Parameters of the channels from k on, one per lane, or of channel k.
    template <detail::Axis axis>
    State state_of(std::int64_t k, int used) const {
        return prepare_vector<typename Steps::States, axis>(k, used, Steps::Steps::state_args(bound.head));
    }

    /// States of the rows of a vector's values.
    template <detail::Axis axis>
    RowStates rows_of(OutputCoord const& at, int used) const {
        constexpr bool along_channels = axis == detail::Axis::channel;
        auto const number = [&](int lane) {
            if constexpr (Op::over_pixels)
                return at.n * rows.groups + (at.k + (along_channels ? lane : 0)) / rows.channels;
            else return at.n * plane + at.p * shape[3] + at.q + (along_channels ? 0 : lane);
        };
        RowStates result{};
        if (number(0) == number(used - 1)) {
            RowState const& of_row = states[number(0)];
            for (std::size_t i = 0; i < sizeof(RowState) / sizeof(float); ++i)
                reinterpret_cast<Vector*>(&result)[i] = Vector{} + reinterpret_cast<float const*>(&of_row)[i];
        } else {
            for (int lane = 0; lane < lanes; ++lane)
                set_lane(result, lane, states[number(lane < used ? lane : used - 1)]);
        }
        return result;
    }

    template <detail::Axis axis>
    Vector load(OutputCoord const& at, int used) const {
        return host::load(&dy(at.n, at.k, at.p, at.q), dy.layout.stride[axis == detail::Axis::channel ? 1 : 3], used);
    }
    template <detail::Axis axis>
    Vector x(OutputCoord const& at, int used) const {
        return LaneCoord<axis>{at, used, shape[3]}.load(bound.head.x);
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
