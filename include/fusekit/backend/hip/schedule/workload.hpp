// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/schedule/conv_case.hpp"
#include "fusekit/backend/hip/schedule/facts.hpp"
#include "fusekit/backend/hip/tuning/cost.hpp"

namespace fusekit::hip::detail {

FUSEKIT_H constexpr std::int64_t count_tiles(ScheduleFacts const& schedule, Product const& of) {
    return divide_up(of.m, schedule.m) * divide_up(of.n, schedule.n) * of.groups;
}

/// Number of rounds of `tiles` tiles on `processors` SMs; in a round each SM computes a tile. A partly filled last
/// round counts as a fraction of a round, from `least` to 1: idle SMs leave L2 bandwidth to the others, but the latency
/// of the kernel's first loads and last stores remains.
FUSEKIT_H constexpr double rounds_of(std::int64_t tiles, int processors, double least) {
    std::int64_t const whole = tiles / processors, remaining = tiles % processors;
    if (whole == 0) return 1;
    double const share = static_cast<double>(remaining) / processors;
    return static_cast<double>(whole) + (remaining > 0 ? least + (1 - least) * share : 0);
}

/// Function object that returns the estimated time of a schedule for a GEMM or, with split-K, for one CTA's range of
/// GemmK.
struct PartTime {
    ScheduleFacts const& schedule;
    ConvCase const& of;
    CostTable const& table;
    GpuRates const& rates;
    Costs const& costs;
    double products;  ///< multiply-adds per SM and cycle
    Workload (*workload_of)(PartTime const&, Product const&);

    FUSEKIT_H constexpr Estimate operator()(Product const& part, double exchanges = 0) const {
        Workload workload = workload_of(*this, part);
        workload.exchanges = exchanges;
        return estimate(workload, costs, of.product.bytes, table, rates);
    }
};

}  // namespace fusekit::hip::detail
