// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/collective/channel_partials.hpp"
#include "fusekit/backend/hip/collective/row_exchange.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// Gradient of a plan whose first operator is a RowOp, for any layout: a CTA reduces one row at a time, whose packets
/// of `lanes` elements are contiguous along `axis`, and reads it in four passes: center, sum, sums of its gradients
/// with the totals of its channels, dx. Its threads form a matrix: columns are packets of channels or, along pixels,
/// channels. The sum of a thread's column is merged over the column's threads and added to a set in workspace; after a
/// barrier of the grid the sets are merged. All sums are in a fixed order.
template <class Plan, Element T, detail::OutputElement U, int lanes, detail::Axis axis>
class RowGradient {
    using Steps = detail::RowGradientSteps<typename Plan::Head>;
    using Op = typename Steps::Op;
    using RowSteps = detail::RowSteps<Op>;
    using Row = typename Op::template Row<float>;
    using Total = typename Steps::template Total<float>;
    using PixelState = typename Steps::States::PixelState;
    using Partials = ChannelPartials<Plan>;
    static constexpr bool along_channels = axis == detail::Axis::channel;
    static constexpr unsigned own = along_channels ? lanes : 1;  ///< channels of a packet

public:
    static constexpr int threads = 256, blocks = Steps::States::located ? 1 : 2;  // 2 spills with located operators
    using Params = RowGradientParams<Plan, T, U>;

    struct Shared {
        RowExchange<threads, 1> centers, sums;
        RowExchange<threads, 2> gradient_sums;
        float totals[threads * own * Partials::words];
        bool is_last;
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        for (unsigned item = block; item < params.groups * params.sets; item += gridDim.x) {
            unsigned const set = item / params.groups, group = item - set * params.groups;
            for (unsigned row = set; row < params.rows; row += params.sets)
                RowGradient(params, shared, thread, group, row).reduce(set);
        }
        if constexpr (Steps::has_totals)
            if (params.saves_totals) {
                GridGroup(params.workspace.state(0), gridDim.x, thread, shared.is_last).arrive_and_wait([] {});
                Partials(params).template save_all<threads>(params.bound.head, shared.totals, thread, block, gridDim.x);
            }
    }

private:
    Params const& params;
    Shared& shared;
    unsigned const thread, column, row, rows;  ///< this thread's column and row of threads; number of rows of threads
    OutputCoord first;

    __device__ RowGradient(Params const& the_params, Shared& the_shared, unsigned the_thread, unsigned group,
                           unsigned row_of_group)
        : params(the_params),
          shared(the_shared),
          thread(the_thread),
          column(the_thread % the_params.width),
          row(the_thread / the_params.width),
          rows(threads / the_params.width),
          first{row_of_group, std::int64_t{group} * the_params.channels, 0, 0} {
        if constexpr (!Op::over_pixels) {
            unsigned const image = params.of_plane.divide(row_of_group),
                           pixel = row_of_group - image * params.of_plane.value();
            first.n = image, first.p = params.of_line.divide(pixel);
            first.q = pixel - static_cast<unsigned>(first.p) * params.of_line.value();
        }
    }

    /// Coordinate of element `lane` of packet `step` of a column.
    __device__ OutputCoord coord(unsigned at_column, unsigned step, int lane) const {
        OutputCoord at = first;
        at.k += std::int64_t{at_column} * own + (along_channels ? lane : 0);
        if constexpr (Op::over_pixels) {
            unsigned const pixel = along_channels ? step : step * lanes + static_cast<unsigned>(lane),
                           p = params.of_line.divide(pixel);
            at.p = p, at.q = pixel - p * params.of_line.value();
        }
        return at;
    }
    template <class V, class View>
    __device__ static auto* packet_at(View const& view, OutputCoord const& at) {
        return reinterpret_cast<V*>(view.data + view.layout.offset({{at.n, at.k, at.p, at.q}}));
    }
    __device__ static Packet<T, lanes> load(TensorView<T const> const& view, OutputCoord const& at) {
        return *packet_at<Packet<T, lanes> const>(view, at);
    }

    /// Calls f(column, step, coordinate of the packet) for the thread's packets of its column in the block of columns
    /// that begins at `begin`.
    template <class F>
    __device__ void each_of_column(unsigned begin, F const& f) const {
        unsigned const at_column = begin + column;
        if (at_column >= params.columns) return;
        for (unsigned step = row; step < params.steps; step += rows) f(at_column, step, coord(at_column, step, 0));
    }
    template <class F>
    __device__ void each(F const& f) const {
        for (unsigned begin = 0; begin < params.columns; begin += params.width) each_of_column(begin, f);
    }

    __device__ void prepare(unsigned at_column, PixelState (&states)[own]) const {
#pragma unroll
        for (unsigned i = 0; i < own; ++i)
            states[i] = Steps::Steps::prepare(coord(at_column, 0, static_cast<int>(i)), params.bound.head);
    }

    __device__ void reduce(unsigned set) const {
        auto const& args = params.bound.head;
        auto const merge = [](float a, float b) { return RowSteps::merge_centers(a, b); };
        auto const add = [](float a, float b) { return a + b; };
        float center[1] = {}, sum[1] = {}, sums[2] = {};
        if constexpr (RowSteps::has_center) {
            center[0] = RowSteps::template neutral_center<float>();
            each([&](unsigned, unsigned, OutputCoord const& at) {
                Packet<T, lanes> const x = load(params.forward_x, at);
#pragma unroll
                for (int lane = 0; lane < lanes; ++lane)
                    center[0] = merge(center[0], static_cast<float>(x.values[lane]));
            });
            shared.centers.merge(center, merge, threads, thread);
            center[0] = RowSteps::center_of(center[0], params.count);
        }
        each([&](unsigned, unsigned, OutputCoord const& at) {
            Packet<T, lanes> const x = load(params.forward_x, at);
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) sum[0] += Op::term(static_cast<float>(x.values[lane]), center[0]);
        });
        shared.sums.merge(sum, add, threads, thread);
        Row const of_row = Op::finish(center[0], sum[0], params.count, Steps::row_args(args));
        for (unsigned begin = 0; begin < params.columns; begin += params.width) {
            Total totals[own] = {};
            PixelState states[own];
            if (begin + column < params.columns) prepare(begin + column, states);
            each_of_column(begin, [&](unsigned at_column, unsigned step, OutputCoord const& at) {
                Packet<T, lanes> const x = load(params.forward_x, at), dy = load(params.x, at);
#pragma unroll
                for (int lane = 0; lane < lanes; ++lane) {
                    unsigned const i = along_channels ? static_cast<unsigned>(lane) : 0;
                    Steps::add(totals[i], sums[0], sums[1], static_cast<float>(dy.values[lane]),
                               static_cast<float>(x.values[lane]), of_row, coord(at_column, step, lane), states[i],
                               args);
                }
            });
            if constexpr (Steps::has_totals)
                if (params.saves_totals) put(begin + column, set, totals);
        }
        shared.gradient_sums.merge(sums, add, threads, thread);
        typename Steps::template State<float> const state{of_row, {sums[0], sums[1], params.count}};
        PixelState states[own];
        unsigned prepared = params.columns;  // column of `states`
        each([&](unsigned at_column, unsigned step, OutputCoord const& at) {
            if (at_column != prepared) prepare(prepared = at_column, states);
            Packet<T, lanes> const x = load(params.forward_x, at), dy = load(params.x, at);
            Packet<U, lanes> results;
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane)
                results.values[lane] =
                    U(Steps::apply(static_cast<float>(dy.values[lane]), static_cast<float>(x.values[lane]), state,
                                   coord(at_column, step, lane), states[along_channels ? lane : 0], args));
            if constexpr (Element<U>) *packet_at<Packet<U, lanes>>(params.y, at) = results;
        });
    }

    /// Adds the totals of the CTA's threads of a column to its set.
    __device__ void put(unsigned at_column, unsigned set, Total (&totals)[own]) const {
        Total::combine(totals, [&](auto& values) { Rows{threads, params.width, thread}.sum(values, shared.totals); });
        if (row > 0 || at_column >= params.columns) return;
        bool const is_first = Op::over_pixels ? first.n == set : is_first_of_set(set);
#pragma unroll
        for (unsigned i = 0; i < own; ++i)
            Partials(params).add(set, static_cast<unsigned>(first.k) + at_column * own + i, totals[i], is_first);
    }
    __device__ bool is_first_of_set(unsigned set) const {
        auto const n = static_cast<unsigned>(first.n), p = static_cast<unsigned>(first.p),
                   q = static_cast<unsigned>(first.q);
        return n * params.of_plane.value() + p * params.of_line.value() + q == set;
    }
};

}  // namespace fusekit::hip
