// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/tuning/amd.hpp"
#include "fusekit/backend/hip/tuning/nvidia.hpp"

namespace fusekit::hip {

/// Calls f(Type{}) with the type that has this number in a table.
template <class First, class... Rest, class F>
auto with_entry(Table<First, Rest...>, int number, F f) {
    if constexpr (sizeof...(Rest) > 0)
        if (number > 0) return with_entry(Table<Rest...>{}, number - 1, f);
    return f(First{});
}

namespace detail {

/// How many tags this one extends, itself included.
template <class Tag, class... Tags>
consteval int depth_among(arch::List<Tags...>) {
    return (0 + ... + std::is_base_of_v<Tags, Tag>);
}

/// The number of the table that describes a tag most closely; -1 where none does.
template <class Tag, class... Tunings>
constexpr int nearest_tuning(Table<Tunings...>) {
    int const depths[] = {std::is_base_of_v<typename Tunings::Architecture, Tag>
                              ? depth_among<typename Tunings::Architecture>(arch::All{})
                              : -1 ...};
    int best = -1;
    for (int i = 0; i < static_cast<int>(sizeof...(Tunings)); ++i)
        if (depths[i] >= 0 && (best < 0 || depths[i] > depths[best])) best = i;
    return best;
}

template <class Left, class Right>
struct Joined;
template <class... Left, class... Right>
struct Joined<Table<Left...>, Table<Right...>> {
    using Type = Table<Left..., Right...>;
};

/// The types of a table for which Keeps<number> is true.
template <template <int> class Keeps, int number, class... Types>
struct Kept {
    using Type = Table<>;
};
template <template <int> class Keeps, int number, class First, class... Rest>
struct Kept<Keeps, number, First, Rest...> : Joined<std::conditional_t<Keeps<number>::value, Table<First>, Table<>>,
                                                    typename Kept<Keeps, number + 1, Rest...>::Type> {};

/// The tables of the program's targets: kernels of other tables are not made. IsTargeted<Tag> says what is a target.
template <template <class> class IsTargeted, class... Tunings>
struct CompiledFrom {
    template <class... Tags>
    static consteval bool is_nearest(int number, arch::List<Tags...>) {
        return (false || ... || (IsTargeted<Tags>::value && nearest_tuning<Tags>(Table<Tunings...>{}) == number));
    }
    template <int number>
    struct Keeps : std::bool_constant<is_nearest(number, arch::All{})> {};

    using Type = typename Kept<Keeps, 0, Tunings...>::Type;
};

template <class Tag>
struct IsTargeted : std::bool_constant<arch::is_targeted<Tag>> {};

}  // namespace detail

/// The tables that this program has kernels of.
using CompiledTunings = typename detail::CompiledFrom<detail::IsTargeted, AmdTuning, NvidiaTuning>::Type;

/// Calls f(Tuning{}) with the compiled table that describes a GPU's architecture most closely; with the first, where
/// none does.
template <class... Tunings, class F>
auto with_tuning(Table<Tunings...> tunings, Architecture architecture, F f) {
    int const nearest = with_tag(architecture, [&]<class Tag>(Tag) { return detail::nearest_tuning<Tag>(tunings); });
    return with_entry(tunings, nearest, f);
}
template <class F>
auto with_tuning(Architecture architecture, F f) {
    return with_tuning(CompiledTunings{}, architecture, f);
}

/// The time that a product of m x n takes on the processor with the most tiles, in an arbitrary unit. Its threads have
/// the same work each. They are dealt in waves of 32 to four schedulers, and the one with the most waves ends last. A
/// scheduler with few waves to change between waits: w / (w + 1) fits what an H200 did with 2 and 3.
template <class Schedule>
double gemm_time(std::int64_t m, std::int64_t n, std::int64_t groups, int processors) {
    std::int64_t const tiles = detail::divide_up(m, Schedule::tile_m) * detail::divide_up(n, Schedule::tile_n) * groups;
    std::int64_t const most = detail::divide_up(tiles, processors),
                       at_once = most < Schedule::blocks ? most : Schedule::blocks;
    double const in_all = static_cast<double>(detail::divide_up(most * Schedule::threads, 4 * 32));
    double const waves = static_cast<double>(detail::divide_up(at_once * Schedule::threads, 4 * 32));
    double const load_cost = 1 + 16.0 / Schedule::tile_m + 16.0 / Schedule::tile_n;
    return in_all * load_cost * (waves + 1) / waves;
}

/// A product of which each of several blocks takes a part along GemmK.
struct SplitProduct {
    std::int64_t m, n, groups, gemm_k;
    std::int64_t most_tiles, most_blocks;  ///< that are shared, and that share them
    double exchange;  ///< cycles of a block, for each doubling of those that share a tile
};

/// Among how many blocks a tile's GemmK is shared, and the cycles that a product takes then.
struct SplitChoice {
    int parts;
    double cycles;
};

/// Among how many blocks, 1, 2, 4 or 8, the GemmK of a Split's tiles is shared so that a product takes least time: 1
/// where `whole`, the time without, is less. Each part has a piece of GemmK. time_of(blocks a tile, indices of GemmK)
/// is the time of the products; a processor's blocks exchange sums one after another.
template <class Schedule, class TimeOf>
SplitChoice choose_parts(SplitProduct const& of, double whole, TimeOf const& time_of, int processors) {
    std::int64_t const tiles =
        detail::divide_up(of.m, Schedule::tile_m) * detail::divide_up(of.n, Schedule::tile_n) * of.groups;
    std::int64_t const pieces = detail::divide_up(of.gemm_k, Schedule::piece_k);
    SplitChoice best{1, whole};
    if (tiles > of.most_tiles) return best;
    double exchanges = of.exchange;
    for (int parts = 2; parts <= 8 && parts <= pieces && parts * tiles <= of.most_blocks; parts *= 2) {
        double const time = time_of(parts, Schedule::piece_k * detail::divide_up(pieces, parts)) +
                            exchanges * static_cast<double>(detail::divide_up(parts * tiles, processors));
        if (time < best.cycles) best = {parts, time};
        exchanges += of.exchange;
    }
    return best;
}

/// The parts of a product of float. An index of GemmK takes 64 cycles for each unit of gemm_time, because a thread has
/// 64 sums. On an H200 the choice takes 1.5 % longer than the fastest number of parts (13 layers, batches of 1 and 8,
/// geometric mean), and at most 2.3 % longer than no parts.
template <class Schedule, class... Schedules>
SplitChoice choose_parts(Table<Schedules...>, SplitProduct const& of, int processors) {
    double whole = 1e300;
    for (double const time : {gemm_time<Schedules>(of.m, of.n, of.groups, processors)...})
        if (64 * time * static_cast<double>(of.gemm_k) < whole) whole = 64 * time * static_cast<double>(of.gemm_k);
    auto const time_of = [&](std::int64_t parts, std::int64_t gemm_k) {
        return 64 * gemm_time<Schedule>(of.m, of.n, of.groups * parts, processors) * static_cast<double>(gemm_k);
    };
    return choose_parts<Schedule>(of, whole, time_of, processors);
}

/// The time of MatrixGemm, in an arbitrary unit: that of loading operands through registers.
template <class Schedule>
double matrix_time(std::int64_t m, std::int64_t n, std::int64_t groups, int processors) {
    std::int64_t const tiles = detail::divide_up(m, Schedule::tile_m) * detail::divide_up(n, Schedule::tile_n) * groups;
    return static_cast<double>(detail::divide_up(tiles, processors)) * (Schedule::tile_m + Schedule::tile_n);
}

/// A product of m x n in steps of 128 bytes along GemmK. Rows are narrow where x has fewer channels than a step. For
/// totals of channels a block has tiles of one column.
struct BulkProduct {
    std::int64_t m, n, steps;
    bool narrow_rows = false, one_column = false;
};

/// The cycles that a product takes on sm_90a, on the processor with the most tiles. A step takes as long as its
/// products, n / 2 cycles for each of 64 x n x 16; or its rows of x, which no other processor reads and L2 gives at 50
/// bytes a cycle; or the 200 cycles in which a stage goes from hand to hand. On an H200 the schedule of least time is
/// 2 % slower than the fastest one (52 layers and batches of half, geometric mean). There a bulk copy takes 5 cycles a
/// row, of either operand, where rows are narrow.
template <class Schedule>
double warp_specialized_time(BulkProduct const& product, int processors) {
    std::int64_t const rows = detail::divide_up(product.m, Schedule::tile_m),
                       columns = detail::divide_up(product.n, Schedule::tile_n),
                       sharers = columns < processors ? processors / columns : 1,
                       most = product.one_column
                                  ? detail::divide_up(rows, sharers) * detail::divide_up(columns, processors)
                                  : detail::divide_up(rows * columns, processors);
    double const products = Schedule::tile_m / 64.0 * Schedule::tile_n / 2 * 4;
    auto const filters = static_cast<double>(product.n < Schedule::tile_n ? product.n : Schedule::tile_n);
    double const loads = product.narrow_rows ? 5 * (Schedule::tile_m + filters) : Schedule::tile_m * 128 / 50.0;
    double const longer = products > loads ? products : loads;
    return static_cast<double>(most * product.steps) * (longer > 200 ? longer : 200);
}

/// The least of the table's.
template <class... Schedules>
double least_warp_specialized_time(Table<Schedules...>, BulkProduct const& product, int processors) {
    double least = 1e300;
    for (double const time : {warp_specialized_time<Schedules>(product, processors)...})
        if (time < least) least = time;
    return least;
}

/// The cycles of `tiles` tiles with a halo: those of their products, 64 x Pixels x 64 for each tap.
template <class Schedule>
double halo_time(std::int64_t tiles, int taps, int processors) {
    return static_cast<double>(detail::divide_up(tiles, processors) * taps) * Schedule::pixels / 2.0 * 4;
}

/// The cycles of MatrixGemm where operands are loaded an element at a time, as where planes are contiguous. An H200
/// took them within 10 % (13 layers in NCHW, batches of 1, 8 and 64, root mean square).
template <class Schedule>
double matrix_cycles(std::int64_t m, std::int64_t n, std::int64_t groups, std::int64_t steps, int processors) {
    std::int64_t const tiles = detail::divide_up(m, Schedule::tile_m) * detail::divide_up(n, Schedule::tile_n) * groups;
    std::int64_t const most = detail::divide_up(tiles, processors),
                       at_once = most < Schedule::blocks ? most : Schedule::blocks;
    double const step = 2200 + static_cast<double>(at_once * Schedule::tile_m * Schedule::tile_n) / 10;
    return 4000 +
           static_cast<double>(detail::divide_up(most, Schedule::blocks)) * (4000 + static_cast<double>(steps) * step);
}
/// The least of the table's.
template <class... Schedules>
double least_matrix_cycles(Table<Schedules...>, std::int64_t m, std::int64_t n, std::int64_t groups, std::int64_t steps,
                           int processors) {
    double least = 1e300;
    for (double const time : {matrix_cycles<Schedules>(m, n, groups, steps, processors)...})
        if (time < least) least = time;
    return least;
}

/// The cycles of floats on matrix units, by the clock of choose_parts(), whose index of GemmK takes 64. On an H200 the
/// choice by it takes 1.1 % longer than the fastest of both tiles and plain arithmetic (13 layers in both layouts,
/// batches of 8 and 64, geometric mean), and 13 % at most. As tf32, a step is taken to last half as long: no GPU has
/// measured it.
template <class Schedule, class Factor = float>
double float_matrix_cycles(SplitProduct const& of, int processors) {
    std::int64_t const tiles =
        detail::divide_up(of.m, Schedule::tile_m) * detail::divide_up(of.n, Schedule::tile_n) * of.groups;
    double const work = std::is_same_v<Factor, tf32> ? 0.5 : 1;
    return static_cast<double>(detail::divide_up(tiles, processors)) *
           (14000 + static_cast<double>(detail::divide_up(of.gemm_k, Schedule::tile_k) *
                                        (3000 + 36 * std::int64_t{Schedule::tile_n})) *
                        work);
}

/// The parts of a product on matrix units. On an H200 the choice takes 0.2 % longer than the fastest number of parts
/// (13 layers in NCHW, batches of 1, 8 and 64, geometric mean), and never longer than no parts.
template <class Schedule, class... Schedules>
SplitChoice choose_matrix_parts(Table<Schedules...> table, SplitProduct const& of, int processors) {
    auto const steps = [](std::int64_t gemm_k) { return detail::divide_up(gemm_k, Schedule::tile_k); };
    auto const time_of = [&](std::int64_t parts, std::int64_t gemm_k) {
        return matrix_cycles<Schedule>(of.m, of.n, of.groups * parts, steps(gemm_k), processors);
    };
    return choose_parts<Schedule>(of, least_matrix_cycles(table, of.m, of.n, of.groups, steps(of.gemm_k), processors),
                                  time_of, processors);
}

/// A convolution of planes in `tiles` tiles, and blocks of 64 channels of x.
struct PlanesProduct {
    std::int64_t tiles, channel_blocks;
    int taps;
    bool taps_neighbour;  ///< filters', which then pass through registers
};

/// The cycles of Planes. A block takes its products and what they wait for filters, 5800 where these pass through
/// registers, or its x, if this takes longer. The epilogue of a tile takes 8000, and a launch begins in 5000. At 1.7
/// GHz an H200 took them within 9 % with the faster of two schedules (13 layers, batch 64, root mean square).
template <class Schedule>
double planes_time(PlanesProduct const& of, int processors) {
    double const products = of.taps * Schedule::parts * Schedule::pixels / 2.0 * 4 * Schedule::consumers +
                            (of.taps_neighbour ? 5800 : 1000),
                 x = 2600;
    return 5000 + static_cast<double>(detail::divide_up(of.tiles, processors)) *
                      (static_cast<double>(of.channel_blocks) * (products > x ? products : x) + 8000);
}

/// Calls f(Schedule{}) with the schedule of the table that takes the least of the times.
template <class... Schedules, class F>
auto with_least(Table<Schedules...> table, double const (&times)[sizeof...(Schedules)], F f) {
    int best = 0;
    for (int i = 1; i < static_cast<int>(sizeof...(Schedules)); ++i)
        if (times[i] < times[best]) best = i;
    return with_entry(table, best, f);
}
template <class... Schedules, class F>
auto with_fastest(Table<Schedules...> table, std::int64_t m, std::int64_t n, std::int64_t groups, int processors, F f) {
    return with_least(table, {gemm_time<Schedules>(m, n, groups, processors)...}, f);
}
template <class... Schedules, class F>
auto with_fastest_matrix(Table<Schedules...> table, std::int64_t m, std::int64_t n, std::int64_t groups, int processors,
                         F f) {
    return with_least(table, {matrix_time<Schedules>(m, n, groups, processors)...}, f);
}
template <class... Schedules, class F>
auto with_fastest_warp_specialized(Table<Schedules...> table, BulkProduct const& product, int processors, F f) {
    return with_least(table, {warp_specialized_time<Schedules>(product, processors)...}, f);
}

/// Groups with fewer output channels leave most of a matrix unit's product empty.
inline constexpr std::int64_t least_matrix_channels = 16;

/// Groups with at most so many output channels leave most of a tile empty: they run without one.
inline constexpr std::int64_t direct_max_group_channels = 4;

/// Threads that keep a processor's share of memory busy: small tensors are cut into as many.
inline constexpr std::int64_t min_threads_per_processor = 1024;

}  // namespace fusekit::hip
