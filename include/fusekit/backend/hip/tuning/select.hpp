// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/processor.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/schedule.hpp"

namespace fusekit::hip {

template <class... Schedules>
struct Table {};

/// The tiles that convolutions are cut into; a plan is compiled once for each of them. Long steps along GemmK pay where
/// shared memory holds the buffers of many blocks; AMD's does not.
using GemmTable =
    std::conditional_t<(processor_shared_memory > 128 * 1024), Table<Gemm<128, 64, 16, 3>, Gemm<64, 64, 16, 6>>,
                       Table<Gemm<128, 128, 8, 2>, Gemm<64, 64, 8, 6>>>;

/// The time that a product of m x n takes on the processor with the most tiles, in units of no matter. Its threads, all
/// with the same work, are dealt in waves of 32 to four schedulers, of which the one with the most waves ends last.
/// With few to change between, a scheduler waits: w / (w + 1) fits what an H200 did with 2 and 3 of them.
template <class Schedule>
double gemm_time(std::int64_t m, std::int64_t n, std::int64_t groups, int processors) {
    std::int64_t const tiles = divide_up(m, Schedule::tile_m) * divide_up(n, Schedule::tile_n) * groups;
    std::int64_t const most = divide_up(tiles, processors), at_once = most < Schedule::blocks ? most : Schedule::blocks;
    double const in_all = static_cast<double>(divide_up(most * Schedule::threads, 4 * 32));
    double const waves = static_cast<double>(divide_up(at_once * Schedule::threads, 4 * 32));
    double const load_cost = 1 + 16.0 / Schedule::tile_m + 16.0 / Schedule::tile_n;
    return in_all * load_cost * (waves + 1) / waves;
}

/// f(Schedule{}) of a table's schedule with this number.
template <class First, class... Rest, class F>
auto with_schedule(Table<First, Rest...>, int number, F f) {
    if constexpr (sizeof...(Rest) > 0)
        if (number > 0) return with_schedule(Table<Rest...>{}, number - 1, f);
    return f(First{});
}

/// f(Schedule{}) of the schedule of the table that takes least time.
template <class... Schedules, class F>
auto with_fastest(Table<Schedules...> table, std::int64_t m, std::int64_t n, std::int64_t groups, int processors, F f) {
    double const times[] = {gemm_time<Schedules>(m, n, groups, processors)...};
    int best = 0;
    for (int i = 1; i < static_cast<int>(sizeof...(Schedules)); ++i)
        if (times[i] < times[best]) best = i;
    return with_schedule(table, best, f);
}

/// Groups with at most so many output channels leave most of a tile empty: they run without one.
inline constexpr std::int64_t direct_max_group_channels = 4;
using DefaultDirect = Direct<256>;

/// The wider of the types of x and y. A packet has as many elements as one access has of it, so that x is loaded and y
/// stored by one access each, of which one may have fewer bytes than the schedule says.
template <Element T, OutputElement U>
using Wider = std::conditional_t<(sizeof(U) > sizeof(T)), U, T>;

/// What a thread loads at once: 16 bytes, or the eight elements that it has registers for.
template <Element T>
inline constexpr int packet_bytes = sizeof(T) == 1 ? 8 : 16;

/// How a plan without a Conv is cut. Few registers, many threads and one load of each come closest to the speed of a
/// copy: memory is slower with more in flight. Parameters of every place need registers and are worth more steps, as do
/// places that are stored to beside y. AMD's waves take four elements at a time, two loads ahead.
template <Element T, bool placewise, bool stores = false>
using DefaultElementwise = std::conditional_t<
    (processor_shared_memory > 128 * 1024),
    std::conditional_t<stores, Elementwise<128, 4 * sizeof(T), 4, 1, 8>,
                       std::conditional_t<placewise, Elementwise<128, packet_bytes<T>, 8, 4, 8>,
                                          Elementwise<128, packet_bytes<T>, 2, 1, 16, sizeof(T) == 4 ? 1 : 2>>>,
    Elementwise<256, 4 * sizeof(T), sizeof(T) == 4 || stores ? (placewise ? 8 : 4) : (placewise ? 32 : 8),
                stores ? 1 : 2>>;

template <Element T>
using DefaultReduction = Reduction<256, reduction_bytes(sizeof(T)), reduction_unroll>;

/// Threads that keep a processor's share of memory busy: small tensors are cut for as many.
inline constexpr std::int64_t min_threads_per_processor = 1024;

}  // namespace fusekit::hip
