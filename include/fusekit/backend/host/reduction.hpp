// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/integer.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/plan/empty.hpp"
#include "fusekit/plan/pairwise.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/plan/reduction.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Runs a plan that reduces (batch statistics and gradients): every work item totals all values of some channels or
/// pixels, in an order independent of the number of threads, and then reads these values a second time, from cache if
/// they fit.
template <class Plan, Element T, detail::OutputElement U>
class Reduction {
    using Steps = detail::ReductionSteps<typename Plan::Head>;
    using Epilogue = typename Plan::Epilogue;
    using Total = typename Steps::template Total<float>;
    using Totals = typename Steps::template Total<Vector>;
    using Accumulator = typename Steps::template Accumulator<Vector>;
    using Prepared = typename Steps::template Prepared<Vector>;

public:
    static constexpr char const* name = "Reduction";

    Reduction(BoundPlan<Plan> const& the_bound, TensorView<T const> const& the_x, TensorView<U> const& the_y)
        : bound(the_bound), x(the_x), y(the_y), shape(the_y.layout.shape) {}

    static std::int64_t scratch_floats() { return 0; }

    void run(Device::RunContext& context) const {
        if (detail::has_no_elements(shape)) return detail::save_empty_totals<float>(bound, shape);
        if (problem::channels_are_contiguous(y.layout)) strips<detail::Axis::channel>(context);
        else if constexpr (Steps::per_pixel) strips<detail::Axis::pixel>(context);
        else context.parallel_for(shape[1], [this](std::int64_t k, int) { channel(k); });
    }

private:
    BoundPlan<Plan> const& bound;
    TensorView<T const> x;
    TensorView<U> y;
    Index<4> shape;

    static constexpr int strip_vectors = 8;

    /// Parameters of the head and of the epilogue, prepared for a vector of channels, one per lane.
    struct States {
        typename Steps::States::template State<Vector> head;
        typename Epilogue::template State<Vector> epilogue;
        Prepared prepared{};
    };
    template <detail::Axis axis>
    States states_at(OutputCoord const& at, int used) const {
        auto const& args = Steps::state_args(bound.head);
        return {prepare_vector<typename Steps::States, axis>(at.k, used, args),
                prepare_vector<Epilogue, axis>(at.k, used, bound.epilogue)};
    }

    /// Totals channel k and writes its results, with pixels along lanes; dense planes are one long row each.
    void channel(std::int64_t k) const {
        bool const whole = problem::planes_are_rows(x.layout) && problem::planes_are_rows(y.layout);
        std::int64_t const rows = whole ? 1 : shape[2], columns = whole ? shape[2] * shape[3] : shape[3];
        std::int64_t const row_vectors = detail::divide_up(columns, lanes), vectors = shape[0] * rows * row_vectors;
        auto const each_vector = [&](std::int64_t begin, std::int64_t end, auto const& f) {
            detail::each_row(begin, end, row_vectors, [&](std::int64_t row, std::int64_t first, std::int64_t last) {
                OutputCoord at{row / rows, k, row % rows, first * lanes};
                std::int64_t const stop = (min)(last * lanes, columns);
                for (; at.q + lanes <= stop; at.q += lanes) f(at, lanes);
                if (at.q < stop) f(at, static_cast<int>(stop - at.q));
            });
        };
        OutputCoord const first{0, k, 0, 0};
        States states = states_at<detail::Axis::pixel>(first, lanes);
        if constexpr (Steps::has_totals) {
            Total const total = merge_lanes<Total>(detail::pairwise(
                0, vectors, detail::addends,
                [&](std::int64_t begin, std::int64_t end) {
                    Accumulator accumulator{};
                    Vector count = Vector{} + static_cast<float>(end - begin);
                    each_vector(begin, begin + 1, [&](OutputCoord const& at, int used) {
                        Vector const values = value<detail::Axis::pixel>(at, used);
                        accumulator.start(first_lanes(used) ? values : Vector{} + values[0]);
                    });
                    each_vector(begin, end, [&](OutputCoord const& at, int used) {
                        if (used == lanes) return add<detail::Axis::pixel>(accumulator, at, used, states, true);
                        auto const counts = first_lanes(used);
                        add<detail::Axis::pixel>(accumulator, at, used, states, counts);
                        count -= counts ? Vector{} : Vector{} + 1.0f;
                    });
                    return accumulator.total(count);
                },
                detail::merged));
            Steps::save(total, first, bound.head);
            if constexpr (Steps::waits) {
                auto const prepared = finish(total, shape[0] * shape[2] * shape[3], first);
                for (int lane = 0; lane < lanes; ++lane) set_lane(states.prepared, lane, prepared);
            }
        }
        if constexpr (Steps::waits || !Steps::has_totals)
            each_vector(0, vectors,
                        [&](OutputCoord const& at, int used) { write<detail::Axis::pixel>(at, used, states); });
    }

    /// Totals strips, each of strip_vectors vectors of adjacent elements along `axis`, with one total per lane.
    template <detail::Axis axis>
    void strips(Device::RunContext& context) const {
        constexpr std::int64_t length = strip_vectors * lanes;
        std::int64_t const extent = axis == detail::Axis::channel ? shape[1] : shape[3],
                           pieces = detail::divide_up(extent, length);
        std::int64_t const lines = !Steps::per_pixel               ? 1
                                   : axis == detail::Axis::channel ? shape[2] * shape[3]
                                                                   : shape[1] * shape[2];
        context.parallel_for(lines * pieces, [&](std::int64_t item, int) {
            std::int64_t const line = item / pieces, begin = item % pieces * length;
            OutputCoord at{0, begin, 0, 0};
            if constexpr (axis == detail::Axis::pixel) at = {0, line / shape[2], line % shape[2], begin};
            else if constexpr (Steps::per_pixel) at = {0, begin, line / shape[3], line % shape[3]};
            strip<axis>(at, (min)(length, extent - begin));
        });
    }

    template <detail::Axis axis>
    void strip(OutputCoord const& first, std::int64_t elements) const {
        auto const each_vector = [&](OutputCoord const& begin, auto const& f) {
            for (std::int64_t i = 0; i < elements; i += lanes) {
                OutputCoord at = begin;
                (axis == detail::Axis::channel ? at.k : at.q) += i;
                f(at, i / lanes, static_cast<int>((min)(lanes, elements - i)));
            }
        };
        std::int64_t const columns = Steps::per_pixel ? 1 : shape[3], rows = Steps::per_pixel ? 1 : shape[2];
        std::int64_t const count = shape[0] * rows * columns;
        auto const each_value = [&](std::int64_t begin, std::int64_t end, auto const& f) {
            detail::each_row(begin, end, columns, [&](std::int64_t row, std::int64_t from, std::int64_t to) {
                OutputCoord at = first;
                at.n += row / rows, at.p += row % rows;
                for (at.q += from; from < to; ++from, ++at.q) each_vector(at, f);
            });
        };
        States states[strip_vectors];
        each_vector(first,
                    [&](OutputCoord const& at, std::int64_t v, int used) { states[v] = states_at<axis>(at, used); });
        if constexpr (Steps::has_totals) {
            struct Strip {
                Totals of[strip_vectors];
            };
            Strip const totals = detail::pairwise(
                0, count, detail::addends,
                [&](std::int64_t begin, std::int64_t end) {
                    Accumulator accumulator[strip_vectors] = {};
                    each_value(begin, begin + 1, [&](OutputCoord const& at, std::int64_t v, int used) {
                        accumulator[v].start(value<axis>(at, used));
                    });
                    each_value(begin, end, [&](OutputCoord const& at, std::int64_t v, int used) {
                        add<axis>(accumulator[v], at, used, states[v], true);
                    });
                    Strip strip;
                    for (std::int64_t v = 0; v * lanes < elements; ++v)
                        strip.of[v] = accumulator[v].total(Vector{} + static_cast<float>(end - begin));
                    return strip;
                },
                [&](Strip a, Strip const& b) {
                    for (std::int64_t v = 0; v * lanes < elements; ++v) a.of[v] = merge(a.of[v], b.of[v]);
                    return a;
                });
            each_vector(first, [&](OutputCoord const& at, std::int64_t v, int used) {
                for (int lane = 0; lane < used; ++lane) {
                    OutputCoord coord = at;
                    (axis == detail::Axis::channel ? coord.k : coord.q) += lane;
                    auto const total = of_lane<Total>(totals.of[v], lane);
                    Steps::save(total, coord, bound.head);
                    if constexpr (Steps::waits) set_lane(states[v].prepared, lane, finish(total, count, coord));
                }
            });
        }
        if constexpr (Steps::waits || !Steps::has_totals)
            each_value(0, count,
                       [&](OutputCoord const& at, std::int64_t v, int used) { write<axis>(at, used, states[v]); });
    }

    auto finish(Total const& total, std::int64_t count, OutputCoord const& at) const {
        return Steps::finish(total, count, Steps::prepare(at, bound.head), at, bound.head);
    }

    /// Adds those of a vector's values for which the mask `counts` is true to the accumulator; if the head's results do
    /// not wait for totals, also writes the results.
    template <detail::Axis axis>
    void add(Accumulator& accumulator, OutputCoord const& at, int used, States const& states, auto counts) const {
        Vector const values = value<axis>(at, used);
        Steps::add(accumulator, values, operand<axis>(at, used), LaneCoord<axis>{at, used, shape[3]}, states.head,
                   bound.head, counts);
        if constexpr (!Steps::waits) write<axis>(at, used, states);
    }

    template <detail::Axis axis>
    void write(OutputCoord const& at, int used, States const& states) const {
        LaneCoord<axis> const coord{at, used, shape[3]};
        Vector const result = Steps::apply(value<axis>(at, used), operand<axis>(at, used), coord, states.head,
                                           states.prepared, bound.head);
        store(&y(at.n, at.k, at.p, at.q), y.layout.stride[axis == detail::Axis::channel ? 1 : 3], used,
              Epilogue::apply(result, coord, states.epilogue, bound.epilogue));
    }

    template <detail::Axis axis>
    Vector value(OutputCoord const& at, int used) const {
        return load(&x(at.n, at.k, at.p, at.q), x.layout.stride[axis == detail::Axis::channel ? 1 : 3], used);
    }
    template <detail::Axis axis>
    Vector operand(OutputCoord const& at, int used) const {
        if constexpr (Steps::has_operand) return LaneCoord<axis>{at, used, shape[3]}.load(bound.head.x);
        else return Vector{};
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
