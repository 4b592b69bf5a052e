// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/processor.hpp"
#include "fusekit/backend/hip/launch.hpp"
#include "fusekit/backend/hip/schedule.hpp"

namespace fusekit::hip {

template <class... Schedules>
struct Table {};

/// The tiles that convolutions are cut into; a plan is compiled once for each of them. Long steps along GemmK pay where
/// shared memory holds the buffers of many blocks; AMD's does not.
using GemmTable =
    std::conditional_t<(processor_shared_memory > 128 * 1024), Table<Gemm<128, 64, 16, 4>, Gemm<64, 64, 16, 6>>,
                       Table<Gemm<128, 128, 8, 2>, Gemm<64, 64, 8, 6>>>;

/// The time that a product of m x n takes on the processor with the most tiles, in units of no matter. With few waves
/// to change between, a processor waits: r(w) = w / (w + 4) fits what an H200 did with 6, 8 and 12 of them.
template <class Schedule>
double gemm_time(std::int64_t m, std::int64_t n, std::int64_t groups, int processors) {
    std::int64_t const tiles = divide_up(m, Schedule::tile_m) * divide_up(n, Schedule::tile_n) * groups;
    std::int64_t const most = divide_up(tiles, processors), at_once = most < Schedule::blocks ? most : Schedule::blocks;
    double const waves = static_cast<double>(at_once) * Schedule::threads / 32;
    double const load_cost = 1 + 16.0 / Schedule::tile_m + 16.0 / Schedule::tile_n;
    return static_cast<double>(most) * Schedule::tile_m * Schedule::tile_n * load_cost * (waves + 4) / waves;
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
using DefaultDirect = Direct<256>;

/// The more parameters a thread prepares, the more steps they are worth: those of every place, or of eight channels.
template <Element T, bool placewise>
inline constexpr int stream_walks = sizeof(T) == 4 ? (placewise ? 8 : 4) : (placewise ? 32 : 8);
template <Element T, bool placewise>
using DefaultStream = Stream<256, stream_bytes(sizeof(T)), stream_walks<T, placewise>, stream_unroll,
                             placewise && sizeof(T) == 4 ? 4 : 5>;

/// Threads that keep a processor's share of memory busy: small tensors are cut for as many.
inline constexpr std::int64_t busy_threads = 1024;

}  // namespace fusekit::hip
