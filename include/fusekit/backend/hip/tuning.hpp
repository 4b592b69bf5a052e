// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/launch.hpp"
#include "fusekit/backend/hip/schedule.hpp"

namespace fusekit::hip {

template <class... Schedules>
struct Table {};

/// The tiles that convolutions are cut into, and the products a processor forms in a unit of time with each once it
/// holds as many blocks as it is meant to. A plan is compiled once for each of them.
using GemmTable = Table<Gemm<128, 128, 8, 2>, Gemm<64, 64, 8, 6>>;

template <class Schedule>
inline constexpr double gemm_rate = Schedule::tile_m == 128 ? 1.0 : 0.9;

/// The time that a product of m x n takes: the processor with the most tiles works through them.
template <class Schedule>
double gemm_time(std::int64_t m, std::int64_t n, std::int64_t groups, int processors) {
    std::int64_t const tiles = divide_up(m, Schedule::tile_m) * divide_up(n, Schedule::tile_n) * groups;
    double const area = 1.0 * Schedule::tile_m * Schedule::tile_n;
    return static_cast<double>(divide_up(tiles, processors)) * area / gemm_rate<Schedule>;
}

/// Calls f(Schedule{}) with the schedule of the table that takes least time.
template <class... Schedules, class F>
void with_fastest(Table<Schedules...>, std::int64_t m, std::int64_t n, std::int64_t groups, int processors, F f) {
    double const times[] = {gemm_time<Schedules>(m, n, groups, processors)...};
    int best = 0, at = 0;
    for (int i = 1; i < static_cast<int>(sizeof...(Schedules)); ++i)
        if (times[i] < times[best]) best = i;
    ((at++ == best ? f(Schedules{}) : void()), ...);
}

/// Groups with at most so many output channels leave most of a tile empty: they run without one.
inline constexpr std::int64_t thin_group = 4;
using ThinSchedule = Direct<256>;

/// A processor's threads with 16 bytes each, times the loads in flight, are more than its share of memory's bandwidth
/// times its latency.
using DefaultStream = Stream<256, 16, 4>;
inline constexpr std::int64_t stream_threads = 1024;

}  // namespace fusekit::hip
