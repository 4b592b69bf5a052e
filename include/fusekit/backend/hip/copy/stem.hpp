// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/mma/wgmma_tile.hpp"
#include "fusekit/backend/hip/stem_shape.hpp"

namespace fusekit::hip {

/// Stores 64 filters, from filter `first` of w on, to SMEM as operand b of the stem kernel: one panel (an operand tile)
/// for every two rows of the window, and a second set of panels if the shape has two. Chunks of 16 indices of GemmK
/// have 8 elements of each of the two rows. Elements outside the window and filters past the last one are zero.
/// `threads` threads call it.
template <class Panel, class Problem>
__device__ void put_stem_filters(Panel* panels, StemTiles const& shape, Problem const& conv, int first, unsigned thread,
                                 unsigned threads) {
    using T = typename Panel::Operand;
    constexpr unsigned filters = 64;
    constexpr int chunk = StemShape::chunk;
    Index<4> const& stride = conv.w.layout.stride;
    auto const chunks = static_cast<unsigned>(shape.chunks), rows = static_cast<unsigned>(shape.panels) * 2;
    int const channels = conv.group_c();
    for (unsigned i = thread; i < static_cast<unsigned>(shape.sets()) * rows * chunks * filters; i += threads) {
        unsigned const row = i % filters, number = i / filters, of_sets = number / chunks,
                       of_row = number - of_sets * chunks, set = of_sets < rows ? 0 : 1, r = of_sets - set * rows;
        int const filter = first + static_cast<int>(row),
                  j = static_cast<int>(of_row) * chunk -
                      shape.lead(static_cast<int>(r), conv.filter.dilations[0], static_cast<int>(set));
        bool const in_bounds = filter < conv.group_k() && static_cast<int>(r) < conv.window_rows();
        T const* const from = conv.w.data + (in_bounds ? filter * stride[0] + r * stride[2] : 0);
        int s = (max)(j, 0) / channels, c = (max)(j, 0) - s * channels;
        panels[of_sets / 2].template put_along_k<chunk>((of_row * 2 + r % 2) * chunk, row, [&](int e) {
            bool const seen = in_bounds && j + e >= 0 && j + e < shape.row_elements;
            auto const weight =
                load_if(seen, reinterpret_cast<Packet<T, 1> const*>(from + s * stride[3] + c * stride[1]));
            bool const next = j + e >= 0;
            c = !next ? c : c + 1 < channels ? c + 1 : 0;
            s += next && c == 0;
            return weight.values[0];
        });
    }
}

/// Rows of x that an output tile reads, from row `row` and element `first` of image `image` on; both may be negative,
/// in the padding. TMA boxes begin at multiples of 16 bytes at or before that element.
template <class T>
class StemRows {
public:
    __device__ StemRows(StemTiles const& the_tiles, TensorView<T const> const& of_x, int the_image, int the_row,
                        int the_first)
        : tiles(the_tiles), x(of_x), image(the_image), row(the_row), first(the_first) {}

    /// Index, in row r of the stage, of the windows' first element.
    __device__ int phase(int r) const { return (tiles.by_rows ? begin_of(r) : first) & (StemShape::chunk - 1); }

    /// Issues the TMA loads of a stage at SMEM address `to`, in one thread.
    __device__ void load(std::uint32_t to, TensorMap const* map, std::uint32_t full) const {
        if (!tiles.by_rows) return ptx::tma_load(to, map, full, {whole(first), row, image, 0});
#pragma unroll 1
        for (int r = 0; r < tiles.rows_of_x; ++r)
            ptx::tma_load(to + static_cast<std::uint32_t>(r * tiles.pitch * 2), map, full,
                          {whole(begin_of((min)((max)(r, -1 - row), height() - row))), 0, 0, 0});
    }

    /// With by_rows: true if fill() stores elements.
    __device__ bool has_gaps() const {
        return first < 0 || first + tiles.box > width() || row < 0 || row + tiles.rows_of_x > height() ||
               begin_of(tiles.rows_of_x - 1) + tiles.box > tiles.elements;
    }
    /// With by_rows: stores zeros for the elements out of bounds of x, and the elements of x past the end of its tensor
    /// map, to a stage whose loads are complete. The 128 threads of a warpgroup call it.
    __device__ void fill(unsigned char* stage, unsigned thread) const {
        constexpr int warps = 4, lanes = 32;
        for (int r = static_cast<int>(thread) / lanes; r < tiles.rows_of_x; r += warps) {
            bool const exists = static_cast<unsigned>(row + r) < static_cast<unsigned>(height());
            int const in_map = tiles.elements - whole(begin_of(r)), at = first - phase(r);
            T* const to = reinterpret_cast<T*>(stage) + r * tiles.pitch;
            for (int e = static_cast<int>(thread) % lanes; e < tiles.box; e += lanes) {
                bool const in_bounds = exists && static_cast<unsigned>(at + e) < static_cast<unsigned>(width());
                if (!in_bounds) to[e] = T(0.0f);
                else if (e >= in_map)
                    to[e] = x.data[image * x.layout.stride[0] + (row + r) * x.layout.stride[2] + at + e];
            }
        }
    }

private:
    StemTiles const& tiles;
    TensorView<T const> const& x;
    int image, row, first;

    __device__ int height() const { return static_cast<int>(x.layout.shape[2]); }
    __device__ int width() const { return static_cast<int>(x.layout.shape[3] * x.layout.shape[1]); }
    __device__ static int whole(int element) { return element & ~(StemShape::chunk - 1); }
    /// Coordinate in x's tensor map of row r's first element.
    __device__ int begin_of(int r) const {
        auto const skipped = static_cast<int>(reinterpret_cast<std::uintptr_t>(x.data) / sizeof(T) % StemShape::chunk);
        return skipped + image * tiles.image_step + (row + r) * tiles.row_step + first;
    }
};

/// Loader of wgmma's operand a from SMEM to registers: the windows of a tile's pixels. A thread has words of the
/// windows of two pixels, lane / 4 and lane / 4 + 8 of its warp's 16 pixels. Source: PTX ISA 8.7, section 9.7.15.5.1,
/// the figure of A for .k16.
template <class Atom>
class StemWindows {
public:
    template <int chunks>
    using Words = std::uint32_t[chunks][4];

    __device__ StemWindows(StemTiles const& shape, Filter<2> const& filter, unsigned thread)
        : row_bytes(filter.dilations[0] * shape.pitch * 2),
          rows(filter.size[0]),
          phase_of_row(filter.dilations[0] * shape.row_step) {
        int const pair = static_cast<int>(thread) % 4 * 2;
        for (int i = 0; i < 2; ++i) {
            int const pixel = Atom::row(static_cast<int>(thread), 2 * i), p = pixel >> shape.shift,
                      q = pixel - (p << shape.shift);
            offsets[i] = (p * filter.strides[0] * shape.pitch + q * shape.step + pair) * 2;
            phases[i] = p * filter.strides[0] * shape.row_step;
        }
        int const end = shape.row_elements - (shape.chunks - 1) * StemShape::chunk - pair;
        for (int lead = 0; lead < 2; ++lead)
            last[lead] = (end + lead > 0 ? 0xffffu : 0u) | (end + lead > 1 ? 0xffff0000u : 0u);
        first = pair == 0 ? 0xffff0000u : ~0u;
    }

    /// Loads the thread's words of the two window rows of panel `panel` from the stage at `stage`, whose first row
    /// begins at element `phase` of its 16 bytes. Unless `whole_words`, loads 16 bits at a time, because windows may
    /// begin at odd elements.
    template <int chunks, bool whole_words>
    __device__ void load(unsigned char const* stage, int phase, int panel, Words<chunks>& words) const {
        std::uint32_t const below = 2 * panel + 1 < rows ? ~0u : 0u;
        unsigned char const* const row = stage + 2 * panel * row_bytes;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            std::uint32_t const all = half == 1 ? below : ~0u;
            unsigned char const* const from = half == 1 ? row + (below & static_cast<unsigned>(row_bytes)) : row;
            int const of_row = phase + (2 * panel + (below ? half : 0)) * phase_of_row;
            bool const leads = whole_words && of_row % 2 != 0;
            std::uint32_t const of_first = all & (leads ? first : ~0u), of_last = leads ? last[1] : last[0];
#pragma unroll
            for (int pixel = 0; pixel < 2; ++pixel) {
                int const begin =
                    (of_row + phases[pixel]) & (whole_words ? StemShape::chunk - 2 : StemShape::chunk - 1);
                unsigned char const* const of_pixel = from + offsets[pixel] + 2 * begin;
#pragma unroll
                for (int i = 0; i < chunks; ++i)
                    words[i][half * 2 + pixel] = word<whole_words>(of_pixel + i * StemShape::chunk * 2) &
                                                 (i == 0 ? of_first : all) & (i == chunks - 1 ? of_last : ~0u);
            }
        }
    }

private:
    /// row_bytes: bytes in SMEM from a window row to the next. rows: number of window rows. offsets: for each of the
    /// thread's two pixels, byte offset of its words from the tile's first window. phase_of_row, phases: by how many
    /// elements a window row, and the pixels' first rows, begin later in their 16 bytes; modulo StemShape::chunk
    int row_bytes, rows, offsets[2], phase_of_row, phases[2];
    /// masks of the words in the first chunk after a lead, and in the last chunk without and with one, which zero the
    /// elements before and after the window
    std::uint32_t first, last[2];

    template <bool whole_words>
    __device__ static std::uint32_t word(unsigned char const* from) {
        if constexpr (whole_words) return *reinterpret_cast<std::uint32_t const*>(from);
        auto const* const halves = reinterpret_cast<std::uint16_t const*>(from);
        return halves[0] | std::uint32_t{halves[1]} << 16;
    }
};

}  // namespace fusekit::hip
