// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/collective/row_exchange.hpp"
#include "fusekit/backend/hip/collective/thread_packets.hpp"
#include "fusekit/backend/hip/row_params.hpp"

namespace fusekit::hip {

/// Plan whose head is a RowOp over the contiguous channels of a pixel, for rows that fit the registers of a CTA, with
/// an epilogue whose results depend on the channel alone: `params.group` threads reduce a row and hold up to `resident`
/// packets each. A CTA reduces its rows one after another, and loads a row's packets before it reduces the row before
/// it. A thread has the same channels in all its rows, and keeps their parameters in registers.
template <class Plan, Element T, detail::OutputElement U, int lanes, int resident>
class ResidentRows {
    using Op = typename Plan::Head;
    using Steps = detail::RowSteps<Op>;
    using Epilogue = typename Plan::Epilogue;
    using Row = typename Steps::template Row<float>;

public:
    static constexpr int threads = 512, blocks = 2;
    static constexpr bool waits_for_previous_kernel = true;
    static constexpr unsigned max_packets = threads * resident;  ///< packets of a row
    using Params = RowParams<Plan, T, U>;

    struct Shared {
        RowExchange<threads, 1> centers, sums;
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        wait_for_previous_kernel();
        ResidentRows const self(params, shared, thread);
        States states[resident][lanes];
#pragma unroll
        for (int i = 0; i < resident; ++i)
            if (self.own.has(i)) self.prepare(self.own.channel(i), states[i]);
        unsigned const rows_of_cta = blockDim.x / params.group, step = gridDim.x * rows_of_cta;
        unsigned first = block * rows_of_cta;  // the CTA's first row of this pass
        Values values = self.load(first + self.own.own);
        for (; first < params.rows; first += step) {
            Values const next = self.load(first + step + self.own.own);
            self.reduce(first + self.own.own, values, states);
            values = next;
        }
    }

private:
    struct Values {
        Packet<T, lanes> packets[resident];
    };
    struct States {
        typename Steps::States::PixelState head;
        typename Epilogue::PixelState epilogue;
    };

    Params const& params;
    Shared& shared;
    unsigned const thread;
    ThreadPackets<lanes> const own;

    __device__ ResidentRows(Params const& the_params, Shared& the_shared, unsigned the_thread)
        : params(the_params),
          shared(the_shared),
          thread(the_thread),
          own(the_params.group, the_params.packets, the_thread) {}

    template <class View>
    __device__ std::int64_t offset(View const& view, unsigned row) const {
        return offset_of_row(view, row, params.of_image, params.columns);
    }

    __device__ void prepare(std::int64_t channel, States (&states)[lanes]) const {
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            OutputCoord const at{0, channel + lane, 0, 0};
            states[lane] = {Steps::States::prepare(at, Steps::state_args(params.bound.head)),
                            Epilogue::prepare(at, params.bound.epilogue)};
        }
    }

    /// This thread's packets of a row; zeros where there are none.
    __device__ Values load(unsigned row) const {
        Values values{};
        if (row >= params.rows) return values;
        T const* const x = params.x.data + offset(params.x, row);
#pragma unroll
        for (int i = 0; i < resident; ++i)
            if (own.has(i)) values.packets[i] = *reinterpret_cast<Packet<T, lanes> const*>(x + own.channel(i));
        return values;
    }

    __device__ __forceinline__ void reduce(unsigned number, Values const& values,
                                           States const (&states)[resident][lanes]) const {
        auto const& bound = params.bound;
        bool const exists = number < params.rows;
        auto const each = [&](auto const& f) {
#pragma unroll
            for (int i = 0; i < resident; ++i)
                if (exists && own.has(i))
#pragma unroll
                    for (int lane = 0; lane < lanes; ++lane) f(static_cast<float>(values.packets[i].values[lane]));
        };
        auto const merge = [](float a, float b) { return Steps::merge_centers(a, b); };
        auto const add = [](float a, float b) { return a + b; };
        float center[1] = {}, sum[1] = {};
        if constexpr (Steps::has_center) {
            center[0] = Steps::template neutral_center<float>();
            each([&](float x) { center[0] = merge(center[0], x); });
            shared.centers.merge(center, merge, params.group, thread);
            center[0] = Steps::center_of(center[0], params.count);
        }
        each([&](float x) { sum[0] += Op::term(x, center[0]); });
        shared.sums.merge(sum, add, params.group, thread);
        Row const row = Op::finish(center[0], sum[0], params.count, bound.head);
        if constexpr (!Steps::has_center)
            if (params.group > decltype(shared.sums)::wave) __syncthreads();  // the next row's sums reuse shared.sums
        if (!exists) return;
        U* const to = params.y.data + offset(params.y, number);
#pragma unroll
        for (int i = 0; i < resident; ++i) {
            if (!own.has(i)) continue;
            Packet<U, lanes> results;
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) {
                OutputCoord const at{0, own.channel(i) + lane, 0, 0};
                float const y = Steps::apply(static_cast<float>(values.packets[i].values[lane]), row, at,
                                             states[i][lane].head, bound.head);
                results.values[lane] = U(Epilogue::apply(y, at, states[i][lane].epilogue, bound.epilogue));
            }
            if constexpr (Element<U>) store_once(reinterpret_cast<Packet<U, lanes>*>(to + own.channel(i)), results);
        }
    }
};

}  // namespace fusekit::hip
