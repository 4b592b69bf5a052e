// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/schedule/entry.hpp"

namespace fusekit::hip {

/// Schedule of a direct convolution: a thread computes one output. For groups of few channels, for small depthwise
/// convolutions whose filter has no unrolled code, and for operands whose offsets exceed 32 bits.
template <int Threads = 256>
struct Direct {
    static constexpr int threads = Threads, blocks = 2, outputs = 1;
};

template <class Schedule>
concept DirectSchedule = HasBlocks<Schedule> && requires { Schedule::outputs; };

/// Work of one output per thread, whose multiply-adds are sequential, for the cost model.
FUSEKIT_H constexpr Workload direct_workload(double outputs, std::int64_t gemm_k, GpuRates const& rates) {
    return {
        .rounds = 1, .steps = static_cast<double>(gemm_k), .arithmetic = outputs / rates.processors / rates.products};
}

/// Entry of Direct in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct DirectEntry : ConvEntry {
    static constexpr char const* name = "Direct";

    template <class Schedule>
    static constexpr bool describes = DirectSchedule<Schedule>;

    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            return true;
        }
    };
    template <class Schedule>
    static constexpr ScheduleFacts facts{.m = Schedule::threads};
    FUSEKIT_H static Text written(ScheduleFacts const& of) { return "Direct<" + detail::list_of(of.m) + ">"; }

    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const&, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        return estimate(direct_workload(static_cast<double>(of.product.m * of.product.n * of.product.groups),
                                        of.product.gemm_k, rates),
                        table.direct, of.product.bytes, table, rates);
    }
};

}  // namespace fusekit::hip
