// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/gather_tiles.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// SMEM tables of the segments and taps of a GatherTiles.
struct GatherTables {
    int first_row[GatherTiles::max_taps], first_column[GatherTiles::max_taps];  ///< of each segment
    int length[GatherTiles::max_taps];  ///< of each segment, in positions
    /// for each tap: offset, in positions from the start of a stage, of the element of x that it reads at the tile's
    /// first position; index among all taps of the filter
    int offset[GatherTiles::max_taps], number[GatherTiles::max_taps];

    /// Fills the tables. All threads of the CTA call it; a barrier follows.
    __device__ void init(GatherTiles const& tiles, unsigned thread) {
        int const i = static_cast<int>(thread);
        if (i < tiles.segments()) {
            first_row[i] = tiles.first_row(i), first_column[i] = tiles.first_column(i);
            length[i] = tiles.length(i);
        }
        if (i < tiles.taps()) {
            int const r = i / tiles.tap_columns, s = i % tiles.tap_columns;
            offset[i] = tiles.tap_offset(r, s);
            number[i] = (tiles.first_tap_row + r) * tiles.window_columns + tiles.first_tap_column + s;
        }
    }
};

/// Producer of GatheredPlanes' stages of x: 8 warps transpose planes of x to 16-byte rows of 8 channels. A lane loads
/// the 8 channels of one position, one element each, and stores them as 16 bytes. Consecutive lanes have consecutive
/// positions, so that a load of a warp reads every stride_w-th column of a row of x.
template <class T>
class NchwGather {
    static constexpr int in_flight = 4;  ///< positions that a lane loads before it stores the first of them
    static constexpr int channels = 8;
    using Chunk = Packet<std::uint32_t, channels / 2>;

public:
    static constexpr unsigned warps = 8;
    /// A stage is full when all 8 producer warps have arrived, and empty when all 8 consumer warps have released it.
    using Pipeline = TmaPipeline<GatherTiles::max_stages, 8, warps>;

    __device__ NchwGather(TensorView<T const> const& the_x, GatherTiles const& the_tiles,
                          GatherTables const& the_tables, unsigned warp, unsigned the_lane)
        : x(the_x),
          tiles(the_tiles),
          tables(the_tables),
          lane(the_lane),
          chunks(2u * static_cast<unsigned>(the_tiles.slices)),
          chunk(warp % chunks),
          first_group(static_cast<int>(warp / chunks)),
          step(static_cast<int>(warps / chunks)) {}

    /// Gathers a stage of x for the tile that begins at position `position`: `chunks` x 8 channels, from channel `c`
    /// on.
    __device__ void gather(unsigned position, int c, unsigned char* stage) const {
        int const own = c + static_cast<int>(chunk) * channels;
        bool const exists = own < static_cast<int>(x.layout.shape[1]);
        T const* const from = x.data + (exists ? own : 0) * x.layout.stride[1];
        unsigned char* const to = stage + static_cast<int>(chunk) * tiles.chunk_bytes();
        Cursor at_group{0, first_group};
        find(at_group);
#pragma unroll 1
        while (at_group.segment < tiles.segments()) {
            std::uint16_t values[in_flight][channels];
            bool inside[in_flight];
            int at[in_flight];
#pragma unroll
            for (int i = 0; i < in_flight; ++i) {
                at[i] = -1, inside[i] = false;
                if (at_group.segment < tiles.segments()) {
                    int const within = at_group.group * 32 + static_cast<int>(lane);
                    if (within < tables.length[at_group.segment])
                        at[i] = at_group.segment * tiles.segment_pixels + within;
                    std::int64_t const offset = offset_of(position + static_cast<unsigned>(within), at_group.segment);
                    inside[i] = exists && offset >= 0;
                    load(values[i], from + (inside[i] ? offset : 0));
                    at_group.group += step, find(at_group);
                }
            }
#pragma unroll
            for (int i = 0; i < in_flight; ++i)
                if (at[i] >= 0) put(values[i], inside[i], to + at[i] * 16);
        }
    }

private:
    TensorView<T const> const& x;
    GatherTiles const& tiles;
    GatherTables const& tables;
    unsigned lane, chunks, chunk;
    int first_group, step;

    /// Group `group` of 32 positions of segment `segment`. `group` may be past the segment's end until find().
    struct Cursor {
        int segment, group;
    };
    /// If at_group.group is past the last group of its segment, counts on in the groups of the following segments.
    __device__ void find(Cursor& at_group) const {
        while (at_group.segment < tiles.segments()) {
            int const groups = (tables.length[at_group.segment] + 31) / 32;
            if (at_group.group < groups) return;
            at_group.group -= groups, ++at_group.segment;
        }
    }

    /// Offset in x, from the channel's first element in image 0, of the element that segment `segment` has at
    /// `position`; -1 out of bounds of x.
    __device__ std::int64_t offset_of(unsigned position, int segment) const {
        unsigned const n = tiles.of_image.divide(position), within = position - n * tiles.of_image.value(),
                       row = tiles.of_row.divide(within), column = within - row * tiles.of_row.value();
        int const h = static_cast<int>(row) * tiles.stride_h + tables.first_row[segment],
                  w = static_cast<int>(column) * tiles.stride_w + tables.first_column[segment];
        bool const inside = n < static_cast<unsigned>(tiles.images) &&
                            static_cast<unsigned>(h) < static_cast<unsigned>(tiles.x_height) &&
                            static_cast<unsigned>(w) < static_cast<unsigned>(tiles.x_width);
        return inside ? n * x.layout.stride[0] + h * tiles.x_width + w : -1;
    }

    __device__ void load(std::uint16_t (&values)[channels], T const* from) const {
#pragma unroll
        for (int i = 0; i < channels; ++i)
            values[i] = *reinterpret_cast<std::uint16_t const*>(from + i * x.layout.stride[1]);
    }
    __device__ static void put(std::uint16_t const (&values)[channels], bool inside, unsigned char* to) {
        Chunk packed;
#pragma unroll
        for (int i = 0; i < channels; i += 2) {
            std::uint32_t const low = values[i], high = values[i + 1];
            packed.values[i / 2] = inside ? low | high << 16 : 0;
        }
        *reinterpret_cast<Chunk*>(to) = packed;
    }
};

}  // namespace fusekit::hip
