// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/collective/plane_grid.hpp"

namespace fusekit::hip {

/// A warp's part in bringing tiles of x to shared memory: 8 channels of each 64. Bulk copies bring rows of their planes
/// as they lie, and lanes transpose them to places of 64 channels with the 128-byte swizzle, zero where x has no place.
/// No other warp reads what a warp has copied. Rows of a plane that x has follow one another, planes too, images lie at
/// multiples of 16 bytes, and x has a multiple of 8 channels.
template <class T, int Pixels, int Parts>
class PlaneLoader {
    static_assert(sizeof(T) == 2);
    using Tiles = PlaneTiles<Pixels>;
    static constexpr int own = 8, channels = Tiles::channels;

public:
    static constexpr unsigned warps = channels / own;

    __device__ PlaneLoader(TensorView<T const> const& x, Tiles const& the_tiles, unsigned warp, unsigned the_lane)
        : tiles(the_tiles),
          memory(x.data),
          image_stride(x.layout.stride[0]),
          count(static_cast<int>(x.layout.shape[1])),
          plane(tiles.x_height * tiles.x_width),
          pitch(tiles.plane_pitch()),
          first_own(static_cast<int>(warp) * own),
          lane(static_cast<int>(the_lane)),
          lane_row(lane / tiles.pitch),
          lane_column(lane % tiles.pitch),
          rows_of_step(32 / tiles.pitch),
          columns_of_step(32 % tiles.pitch) {}

    /// Lanes that arrive at the barrier of a copy.
    static constexpr unsigned copying_lanes = own;

    /// Begins the copies of the warp's channels among those from c on, of parts[i]: all together where they follow one
    /// another, else a channel a lane. All lanes call it.
    template <class PartsOf>
    __device__ void copy(PartsOf const& parts, int c, T const* planes, std::uint32_t full) const {
        if (lane >= own) return;
        bool const whole = tiles.whole(), copies = c + first_own < count && (!whole || lane == 0);
        unsigned bytes[Parts], all = 0;
        T const* from[Parts];
#pragma unroll
        for (int part = 0; part < Parts; ++part) {
            PlanePart const at = parts[part];
            int const first = tiles.first_row_of_x(at.row), rows = tiles.end_row_of_x(at.row) - first,
                      before = early(lane, first),
                      length = whole ? own * plane : (before + rows * tiles.x_width + own - 1) / own * own;
            bytes[part] = copies && at.n >= 0 && rows > 0 ? static_cast<unsigned>(length) * 2 : 0;
            all += bytes[part];
            from[part] = memory + at.n * image_stride + std::int64_t{c + first_own + lane} * plane +
                         first * tiles.x_width - before;
        }
        ptx::barrier_arrive_expect_bytes(full, all);
#pragma unroll
        for (int part = 0; part < Parts; ++part)
            if (bytes[part] > 0)
                ptx::load_linear(ptx::shared_address(planes + (part * channels + first_own + lane) * pitch), from[part],
                                 bytes[part], full);
    }

    /// Transposes them. Called by all lanes.
    template <class PartsOf>
    __device__ void transpose(PartsOf const& parts, int c, T const* planes, unsigned char* tile) const {
        bool const exist = c + first_own < count;
#pragma unroll 1
        for (int part = 0; part < Parts; ++part)
            if (PlanePart const at = parts[part]; at.n >= 0) transpose_part(part, at.row, exist, planes, tile);
    }

private:
    Tiles const& tiles;
    T const* memory;
    std::int64_t image_stride;
    int count, plane, pitch, first_own, lane;
    int lane_row, lane_column, rows_of_step, columns_of_step;  ///< of places that are 32 apart

    /// Elements before row `first` of a channel, own number i, which its copy begins with.
    __device__ int early(int i, int first) const {
        return tiles.whole() ? 0 : (i * (plane % own) + first * tiles.x_width) % own;
    }

    /// A lane's places are 32 apart. It loads `together` of them before it stores any.
    __device__ void transpose_part(int part, int row_of_y, bool exist, T const* planes, unsigned char* tile) const {
        constexpr int together = 2;
        int const places = tiles.rows_of_x() * tiles.pitch, width = tiles.x_width,
                  first = tiles.first_row_of_x(row_of_y),
                  above = tiles.whole() ? tiles.pad_top : first - (row_of_y - tiles.pad_top),
                  rows = exist ? tiles.end_row_of_x(row_of_y) - first : 0,
                  elements_of_step = rows_of_step * width + columns_of_step;
        std::uint16_t const* from[own];
#pragma unroll
        for (int i = 0; i < own; ++i)
            from[i] = reinterpret_cast<std::uint16_t const*>(planes) + (part * channels + first_own + i) * pitch +
                      early(i, first);
        int row = lane_row - above, column = lane_column - tiles.pad_left, offset = row * width + column;
        // Places 32 apart have the same swizzle.
        auto const to = static_cast<unsigned>(part * tiles.places() + lane),
                   chunk = static_cast<unsigned>(first_own / own) ^ to % 8;
        unsigned char* stored = tile + to * Tiles::row_bytes + chunk * 16;
#pragma unroll 1
        for (int place = lane; place < places; place += 32 * together) {
            Packet<std::uint32_t, own / 2> out[together];
#pragma unroll
            for (auto& packet : out) {
                bool const inside = static_cast<unsigned>(row) < static_cast<unsigned>(rows) &&
                                    static_cast<unsigned>(column) < static_cast<unsigned>(width);
                int const here = inside ? offset : 0;
#pragma unroll
                for (int i = 0; i < own; i += 2) {
                    std::uint32_t const low = from[i][here], high = from[i + 1][here];
                    packet.values[i / 2] = inside ? low | high << 16 : 0;
                }
                row += rows_of_step, column += columns_of_step, offset += elements_of_step;
                if (column + tiles.pad_left >= tiles.pitch) column -= tiles.pitch, offset += width - tiles.pitch, ++row;
            }
#pragma unroll
            for (int i = 0; i < together; ++i, stored += 32 * Tiles::row_bytes)
                if (place + 32 * i < places) *reinterpret_cast<Packet<std::uint32_t, own / 2>*>(stored) = out[i];
        }
    }
};

}  // namespace fusekit::hip
