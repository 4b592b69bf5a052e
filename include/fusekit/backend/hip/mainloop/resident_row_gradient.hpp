// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/collective/channel_partials.hpp"
#include "fusekit/backend/hip/collective/row_exchange.hpp"
#include "fusekit/backend/hip/collective/thread_packets.hpp"

namespace fusekit::hip {

/// Gradient of a plan whose first operator is a RowOp over the contiguous channels of a pixel, for rows that fit the
/// registers of a CTA: x and dy are read once. `params.group` threads reduce a row and hold up to `resident` packets of
/// x and of dy each; a CTA reduces its rows one after another. The rows of each tensor are equidistant.
///
/// A thread has the same channels in all its rows, and keeps their totals in registers. After the last row, totals are
/// merged over the groups of threads of the CTA in SMEM, over the CTAs of a cluster in DSMEM, and over clusters in
/// workspace, where each cluster has a set: by the cluster that arrives last or, without clusters, by all CTAs after a
/// barrier of the grid. The order of all sums depends on the shape and the GPU alone.
template <class Plan, Element T, detail::OutputElement U, int lanes, int resident>
class ResidentRowGradient {
    using Steps = detail::RowGradientSteps<typename Plan::Head>;
    using Op = typename Steps::Op;
    using RowSteps = detail::RowSteps<Op>;
    using Row = typename Op::template Row<float>;
    using Total = typename Steps::template Total<float>;
    using PixelState = typename Steps::States::PixelState;
    using Partials = ChannelPartials<Plan>;
    static constexpr bool has_totals = Steps::has_totals;

public:
    static constexpr int threads = 512, blocks = has_totals && resident > 1 ? 1 : 2;
    static constexpr bool waits_for_previous_kernel = true;
    static constexpr unsigned max_packets = threads * resident;  ///< packets of a row
    using Params = RowGradientParams<Plan, T, U>;

    struct DynamicShared {
        RowExchange<threads, 1> centers, sums;
        RowExchange<threads, 2> gradient_sums;
        Packet<float, 4> arrival;  ///< the first element: 1 in the cluster that arrives last
        bool is_last;
        /// totals of the CTA's channels: word by word
        alignas(16) float totals[has_totals ? max_packets * lanes * Partials::words : 4];
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        wait_for_previous_kernel();
        ResidentRowGradient const self(params, shared, thread);
        Total totals[resident][lanes] = {};
        PixelState states[resident][lanes];
#pragma unroll
        for (int i = 0; i < resident; ++i)
            if (self.own.has(i))
#pragma unroll
                for (int lane = 0; lane < lanes; ++lane)
                    states[i][lane] = Steps::Steps::prepare({0, self.own.channel(i) + lane, 0, 0}, params.bound.head);
        unsigned const rows_of_cta = threads / params.group, step = gridDim.x * rows_of_cta;
        unsigned first = block * rows_of_cta;  // the CTA's first row of this pass
        for (; first < params.rows; first += step)
            self.reduce(first + self.own.own, self.load(first + self.own.own), states, totals);
        if constexpr (has_totals)
            if (params.saves_totals) self.save(totals, block);
    }

private:
    Params const& params;
    DynamicShared& shared;
    unsigned const thread;
    ThreadPackets<lanes> const own;

    struct Values {
        Packet<T, lanes> x[resident], dy[resident];
    };

    __device__ ResidentRowGradient(Params const& the_params, DynamicShared& the_shared, unsigned the_thread)
        : params(the_params),
          shared(the_shared),
          thread(the_thread),
          own(the_params.group, the_params.columns, the_thread) {}

    /// Offset in a view of row `number`: rows are equidistant.
    template <class View>
    __device__ static std::int64_t offset(View const& view, unsigned number) {
        return number * view.layout.stride[3];
    }
    /// This thread's packets of a row; zeros where there are none.
    __device__ Values load(unsigned row) const {
        Values values{};
        if (row >= params.rows) return values;
        T const* const x = params.forward_x.data + offset(params.forward_x, row);
        T const* const dy = params.x.data + offset(params.x, row);
#pragma unroll
        for (int i = 0; i < resident; ++i)
            if (own.has(i)) {
                values.x[i] = *reinterpret_cast<Packet<T, lanes> const*>(x + own.channel(i));
                values.dy[i] = *reinterpret_cast<Packet<T, lanes> const*>(dy + own.channel(i));
            }
        return values;
    }

    __device__ __forceinline__ void reduce(unsigned number, Values const& values,
                                           PixelState const (&states)[resident][lanes],
                                           Total (&totals)[resident][lanes]) const {
        auto const& args = params.bound.head;
        bool const exists = number < params.rows;
        auto const each = [&](auto const& f) {
#pragma unroll
            for (int i = 0; i < resident; ++i)
                if (exists && own.has(i))
#pragma unroll
                    for (int lane = 0; lane < lanes; ++lane) f(i, lane);
        };
        auto const x = [&](int i, int lane) { return static_cast<float>(values.x[i].values[lane]); };
        auto const dy = [&](int i, int lane) { return static_cast<float>(values.dy[i].values[lane]); };
        auto const merge = [](float a, float b) { return RowSteps::merge_centers(a, b); };
        auto const add = [](float a, float b) { return a + b; };
        float center[1] = {}, sum[1] = {}, sums[2] = {};
        if constexpr (RowSteps::has_center) {
            center[0] = RowSteps::template neutral_center<float>();
            each([&](int i, int lane) { center[0] = merge(center[0], x(i, lane)); });
            shared.centers.merge(center, merge, params.group, thread);
            center[0] = RowSteps::center_of(center[0], params.count);
        }
        each([&](int i, int lane) { sum[0] += Op::term(x(i, lane), center[0]); });
        shared.sums.merge(sum, add, params.group, thread);
        Row const row = Op::finish(center[0], sum[0], params.count, Steps::row_args(args));
        each([&](int i, int lane) {
            Steps::add(totals[i][lane], sums[0], sums[1], dy(i, lane), x(i, lane), row,
                       OutputCoord{0, own.channel(i) + lane, 0, 0}, states[i][lane], args);
        });
        shared.gradient_sums.merge(sums, add, params.group, thread);
        typename Steps::template State<float> const state{row, {sums[0], sums[1], params.count}};
        if (!exists) return;
        U* const to = params.y.data + offset(params.y, number);
#pragma unroll
        for (int i = 0; i < resident; ++i) {
            if (!own.has(i)) continue;
            Packet<U, lanes> results;
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane)
                results.values[lane] =
                    U(Steps::apply(dy(i, lane), x(i, lane), state, OutputCoord{0, own.channel(i) + lane, 0, 0},
                                   states[i][lane], args));
            if constexpr (Element<U>) store_once(reinterpret_cast<Packet<U, lanes>*>(to + own.channel(i)), results);
        }
    }

    /// Merges the totals of all CTAs and saves them. All threads of all CTAs call it.
    __device__ void save(Total const (&totals)[resident][lanes], unsigned block) const {
        unsigned const cluster = params.cluster, rank = block & (cluster - 1), set = block / cluster;
        for (unsigned group = 0; group < threads / params.group; ++group) {
            if (group == own.own)
#pragma unroll
                for (int i = 0; i < resident; ++i)
                    if (own.has(i))
#pragma unroll
                        for (int lane = 0; lane < lanes; ++lane)
#pragma unroll
                            for (unsigned word = 0; word < Partials::words; ++word) {
                                float& to = shared.totals[word * params.channels + own.channel(i) + lane];
                                to = (group > 0 ? to : 0) + totals[i][lane].value[word];
                            }
            __syncthreads();
        }
        if (cluster > 1) cluster_barrier();
        Partials const partials(params);
        auto* const of_block = reinterpret_cast<Packet<float, 4>*>(shared.totals);
        for (unsigned i = rank * threads + thread; i < params.channels * Partials::words / 4; i += cluster * threads) {
            Packet<float, 4> sum = of_block[i];
            if (cluster > 1) {
                sum = load_of_block(of_block + i, 0);
                for (unsigned other = 1; other < cluster; ++other) {
                    Packet<float, 4> const more = load_of_block(of_block + i, other);
#pragma unroll
                    for (int lane = 0; lane < 4; ++lane) sum.values[lane] += more.values[lane];
                }
            }
            partials.store(set, i, sum);
        }
        if (cluster == 1) {
            GridGroup(params.workspace.state(0), gridDim.x, thread, shared.is_last).arrive_and_wait([] {});
            partials.template save_all<threads>(params.bound.head, shared.totals, thread, block, gridDim.x);
            return;
        }
        cluster_barrier();  // the cluster's partial totals are in workspace, and no CTA reads this one's SMEM
        if (rank == 0) {
            bool const is_last =
                is_last_block(&params.workspace.state(0)->arrived, params.sets, thread, shared.is_last);
            if (thread == 0) {
                shared.arrival.values[0] = is_last ? 1.0f : 0.0f;
                if (is_last) params.workspace.state(0)->arrived = 0;
            }
        }
        cluster_barrier();
        bool const is_last = load_of_block(&shared.arrival, 0).values[0] > 0;
        cluster_barrier();  // no CTA reads the first one's SMEM
        if (is_last) partials.template save_all<threads>(params.bound.head, shared.totals, thread, rank, cluster);
    }
};

}  // namespace fusekit::hip
