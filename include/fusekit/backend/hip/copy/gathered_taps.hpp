// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/gather_tiles.hpp"
#include "fusekit/backend/hip/mma/gemm.hpp"

namespace fusekit::hip {

/// SMEM tables of the segments and taps of a GatherTiles.
struct GatherTables {
    int length[GatherTiles::max_taps];  ///< of each segment, in positions
    /// for each tap: offset, in positions from the start of a stage, of the element of x that it reads at the tile's
    /// first position; index among all taps of the filter
    int offset[GatherTiles::max_taps], number[GatherTiles::max_taps];

    /// Fills the tables. All threads of the CTA call it; a barrier follows.
    __device__ void init(GatherTiles const& tiles, unsigned thread) {
        int const i = static_cast<int>(thread);
        if (i < tiles.segments()) length[i] = tiles.length(i);
        if (i < tiles.taps()) {
            int const r = i / tiles.tap_columns, s = i % tiles.tap_columns;
            offset[i] = tiles.tap_offset(r, s);
            number[i] = (tiles.first_tap_row + r) * tiles.window_columns + tiles.first_tap_column + s;
        }
    }
};

/// A consumer thread's iterator over the steps of a stage of GatheredPlanes, each one tap of a slice of 16 channels:
/// all taps in bounds (TapRows) of the first slice, then those of the next. Returns operand a, the filters, in
/// registers, and of operand b, the pixels, the lower half of an SMEM descriptor.
struct GatheredTaps {
    GatherTables const& tables;
    unsigned char const* filters;  ///< two channels of the thread's filter in the slice's first box of 8 channels
    std::uint32_t x, slice_step;  ///< lower half of the slice's descriptor; distance to the next slice's
    int filter_pitch, all_taps, begin, end, tap;

    /// `own_channel`, `own_position`: the warpgroup's first filter and position in the tile.
    __device__ GatheredTaps(unsigned char const* stage, GatherTables const& the_tables, GatherTiles const& tiles,
                            GatherTiles::TapRows rows, int own_channel, unsigned own_position, unsigned thread)
        : tables(the_tables),
          filter_pitch(tiles.filter_pitch()),
          all_taps(tiles.all_taps),
          begin(rows.begin * tiles.tap_columns),
          end(rows.end * tiles.tap_columns),
          tap(begin) {
        auto const chunk = static_cast<std::uint32_t>(tiles.chunk_bytes() >> 4);
        // in a cluster, an SMEM address also has the CTA's rank, in bits of the descriptor's leading dimension
        constexpr std::uint32_t address_bits = 0x3ffff;
        x = (((ptx::shared_address(stage) & address_bits) >> 4) + own_position) | chunk << 16;
        slice_step = 2 * chunk;
        auto const filter = static_cast<int>(thread / 32 * 16 + thread % 32 / 4) + own_channel;
        filters = stage + 2 * tiles.slices * tiles.chunk_bytes() + filter * filter_pitch +
                  static_cast<int>(thread % 4) * 4 * all_taps;
    }

    /// Address of the two channels that are word `i` of the thread's fragment of operand a: of filter + i % 2 * 8,
    /// from channel + i / 2 * 8 on.
    __device__ unsigned char const* address(int i) const {
        return filters + i / 2 * 16 * all_taps + i % 2 * 8 * filter_pitch;
    }
    /// Loads the thread's fragment of filters of the current step. Source: PTX ISA 8.7, section 9.7.15.5.1, the
    /// figure of A for .k16.
    __device__ mma::RegisterOperand fragment() const {
        mma::RegisterOperand result;
        int const tap_bytes = 2 * tables.number[tap];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            std::uint32_t const one = *reinterpret_cast<std::uint16_t const*>(address(i) + tap_bytes),
                                two = *reinterpret_cast<std::uint16_t const*>(address(i) + tap_bytes + 2 * all_taps);
            result.words[i] = one | two << 16;
        }
        return result;
    }
    /// Loads the fragments of `count` taps of a slice from tap `first` on, for filters of `taps` taps, all of them
    /// in bounds.
    template <int taps, int first, int count>
    __device__ void fragments(mma::RegisterOperand (&result)[count]) const {
        constexpr int vector = taps % 4 == 0 ? 4 : 1;  // words per load
        using Words = Packet<std::uint32_t, vector>;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            Words words[(taps + vector - 1) / vector];  // the taps of two channels
            auto const is_used = [](int j) {
                int const from = 2 * vector * j, to = from + 2 * vector;
                return (to > first && from < first + count) || (to > taps + first && from < taps + first + count);
            };
#pragma unroll
            for (int j = 0; j < taps / vector; ++j)
                if (is_used(j)) words[j] = reinterpret_cast<Words const*>(address(i))[j];
            auto const word = [&](int element) { return words[element / 2 / vector].values[element / 2 % vector]; };
#pragma unroll
            for (int t = 0; t < count; ++t) {
                int const one = first + t, two = taps + first + t;
                std::uint32_t const low = one % 2 == 0 ? word(one) & 0xffffu : word(one) >> 16;
                result[t].words[i] = low | (two % 2 == 0 ? word(two) << 16 : word(two) & 0xffff0000u);
            }
        }
    }
    /// Lower half of the descriptor of the current step's pixels.
    __device__ std::uint32_t pixels() const { return x + static_cast<std::uint32_t>(tables.offset[tap]); }
    __device__ void advance() {
        if (++tap < end) return;
        tap = begin, x += slice_step, filters += 32 * all_taps;
    }
};

}  // namespace fusekit::hip
