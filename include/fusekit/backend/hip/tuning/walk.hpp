// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/schedule_facts.hpp"
#include "fusekit/backend/hip/tuning/cost.hpp"

namespace fusekit::hip {

/// A Conv or Gemm as tiles see it: `groups` products of m x n, of sums of gemm_k products.
struct Product {
    std::int64_t m, n, groups, gemm_k;
    double bytes = 0;  ///< of all tensors, each read or written once
};

namespace detail {

FUSEKIT_H inline std::int64_t count_tiles(ScheduleFacts const& schedule, Product const& of) {
    return divide_up(of.m, schedule.m) * divide_up(of.n, schedule.n) * of.groups;
}

/// The rounds of so many tiles. A round after the first that few processors have counts `least` at least: the others
/// leave them the cache, and the kernel's first copies and last results are waited for in any case.
FUSEKIT_H inline double rounds_of(std::int64_t tiles, int processors, double least) {
    std::int64_t const whole = tiles / processors, left = tiles % processors;
    if (whole == 0) return 1;
    double const share = static_cast<double>(left) / processors;
    return static_cast<double>(whole) + (left > 0 ? least + (1 - least) * share : 0);
}

}  // namespace detail

/// Plain arithmetic. Threads have the same work each. They are dealt in waves to four schedulers, and the one with the
/// most waves ends last. A scheduler with few waves to change between waits: w / (w + 1) fits what an H200 did with 2
/// and 3.
FUSEKIT_H inline Walk gemm_walk(ScheduleFacts const& schedule, Product const& of, int processors,
                                double products_a_cycle) {
    int const threads = schedule.m * schedule.n / 64;
    std::int64_t const most = detail::divide_up(detail::count_tiles(schedule, of), processors),
                       at_once = most < schedule.blocks ? most : schedule.blocks;
    auto const in_all = static_cast<double>(detail::divide_up(most * threads, 4 * 32)),
               waves = static_cast<double>(detail::divide_up(at_once * threads, 4 * 32));
    double const load_cost = 1 + 16.0 / schedule.m + 16.0 / schedule.n, sums_of_128_threads = 64 * 128;
    return {.rounds = 1,
            .steps = static_cast<double>(of.gemm_k),
            .arithmetic = in_all * load_cost * (waves + 1) / waves * sums_of_128_threads / products_a_cycle,
            .outputs = static_cast<double>(most * schedule.m * schedule.n)};
}

/// Matrix units, whose operands pass through registers; `terms` products for one of the product's.
FUSEKIT_H inline Walk matrix_walk(ScheduleFacts const& schedule, Product const& of, int processors,
                                  double products_a_cycle, int terms) {
    std::int64_t const most = detail::divide_up(detail::count_tiles(schedule, of), processors),
                       at_once = most < schedule.blocks ? most : schedule.blocks,
                       outputs = at_once * schedule.m * schedule.n;
    return {.rounds = static_cast<double>(detail::divide_up(most, schedule.blocks)),
            .steps = static_cast<double>(detail::divide_up(of.gemm_k, schedule.k)),
            .arithmetic = static_cast<double>(outputs * schedule.k * terms) / products_a_cycle,
            .outputs = static_cast<double>(outputs)};
}

/// A product in steps of a row's bytes along GemmK. Rows are narrow where x has fewer channels than a step.
struct BulkProduct {
    std::int64_t m, n, steps;
    bool narrow_rows = false;
    int row_bytes = 128;
};

/// Matrix units that bulk copies feed. A step takes as long as its products, for each of 64 channels, m pixels and 32
/// bytes of GemmK m / 2 cycles, or 1.64 of what shared memory takes to give their 64 + m rows, 128 bytes a cycle; or
/// its operands, where the processors that are busy share what the cache gives; or its copies. Where rows are narrow,
/// these take 5 cycles for each row; of 64 bytes that x fills, 2.8. Rows beyond the last filter take 4 cycles each, and
/// an eighth more for each processor that copies some. In turns, one more tile's products begin under the results of
/// the one before: its round costs less.
FUSEKIT_H inline Walk warp_specialized_walk(ScheduleFacts const& schedule, BulkProduct const& of, int processors) {
    std::int64_t const rows = detail::divide_up(of.m, schedule.m), columns = detail::divide_up(of.n, schedule.n),
                       busy = rows * columns < processors ? rows * columns : processors;
    double const last_round = schedule.ping_pong ? 0.675 : 1, of_products = schedule.m / 2.0,
                 of_rows = 1.64 * (64 + schedule.m) / 4;
    auto const filters = static_cast<double>(of.n < schedule.n ? of.n : schedule.n);
    double const beyond = columns > 1 && !of.narrow_rows ? static_cast<double>(columns * schedule.n - of.n) : 0,
                 of_row = of.narrow_rows       ? 5
                          : of.row_bytes < 128 ? 2.8
                                               : 0;
    return {.rounds = detail::rounds_of(rows * columns, processors, last_round),
            .steps = static_cast<double>(of.steps),
            .arithmetic = schedule.n / 64.0 * of.row_bytes / 32 * (of_products > of_rows ? of_products : of_rows),
            .cache_bytes = (schedule.m + filters) * of.row_bytes * static_cast<double>(busy) / processors,
            .copies = of_row * (schedule.m + filters) + beyond * (4 + static_cast<double>(busy / columns) / 8),
            .outputs = static_cast<double>(schedule.m * schedule.n)};
}

/// `tiles` tiles with a halo: products of 64 x m x 64 for each tap, of elements of so many bytes.
FUSEKIT_H inline Walk halo_walk(ScheduleFacts const& schedule, std::int64_t tiles, int taps, int element_bytes,
                                int processors) {
    return {.rounds = static_cast<double>(detail::divide_up(tiles, processors)),
            .steps = static_cast<double>(taps),
            .arithmetic = schedule.m / 2.0 * 2 * element_bytes,
            .outputs = static_cast<double>(schedule.m * schedule.n)};
}

/// A convolution as parts of planes see it.
struct PlanesProduct {
    std::int64_t tiles, channel_blocks;
    int taps, channels;  ///< of filters, and of y, that a tile has
    int places, columns;  ///< of a tile: those of y and the gaps between them, and those that products have
    int terms;  ///< products on matrix units for one
};

/// Single pixels take longer to transpose than to multiply, in proportion to their number.
FUSEKIT_H inline Walk planes_walk(PlanesProduct const& of, int processors) {
    int const multiplied = of.taps == 1 ? of.places : of.taps * of.columns, channels_of_block = of.terms == 1 ? 64 : 32;
    return {.rounds = static_cast<double>(detail::divide_up(of.tiles, processors)),
            .steps = static_cast<double>(of.channel_blocks),
            .arithmetic = of.terms * multiplied / 2.0 * channels_of_block / 16 * of.channels / 64,
            .outputs = static_cast<double>(of.places * of.channels)};
}

/// `tiles` tiles of 64 pixels and 64 channels of a network's first layer, by warpgroups that share a processor: a step
/// is a chunk of two rows of a window, 16 indices of GemmK. Its filters and its words of x are read from shared memory,
/// 16 cycles each.
FUSEKIT_H inline Walk stem_walk(std::int64_t tiles, int panels, int chunks, int processors) {
    return {.rounds = static_cast<double>(detail::divide_up(tiles, processors)),
            .steps = static_cast<double>(panels * chunks),
            .arithmetic = 32,
            .outputs = 64 * 64};
}

/// An output a thread, one product after another.
FUSEKIT_H inline Walk direct_walk(double outputs, std::int64_t gemm_k, GpuRates const& rates) {
    return {
        .rounds = 1, .steps = static_cast<double>(gemm_k), .arithmetic = outputs / rates.processors / rates.products};
}

/// The best of a Split's times with 2, 4 or 8 blocks a tile, each of which has a piece of GemmK; infinite where tiles
/// are not shared: where they are many, or would be shared by more than `most_blocks` blocks. time_of(product,
/// exchanges) is the products' time; a processor's blocks exchange sums one after another, which takes `exchange`
/// cycles for each doubling of the blocks a tile.
template <class TimeOf>
FUSEKIT_H Estimate split_estimate(ScheduleFacts const& schedule, Product const& of, std::int64_t most_tiles,
                                  std::int64_t most_blocks, double exchange, int processors, TimeOf const& time_of) {
    int const threads =
                  schedule.kind == ScheduleKind::matrix_gemm ? schedule.m / 64 * 128 : schedule.m * schedule.n / 64,
              piece_k = threads < 128 ? 64 : 128;
    std::int64_t const tiles = detail::count_tiles(schedule, of), pieces = detail::divide_up(of.gemm_k, piece_k);
    Estimate best;
    if (tiles > most_tiles) return best;
    double exchanges = exchange;
    for (int parts = 2; parts <= 8 && parts <= pieces && parts * tiles <= most_blocks; parts *= 2) {
        Product part = of;
        part.groups *= parts;
        part.gemm_k = piece_k * detail::divide_up(pieces, parts);
        Estimate time = time_of(part, exchanges * static_cast<double>(detail::divide_up(parts * tiles, processors)));
        time.parts = parts;
        if (time.seconds < best.seconds) best = time;
        exchanges += exchange;
    }
    return best;
}

}  // namespace fusekit::hip
