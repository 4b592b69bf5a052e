// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/schedule/conv_case.hpp"
#include "fusekit/backend/hip/schedule/facts.hpp"
#include "fusekit/backend/hip/tuning/cost.hpp"

namespace fusekit::hip::detail {

FUSEKIT_H inline std::int64_t count_tiles(ScheduleFacts const& schedule, Product const& of) {
    return divide_up(of.m, schedule.m) * divide_up(of.n, schedule.n) * of.groups;
}

/// Rounds of `tiles` tiles. A partly filled round after the first counts at least `least`: idle processors leave it the
/// cache, and the latency of the kernel's first loads and last stores is exposed in any case.
FUSEKIT_H inline double rounds_of(std::int64_t tiles, int processors, double least) {
    std::int64_t const whole = tiles / processors, left = tiles % processors;
    if (whole == 0) return 1;
    double const share = static_cast<double>(left) / processors;
    return static_cast<double>(whole) + (left > 0 ? least + (1 - least) * share : 0);
}

/// Time of an implicit GEMM with a schedule, or of one CTA's part of its GemmK.
struct PartTime {
    ScheduleFacts const& schedule;
    ConvCase const& of;
    CostTable const& table;
    GpuRates const& rates;
    Costs const& costs;
    double products;  ///< per processor and cycle
    Walk (*walk_of)(PartTime const&, Product const&);

    FUSEKIT_H Estimate operator()(Product const& part, double exchanges = 0) const {
        Walk walk = walk_of(*this, part);
        walk.exchanges = exchanges;
        return estimate(walk, costs, of.product.bytes, table, rates);
    }
};

/// True if a group has too few channels for matrix units. On an H100 32 groups of 8 channels take 1.28 times as long on
/// sm_90a's matrix units as on the common instructions; 8 channels without groups take half of the time.
FUSEKIT_H inline bool has_small_groups(ConvCase const& of) {
    return of.product.groups > 1 && of.product.n < least_matrix_channels;
}

}  // namespace fusekit::hip::detail
