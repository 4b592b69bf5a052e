// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/collective/plane_tiles.hpp"

namespace fusekit::hip {

/// A part of y: from a row of an image on; n is -1 where there is none.
struct PlanePart {
    int n, row;
};

/// Brings tiles of x to shared memory: bulk copies bring rows of 64 planes as they lie, and threads transpose them to
/// places of 64 channels with the 128-byte swizzle, zero where x has no place. Rows of a plane that x has follow one
/// another, planes too, and images lie at multiples of 16 bytes.
template <class T, int Pixels, int Parts>
class PlaneLoader {
    static_assert(sizeof(T) == 2);
    using Tiles = PlaneTiles<Pixels>;
    static constexpr int packet = 8, channels = Tiles::channels;

public:
    static constexpr unsigned warps = 4, threads = 32 * warps;

    __device__ PlaneLoader(TensorView<T const> const& x, Tiles const& the_tiles)
        : tiles(the_tiles),
          memory(x.data),
          image_stride(x.layout.stride[0]),
          count(static_cast<int>(x.layout.shape[1])),
          plane(tiles.x_height * tiles.x_width),
          pitch(tiles.plane_pitch()) {}

    /// Begins the copies of the channels from c on, of parts part_of(i). All lanes of a warp call it and arrive at the
    /// barrier.
    template <class PartOf>
    __device__ void copy(PartOf const& part_of, int c, T const* planes, std::uint32_t full, unsigned lane) const {
        unsigned bytes = 0;
        for_each_copy(part_of, c, lane, [&](int, T const*, unsigned each) { bytes += each; });
        ptx::barrier_arrive_expect_bytes(full, bytes);
        auto const to = ptx::shared_address(planes);
        for_each_copy(part_of, c, lane, [&](int at, T const* from, unsigned each) {
            ptx::load_linear(to + static_cast<unsigned>(at) * 2, from, each, full);
        });
    }

    /// Transposes them. Called by the loader's threads.
    template <class PartOf>
    __device__ void transpose(PartOf const& part_of, int c, T const* planes, unsigned char* tile,
                              unsigned thread) const {
        int const lane = static_cast<int>(thread % 32), places = tiles.rows_of_x() * tiles.pitch,
                  rows_of_step = 32 / tiles.pitch, columns_of_step = 32 % tiles.pitch;
#pragma unroll 1
        for (int part = 0; part < Parts; ++part) {
            PlanePart const at = part_of(part);
            if (at.n < 0) continue;
            int const first = tiles.first_row_of_x(at.row),
                      above = tiles.whole() ? tiles.pad_top : first - (at.row - tiles.pad_top),
                      rows = tiles.end_row_of_x(at.row) - first;
            int offsets[packet];
#pragma unroll
            for (int i = 0; i < packet; ++i) offsets[i] = i * pitch + early(i, first);
            T const* const from = planes + part * channels * pitch;
            int row = lane / tiles.pitch - above, column = lane % tiles.pitch - tiles.pad_left;
#pragma unroll 1
            for (int place = lane; place < places; place += 32) {
                bool const inside = row >= 0 && row < rows && column >= 0 && column < tiles.x_width;
                auto const to = static_cast<unsigned>(part * tiles.places() + place);
                int const offset = inside ? row * tiles.x_width + column : 0;
#pragma unroll
                for (unsigned half = 0; half < 2; ++half) {
                    unsigned const chunk = thread / 32 + half * warps;
                    int const channel = static_cast<int>(chunk) * packet;
                    Packet<T, packet> out{};
                    if (inside && c + channel < count)
#pragma unroll
                        for (int i = 0; i < packet; ++i) out.values[i] = from[channel * pitch + offset + offsets[i]];
                    *reinterpret_cast<Packet<T, packet>*>(tile + to * Tiles::row_bytes + (chunk ^ to % 8) * 16) = out;
                }
                row += rows_of_step, column += columns_of_step;
                if (column + tiles.pad_left >= tiles.pitch) column -= tiles.pitch, ++row;
            }
        }
    }

private:
    Tiles const& tiles;
    T const* memory;
    std::int64_t image_stride;
    int count, plane, pitch;

    /// Elements before row `first` of channel c, or of one that is a multiple of 8 further, which its copy begins with.
    __device__ int early(int c, int first) const {
        return tiles.whole() ? 0 : (c % packet * (plane % packet) + first * tiles.x_width) % packet;
    }

    /// Calls f(element of shared memory, first element, bytes) for the lane's copies: of a part's channels together
    /// where they follow one another, else of each.
    template <class PartOf, class F>
    __device__ void for_each_copy(PartOf const& part_of, int c, unsigned lane, F const& f) const {
        int const of_part = tiles.whole() ? 1 : channels, present = min(count - c, channels);
#pragma unroll 1
        for (int i = static_cast<int>(lane); i < Parts * of_part; i += 32) {
            int const part = i / of_part, channel = i % of_part;
            PlanePart const at = part_of(part);
            if (at.n < 0 || channel >= present) continue;
            int const first = tiles.first_row_of_x(at.row), rows = tiles.end_row_of_x(at.row) - first;
            if (rows <= 0) continue;
            int const before = early(channel, first),
                      length = tiles.whole() ? present * plane : (before + rows * tiles.x_width + 7) / 8 * 8;
            f((part * channels + channel) * pitch,
              memory + at.n * image_stride + std::int64_t{c + channel} * plane + first * tiles.x_width - before,
              static_cast<unsigned>(length) * 2);
        }
    }
};

}  // namespace fusekit::hip
