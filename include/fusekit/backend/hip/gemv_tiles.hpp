// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// Kernel argument: the tile of a Gemv CTA, and how its warps of 32 threads divide it. Warp i computes the 2^warp_bits
/// filters of group i % groups, for all rows of x in the tile, over range i / groups of `splits` ranges of C.
struct GemvTiles {
    /// maximum numbers: warps of a CTA; filters of a warp, M of the MMA; rows of x per tile
    static constexpr int warps = 8, warp_filters = 16, max_rows = 32;

    FastDivmod row_tiles = {};  ///< number of tiles along the rows of x
    int rows = max_rows;
    int filter_bits = 4, warp_bits = 4;  ///< a CTA has 2^filter_bits filters
    int groups = 1, splits = warps;
    int vector = 1;  ///< elements that one load reads

    FUSEKIT_HD constexpr int filters() const { return 1 << filter_bits; }
    FUSEKIT_HD constexpr int threads() const { return 32 * groups * splits; }
};

/// A product of `rows` rows of x and `filters` filters, each of `row_bytes` bytes. by_mma: true for MMAs of 16 filters
/// x 8 rows; false for FMAs of 4 filters x 4 rows or 1 row at a time. transposed: true for MMAs of pairs of filters
/// that are contiguous in memory (collective/gemv_columns.hpp).
struct GemvProduct {
    std::int64_t rows, filters, row_bytes;
    bool by_mma;
    bool transposed = false;
};

/// A tile of a GemvProduct, and its estimated time on an SM with the most CTAs, in cycles.
struct GemvCut {
    GemvTiles tiles = {};
    std::int64_t processor_ctas = 0;  ///< CTAs of the SM
    std::int64_t cta_bytes = 0;  ///< bytes that a CTA reads from L2
    std::int64_t steps = 0;  ///< iterations of a warp's loop; each waits once for its loads
    double cycles = 0;

    /// Selects the tile with the least estimated time of the busiest SM: `step_cycles` per step of each round of
    /// `resident` CTAs, plus its CTAs' operands at L2's bandwidth. Small tiles occupy all SMs; large tiles read less.
    FUSEKIT_H static constexpr GemvCut best(GemvProduct const& of, int resident, int processors, double cache_bytes,
                                            double step_cycles) {
        GemvCut best;
        int const least = of.by_mma ? 8 : 4, most = !of.by_mma      ? 4
                                                    : of.rows <= 8  ? 8
                                                    : of.rows <= 16 ? 16
                                                                    : GemvTiles::max_rows;
        for (int rows = most; rows >= least; rows /= 2)
            for (int bits = of.transposed ? 1 : 0; bits < 8; ++bits) {
                GemvCut cut(of, rows, bits, processors);
                std::int64_t const steps = detail::divide_up(cut.processor_ctas, resident) * cut.steps;
                cut.cycles = static_cast<double>(steps) * step_cycles +
                             static_cast<double>(cut.processor_ctas * cut.cta_bytes) / cache_bytes;
                if (best.steps == 0 || cut.cycles < best.cycles) best = cut;
                if (1 << bits >= of.filters || cut.tiles.groups == GemvTiles::warps) break;
            }
        return best;
    }

    FUSEKIT_H constexpr GemvCut() = default;

private:
    FUSEKIT_H constexpr GemvCut(GemvProduct const& of, int rows, int bits, int processors) {
        // filters of a warp; bytes of a row whose loads by a warp are in flight at once (collective/gemv_mma.hpp)
        int const most = of.by_mma ? 4 : 2, step_bytes = (!of.by_mma  ? 512
                                                          : rows <= 8 ? 384
                                                                      : 128) /
                                                         (!of.transposed ? 1
                                                          : rows <= 8    ? 3
                                                                         : 2);
        tiles.rows = rows, tiles.filter_bits = bits;
        tiles.warp_bits = bits < most ? bits : most;
        tiles.groups = 1 << (bits - tiles.warp_bits);
        tiles.splits = GemvTiles::warps / tiles.groups;
        // at least 64 threads, a wave on AMD
        while (tiles.groups * tiles.splits > 2 && tiles.splits / 2 * step_bytes >= of.row_bytes) tiles.splits /= 2;
        std::int64_t const row_tiles = detail::divide_up(of.rows, rows);
        tiles.row_tiles = FastDivmod(static_cast<std::uint32_t>(row_tiles));
        processor_ctas = detail::divide_up(detail::divide_up(of.filters, tiles.filters()) * row_tiles, processors);
        // A warp reads a row of transposed weights by sectors of 32 bytes, 16 filters.
        std::int64_t const read =
            of.transposed && tiles.filters() < GemvTiles::warp_filters ? GemvTiles::warp_filters : tiles.filters();
        cta_bytes = (read + (of.rows < rows ? of.rows : rows)) * of.row_bytes;
        steps = detail::divide_up(of.row_bytes, tiles.splits * step_bytes);
    }
};

}  // namespace fusekit::hip
