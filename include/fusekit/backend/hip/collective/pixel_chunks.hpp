// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// Pixels of planes in chunks of 16 bytes: those of an image one after another, and then none, to a multiple of a step.
/// A step takes four chunks.
template <Element T>
struct PixelChunk {
    static constexpr int count = 16 / static_cast<int>(sizeof(T)), of_step = 4, step_pixels = of_step * count,
                         step_bytes = of_step * 16;
    /// The pixels of an image with those that are none.
    FUSEKIT_HD static constexpr std::int64_t whole(std::int64_t pixels) {
        return (pixels + step_pixels - 1) / step_pixels * step_pixels;
    }
};

/// The bits of 16 bytes.
struct alignas(16) ChunkMask {
    std::uint32_t words[4];

    __device__ ChunkMask operator~() const { return {{~words[0], ~words[1], ~words[2], ~words[3]}}; }
};

/// Which pixels of chunks of floats have an element of x under a tap; and, as a tap more, which are none.
template <Element T, int Chunks>
struct ChunkMasks {
    static_assert(sizeof(T) == sizeof(std::uint32_t));
    static constexpr int most_taps = 9;
    ChunkMask masks[Chunks][most_taps + 1];

    /// Of the chunks from pixel `first` on, where an image has `plane` pixels, and pixels end at `end`.
    template <int threads, class Problem>
    __device__ void fill(Problem const& conv, int first, int plane, int end, unsigned thread) {
        constexpr int count = PixelChunk<T>::count;
        static_assert(threads % Chunks == 0);
        auto const extent = [](std::int64_t size) { return static_cast<unsigned>(size); };
        unsigned const rows = extent(conv.x.layout.shape[2]), columns = extent(conv.x.layout.shape[3]),
                       q = extent(conv.y[3]), pixels = extent(conv.y[2]) * q, taps = extent(conv.taps()),
                       chunk = thread % Chunks, m = static_cast<unsigned>(first) + chunk * count,
                       in_plane = m % static_cast<unsigned>(plane), p = in_plane / q;
        int const there = (min)(end - static_cast<int>(m), static_cast<int>(pixels - in_plane));
        auto const window = conv.window({0, static_cast<int>(p), static_cast<int>(in_plane - p * q)});
        for (unsigned tap = thread / Chunks; tap <= taps; tap += threads / Chunks) {
            unsigned const r = tap / extent(conv.window_columns()), s = tap - r * extent(conv.window_columns());
            auto const distance = conv.distance(static_cast<int>(r), static_cast<int>(s));
            bool const all_inside = tap == taps;
            unsigned row = extent(window[0] + distance[0]), column = extent(window[1] + distance[1]),
                     rest = q - (in_plane - p * q);
            ChunkMask mask = {};
#pragma unroll
            for (int pixel = 0; pixel < count; ++pixel) {  // without branches
                bool const kept = (all_inside | ((row < rows) & (column < columns))) & (pixel < there);
                mask.words[pixel] = kept ? 0xffffffff : 0;
                bool const ends = --rest == 0;
                row += ends;
                column += ends ? 1 - q : 1;
                rest = ends ? q : rest;
                keep_apart();
            }
            masks[chunk][tap] = all_inside ? ~mask : mask;
        }
    }
};

/// A thread's share of `Rows` rows of a step, whose pixels are neighbours in memory as they are in the rows of an
/// atom's Tile: a chunk of each of several rows. Four neighbouring threads load a row's.
template <Element T, int Rows, int threads>
class ChunksOfRows {
public:
    static constexpr unsigned step = threads / PixelChunk<T>::of_step, own = Rows / step;
    static_assert(step * PixelChunk<T>::of_step == threads && own * step == Rows);
    /// Where a row begins that does not exist: out of bounds, at all 32-bit offsets from `origin`.
    static constexpr std::uint32_t nowhere = Buffer::nowhere + Buffer::before;

    /// Row i of the thread, of `own`, begins `offset(i)` bytes into the buffer, or is `nowhere`.
    template <class OffsetOf>
    __device__ ChunksOfRows(unsigned thread, void const* origin, OffsetOf offset)
        : buffer(origin), chunk(thread % PixelChunk<T>::of_step), row(thread / PixelChunk<T>::of_step) {
#pragma unroll
        for (unsigned i = 0; i < own; ++i) at[i] = offset(i) + chunk * 16;
    }
    /// Goes so many bytes further.
    __device__ void move(std::uint32_t further) {
#pragma unroll
        for (unsigned i = 0; i < own; ++i) at[i] += further;
    }
    /// Loads whole chunks, `further` bytes from there. All of their bytes can be read, and need no alignment.
    __device__ void load(std::uint32_t further) {
#pragma unroll
        for (unsigned i = 0; i < own; ++i) values[i] = buffer.template load<Words<4>>(at[i], further);
    }
    /// Loads only what a mask keeps, and zeros.
    __device__ void load(std::uint32_t further, ChunkMask const& mask) {
#pragma unroll
        for (unsigned i = 0; i < own; ++i) {
#pragma unroll
            for (int word = 0; word < 4; ++word) {
                std::uint32_t const from = at[i] + further + static_cast<unsigned>(word) * 4;
                values[i][word] =
                    buffer.template load<std::uint32_t>((mask.words[word] & 1) != 0 ? from : Buffer::nowhere);
            }
            keep_apart();
        }
    }
    /// Keeps what a mask has, and makes the rest of the thread's first row `fill`, of other rows zero.
    __device__ void keep(ChunkMask const& mask, std::uint32_t fill) {
#pragma unroll
        for (unsigned i = 0; i < own; ++i)
#pragma unroll
            for (int word = 0; word < 4; ++word) {
                std::uint32_t const rest = i == 0 ? ~mask.words[word] & fill : 0;
                values[i][word] = (values[i][word] & mask.words[word]) | rest;
            }
    }
    template <class Tile>
    __device__ void store(Tile& tile) const {
#pragma unroll
        for (unsigned i = 0; i < own; ++i) tile.put_words(chunk * PixelChunk<T>::count, row + i * step, values[i]);
    }
    /// Waits for all that has been loaded.
    __device__ void wait() { wait_for(values[own - 1]); }

    Buffer buffer;
    unsigned chunk, row;

private:
    std::uint32_t at[own];
    Words<4> values[own];
};

}  // namespace fusekit::hip
