// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/atom/native.hpp"
#include "fusekit/backend/hip/dispatch/conv_case.hpp"

namespace fusekit::hip {

namespace detail {

/// A convolution in planes, of one of the schedules; without tiles where it is not what that is for.
template <class Schedule, class T>
FUSEKIT_H PlanesProduct planes_product(ConvCase const& of) {
    bool const channels_last = of.planes == PlanesOrder::channels_last;
    if (!suits_planes<Schedule, T>(of.x, of.y, of.filter, channels_last)) return {};
    auto const tiles = plane_tiles<Schedule, T>(of.x, of.y, of.filter, channels_last);
    constexpr bool floats = std::is_same_v<T, float>;
    // Rows of many parts are transposed slowly.
    if (Schedule::parts > 1 && !tiles.whole() && (floats || of.taps == 1)) return {};
    int columns = Schedule::parts * Schedule::pixels;
    if constexpr (floats && Schedule::pixels == 240) columns = 2 * tiles.columns_of_half();
    return {.tiles = count_plane_tiles<Schedule, T>(of.x, of.y, of.filter, channels_last),
            .channel_blocks = divide_up(of.x[1], tiles.channels),
            .taps = of.taps,
            .channels = Schedule::channels(sizeof(T)),
            .places = Schedule::parts * tiles.places_of_y(),
            .columns = columns,
            .terms = floats ? 6 : 1};
}

FUSEKIT_H inline PlanesProduct planes_product(ScheduleFacts const& schedule, ConvCase const& of) {
    bool const floats = of.type == DataType::float32;
    if (schedule.m == 64) return floats ? PlanesProduct{} : planes_product<Planes<64, 2>, half>(of);
    if (schedule.m == 56) return floats ? planes_product<Planes<56, 4>, float>(of) : PlanesProduct{};
    return floats ? planes_product<Planes<240, 1>, float>(of) : planes_product<Planes<240, 1>, half>(of);
}

/// The tiles of a convolution with a halo; 0 where the schedule does not compute it, or a single tap shares none.
template <class T>
FUSEKIT_H std::int64_t tiles_of_halo(ConvCase const& of) {
    if (of.taps == 1 || !suits_halo<DefaultHalo<T>, T, T>(of.y, of.x[1], of.filter)) return 0;
    HaloShapeOf<DefaultHalo<T>, T, T> const shape(static_cast<int>(of.y[2]), static_cast<int>(of.y[3]), of.filter);
    return of.y[0] * divide_up(of.y[2], shape.rows);
}
FUSEKIT_H inline std::int64_t tiles_of_halo(ConvCase const& of) {
    return size_of(of.type) == 1 ? tiles_of_halo<int8>(of) : tiles_of_halo<half>(of);
}

/// The best of the times of planes whose tiles the 2, 4 or 8 blocks of a cluster share, each with 64 channels of x or
/// more; infinite where there are no clusters. Of an H200's 132 processors 120 and 124 run clusters of 8 and 4, a block
/// each. time_of(product, processors) is a product's time.
template <class TimeOf>
FUSEKIT_H Estimate shared_planes_estimate(PlanesProduct const& whole, GpuRates const& rates, TimeOf const& time_of) {
    Estimate best;
    if (!launches_clusters(rates.architecture)) return best;
    for (int parts = 2; parts <= 8 && parts <= whole.channel_blocks; parts *= 2) {
        PlanesProduct part = whole;
        part.tiles *= parts, part.channel_blocks = divide_up(part.channel_blocks, parts);
        int const idle = parts == 8 ? rates.processors / 11 : parts == 4 ? rates.processors / 16 : 0;
        Estimate time = time_of(part, rates.processors - idle);
        time.parts = parts;
        if (time.seconds < best.seconds) best = time;
    }
    return best;
}

/// How many blocks may share tiles. Those that wait for each other without being clusters have a processor each.
FUSEKIT_H inline std::int64_t most_sharing_blocks(ScheduleFacts const& schedule, GpuRates const& rates,
                                                  std::size_t workspace_bytes) {
    if (launches_clusters(rates.architecture)) return std::int64_t{1} << 31;
    std::size_t const bytes = workspace_bytes < most_workspace_bytes ? workspace_bytes : most_workspace_bytes;
    if (bytes < GroupWorkspace::state_bytes) return 0;
    auto const most = static_cast<std::int64_t>((bytes - GroupWorkspace::state_bytes) /
                                                (static_cast<std::size_t>(schedule.m * schedule.n) * sizeof(float)));
    return most < rates.processors ? most : rates.processors;
}

/// Products that the best unit for an element type has, a processor and cycle.
FUSEKIT_H inline double native_products(DataType type, GpuRates const& rates) {
    Architecture const on = rates.architecture;
    if (type == DataType::int8 && has_native_unit<int8>(on)) return rates.int8_products;
    if (type == DataType::float16 && has_native_unit<half>(on)) return rates.half_products;
    if (type == DataType::bfloat16 && has_native_unit<bfloat16>(on)) return rates.half_products;
    bool const is_float8 = type == DataType::float8_e4m3 || type == DataType::float8_e5m2;
    bool const is_fnuz = type == DataType::float8_e4m3_fnuz || type == DataType::float8_e5m2_fnuz;
    if ((is_float8 && has_native_unit<e4m3>(on)) || (is_fnuz && has_native_unit<e4m3_fnuz>(on)))
        return rates.int8_products;
    return rates.products;
}

/// Whether there are groups of few channels. On an H100 32 groups of 8 channels take 1.28 times as long on sm_90a's
/// matrix units as with the instructions that all have; 8 channels without groups take half of the time.
FUSEKIT_H inline bool has_small_groups(ConvCase const& of) {
    return of.product.groups > 1 && of.product.n < least_matrix_channels;
}

/// The time of an implicit GEMM with a schedule, or of a block's part of one.
struct PartTime {
    ScheduleFacts const& schedule;
    ConvCase const& of;
    CostTable const& table;
    GpuRates const& rates;
    Costs const& costs;
    double products = 0;  ///< a processor and cycle

    FUSEKIT_H Estimate operator()(Product const& part, double exchanges = 0) const {
        Walk walk = walk_of(part);
        walk.exchanges = exchanges;
        return estimate(walk, costs, of.product.bytes, table, rates);
    }
    FUSEKIT_H std::int64_t channels_of_step() const { return row_bytes() / element(); }

private:
    FUSEKIT_H int row_bytes() const { return bulk_row_bytes(schedule.n, element()); }
    FUSEKIT_H int element() const { return static_cast<int>(size_of(of.type)); }
    FUSEKIT_H Walk walk_of(Product const& part) const {
        if (schedule.kind == ScheduleKind::warp_specialized)
            return warp_specialized_walk(
                schedule,
                {part.m, part.n, divide_up(part.gemm_k, channels_of_step()), of.x[1] < channels_of_step(), row_bytes()},
                rates.processors);
        if (schedule.kind == ScheduleKind::matrix_gemm)
            return matrix_walk(schedule, part, rates.processors, products, of.terms);
        return gemm_walk(schedule, part, rates.processors, products);
    }
};

/// Of operands that pass through registers.
FUSEKIT_H inline Estimate product_estimate(PartTime const& time, SplitCosts const& split) {
    if (!time.schedule.splits) return time(time.of.product);
    bool const clusters = launches_clusters(time.rates.architecture);
    return split_estimate(time.schedule, time.of.product, std::int64_t{split.most_tiles} * time.rates.processors,
                          most_sharing_blocks(time.schedule, time.rates, time.of.workspace_bytes),
                          clusters ? split.cluster_cycles : split.workspace_cycles, time.rates.processors, time);
}

/// The costs of operands that are copied in bulk, with what statistics add. A tile puts totals of its own where columns
/// of tiles do not divide the warpgroups that take tiles.
FUSEKIT_H inline Costs bulk_costs(ScheduleFacts const& schedule, ConvCase const& of, CostTable const& table,
                                  int processors) {
    if (schedule.splits) return table.split_warp_specialized;
    Costs costs = schedule.ping_pong ? table.warp_specialized_in_turns : table.warp_specialized;
    if (!of.totals) return costs;
    Costs const& more = schedule.ping_pong ? table.totals_in_turns : table.totals;
    std::int64_t const tiles = count_tiles(schedule, of.product), turns = schedule.ping_pong ? 2 : 1,
                       taking = turns * (tiles < processors ? tiles : processors);
    costs.launch += more.launch, costs.output += more.output;
    if (taking % divide_up(of.product.n, schedule.n) != 0) costs.round += more.round;
    return costs;
}

/// Of operands that are copied in bulk. On an H100 more blocks than a quarter of the processors gained nothing.
FUSEKIT_H inline Estimate bulk_estimate(PartTime const& time) {
    ConvCase const& of = time.of;
    std::int64_t const of_step = time.channels_of_step(), steps = divide_up(of.x[1], of_step) * of.taps;
    Product const whole{of.product.m, of.product.n, 1, steps * of_step};
    if (!time.schedule.splits) return time(whole);
    if (!launches_clusters(time.rates.architecture)) return {};
    int const processors = time.rates.processors;
    return split_estimate(time.schedule, whole, processors, processors / 4, time.table.bulk_split.cluster_cycles,
                          processors, time);
}

}  // namespace detail

/// The time of a convolution with a schedule, by a table's costs; infinite where the schedule does not compute it.
FUSEKIT_H inline Estimate estimate_of(ScheduleFacts const& schedule, ConvCase const& of, CostTable const& table,
                                      GpuRates const& rates) {
    int const processors = rates.processors;
    auto const time = [&](Walk const& walk, Costs const& costs) {
        return estimate(walk, costs, of.product.bytes, table, rates);
    };
    bool const on_units = schedule.kind != ScheduleKind::gemm && schedule.kind != ScheduleKind::native_gemm &&
                          schedule.kind != ScheduleKind::direct;
    if (on_units && (!of.on_matrix_units || (of.in_slabs && schedule.kind != ScheduleKind::matrix_gemm))) return {};
    switch (schedule.kind) {
        case ScheduleKind::gemm:
        case ScheduleKind::native_gemm: {
            bool const native = schedule.kind == ScheduleKind::native_gemm;
            if (of.wants_matrix_units && of.on_matrix_units && of.product.n >= least_matrix_channels) return {};
            bool const is_half = of.type == DataType::float16 || of.type == DataType::bfloat16;
            if (native && is_half && of.on_matrix_units && !detail::has_small_groups(of)) return {};
            detail::PartTime const part{schedule,
                                        of,
                                        table,
                                        rates,
                                        native ? table.native : table.gemm,
                                        native ? detail::native_products(of.type, rates) : rates.products};
            return detail::product_estimate(part, table.split);
        }
        case ScheduleKind::matrix_gemm: {
            bool const is_float = of.type == DataType::float32;
            if (is_float ? of.product.n < least_matrix_channels : detail::has_small_groups(of)) return {};
            Costs const& costs = of.terms == 2 ? table.tf32_matrix
                                 : is_float    ? of.channels_last ? table.float_matrix : table.gathering_float_matrix
                                 : of.channels_last ? table.matrix
                                                    : table.gathering_matrix;
            return detail::product_estimate({schedule, of, table, rates, costs, rates.half_products},
                                            table.matrix_split);
        }
        case ScheduleKind::warp_specialized: {
            if (!of.in_bulk) return {};
            return detail::bulk_estimate(
                {schedule, of, table, rates, detail::bulk_costs(schedule, of, table, processors)});
        }
        case ScheduleKind::halo: {
            std::int64_t const tiles = of.in_bulk ? detail::tiles_of_halo(of) : 0;
            if (tiles == 0) return {};
            auto const bytes = static_cast<int>(size_of(of.type));
            Costs costs = bytes == 1 ? table.halo_bytes : table.halo;
            if (of.maxima) costs.launch += table.maxima.launch, costs.round += table.maxima.round;
            return time(halo_walk(schedule, tiles, of.taps, bytes, processors), costs);
        }
        case ScheduleKind::planes: {
            bool const filters_lie_well = !of.taps_neighbour || (of.filter.size[0] == 3 && of.filter.size[1] == 3);
            if (of.planes == detail::PlanesOrder::none || !filters_lie_well || of.product.groups != 1 ||
                of.product.n < least_matrix_channels)
                return {};
            PlanesProduct const product = detail::planes_product(schedule, of);
            if (product.tiles == 0) return {};
            bool const single = of.taps == 1, floats = product.terms > 1,
                       channels_last = of.planes == detail::PlanesOrder::channels_last;
            if (schedule.splits)
                return detail::shared_planes_estimate(
                    product, rates, [&](PlanesProduct const& part, int processors_of_clusters) {
                        return time(planes_walk(part, processors_of_clusters),
                                    single ? table.shared_planes : table.shared_planes_taps);
                    });
            Costs const &pixels = channels_last ? table.float_pixels
                                  : floats      ? table.float_planes
                                                : table.planes,
                        &windows = channels_last ? table.float_pixels_taps
                                   : floats      ? table.float_planes_taps
                                                 : table.planes_taps;
            return time(planes_walk(product, processors), single ? pixels : windows);
        }
        case ScheduleKind::stem: {
            if (!of.rows_of_pixels || !of.channels_last) return {};
            StemShape const shape = detail::stem_shape<DefaultStem>(of.y, of.x[1], of.filter);
            if (shape.panels == 0) return {};
            return time(stem_walk(shape.tiles(of.y) * detail::divide_up(of.y[1], DefaultStem::channels), shape.panels,
                                  shape.chunks, processors),
                        table.stem);
        }
        case ScheduleKind::direct:
            return time(direct_walk(static_cast<double>(of.product.m * of.product.n * of.product.groups),
                                    of.product.gemm_k, rates),
                        table.direct);
    }
    return {};
}

}  // namespace fusekit::hip
