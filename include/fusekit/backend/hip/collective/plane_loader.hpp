// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/atom/bf16x6.hpp"
#include "fusekit/backend/hip/collective/plane_grid.hpp"

namespace fusekit::hip {

/// A warp's part in bringing tiles of x to shared memory: 8 channels of each block of GemmK. Bulk copies bring rows of
/// their planes as they lie, and lanes transpose them to places of all channels, with the swizzle that is as wide, zero
/// where x has no place; floats as three bfloat16. Warps that share channels share their places, and no others read
/// what one of them has copied. Rows of a plane that x has follow one another, planes too, images lie at multiples of
/// 16 bytes, and x has a multiple of 8 channels.
template <class T, int Pixels, int Parts>
class PlaneLoader {
    using Tiles = PlaneTiles<Pixels, T>;
    static constexpr int own = 8, channels = Tiles::channels, packet = Tiles::packet;

public:
    static constexpr unsigned warps = 8, groups = channels / own, sharing = warps / groups;

    __device__ PlaneLoader(TensorView<T const> const& x, Tiles const& the_tiles, unsigned warp, unsigned the_lane)
        : group(warp / sharing),
          copies(warp % sharing == 0),
          tiles(the_tiles),
          memory(x.data),
          image_stride(x.layout.stride[0]),
          count(static_cast<int>(x.layout.shape[1])),
          plane(tiles.x_height * tiles.x_width),
          pitch(tiles.plane_pitch()),
          first_own(static_cast<int>(group) * own),
          lane(static_cast<int>(the_lane)),
          first_place(static_cast<int>(warp % sharing * 32 + the_lane)),
          lane_row(first_place / tiles.pitch),
          lane_column(first_place % tiles.pitch),
          rows_of_step(step / tiles.pitch),
          columns_of_step(step % tiles.pitch) {}

    unsigned const group;  ///< of warps that share channels
    bool const copies;  ///< whether the warp is the one of them that does

    /// Lanes that arrive at the barrier of a copy.
    static constexpr unsigned copying_lanes = own;

    /// Begins the copies of the warp's channels among those from c on, of parts[i]: all together where they follow one
    /// another, else a channel a lane. All lanes of the warp that copies call it.
    template <class PartsOf>
    __device__ void copy(PartsOf const& parts, int c, T const* planes, std::uint32_t full) const {
        if (lane >= own) return;
        bool const whole = tiles.whole(), present = c + first_own < count && (!whole || lane == 0);
        unsigned bytes[Parts], all = 0;
        T const* from[Parts];
#pragma unroll
        for (int part = 0; part < Parts; ++part) {
            PlanePart const at = parts[part];
            int const first = tiles.first_row_of_x(at.row), rows = tiles.end_row_of_x(at.row) - first,
                      before = early(lane, first),
                      length = whole ? own * plane : (before + rows * tiles.x_width + packet - 1) / packet * packet;
            bytes[part] = present && at.n >= 0 && rows > 0 ? static_cast<unsigned>(length) * sizeof(T) : 0;
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
    static constexpr int step = 32 * sharing;  ///< from a lane's place to the next
    int count, plane, pitch, first_own, lane, first_place;
    int lane_row, lane_column, rows_of_step, columns_of_step;

    /// Elements before row `first` of a channel, own number i, which its copy begins with.
    __device__ int early(int i, int first) const {
        return tiles.whole()
                   ? 0
                   : static_cast<int>(static_cast<unsigned>(i * (plane % packet) + first * tiles.x_width) % packet);
    }

    /// A lane loads `together` of its places before it stores any.
    __device__ void transpose_part(int part, int row_of_y, bool exist, T const* planes, unsigned char* tile) const {
        constexpr int together = 2;
        int const places = tiles.rows_of_x() * tiles.pitch, width = tiles.x_width,
                  first = tiles.first_row_of_x(row_of_y),
                  above = tiles.whole() ? tiles.pad_top : first - (row_of_y - tiles.pad_top),
                  rows = exist ? tiles.end_row_of_x(row_of_y) - first : 0,
                  elements_of_step = rows_of_step * width + columns_of_step;
        using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>;
        int from[own];
#pragma unroll
        for (int i = 0; i < own; ++i)
            from[i] = static_cast<int>(sizeof(T)) * ((part * channels + first_own + i) * pitch + early(i, first));
        auto const* const bytes = reinterpret_cast<unsigned char const*>(planes);
        int row = lane_row - above, column = lane_column - tiles.pad_left, offset = row * width + column;
        // Places of a lane have the same swizzle, whose order changes every 128 bytes.
        constexpr unsigned chunks = Tiles::row_bytes / 16;
        auto const to = static_cast<unsigned>(part * tiles.places() + first_place),
                   chunk = group ^ to * chunks / 8 % chunks;
        unsigned char* stored = tile + to * Tiles::row_bytes + chunk * 16;
#pragma unroll 1
        for (int place = first_place; place < places; place += step * together) {
            Bits values[together][own];
            bool inside[together];
#pragma unroll
            for (int i = 0; i < together; ++i) {
                inside[i] = static_cast<unsigned>(row) < static_cast<unsigned>(rows) &&
                            static_cast<unsigned>(column) < static_cast<unsigned>(width);
                auto const* const here = bytes + (inside[i] ? offset : 0) * static_cast<int>(sizeof(T));
#pragma unroll
                for (int c = 0; c < own; ++c) values[i][c] = *reinterpret_cast<Bits const*>(here + from[c]);
                row += rows_of_step, column += columns_of_step, offset += elements_of_step;
                if (column + tiles.pad_left >= tiles.pitch) column -= tiles.pitch, offset += width - tiles.pitch, ++row;
            }
#pragma unroll
            for (int i = 0; i < together; ++i, stored += step * Tiles::row_bytes)
                if (place + step * i < places) put(values[i], inside[i], stored);
        }
    }

    using Chunk = Packet<std::uint32_t, own / 2>;

    /// Stores a place's channels, or zeros: 16 bytes of each term.
    __device__ void put(std::uint16_t const (&values)[own], bool inside, unsigned char* to) const {
        Chunk chunk;
#pragma unroll
        for (int i = 0; i < own; i += 2) {
            std::uint32_t const low = values[i], high = values[i + 1];
            chunk.values[i / 2] = inside ? low | high << 16 : 0;
        }
        *reinterpret_cast<Chunk*>(to) = chunk;
    }
    __device__ void put(std::uint32_t const (&values)[own], bool inside, unsigned char* to) const {
        float left[own];
#pragma unroll
        for (int i = 0; i < own; ++i) left[i] = inside ? std::bit_cast<float>(values[i]) : 0;
        for_each_bf16_term(left, [&](int term, std::uint32_t const(&words)[own / 2]) {
            *reinterpret_cast<Chunk*>(to + term * tiles.term_bytes(Parts)) = {words[0], words[1], words[2], words[3]};
        });
    }
};

}  // namespace fusekit::hip
