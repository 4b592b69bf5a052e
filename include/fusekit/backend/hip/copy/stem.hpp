// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/mma/wgmma_tile.hpp"
#include "fusekit/backend/hip/stem_shape.hpp"

namespace fusekit::hip {

/// Stores 64 filters, from filter `first` of w on, to SMEM as operand b of the stem kernel: one panel (an operand tile)
/// for every two rows of the window. Chunks of 16 indices of GemmK have 8 elements of each of the two rows. Elements
/// outside the window and filters past the last one are zero. `threads` threads call it.
template <class Panel, class Problem>
__device__ void put_stem_filters(Panel* panels, StemShape const& shape, Problem const& conv, int first, unsigned thread,
                                 unsigned threads) {
    using T = typename Panel::Operand;
    constexpr unsigned filters = 64;
    constexpr int chunk = StemShape::chunk;
    Index<4> const& stride = conv.w.layout.stride;
    auto const chunks = static_cast<unsigned>(shape.chunks);
    int const channels = conv.group_c();
    for (unsigned i = thread; i < static_cast<unsigned>(shape.panels) * 2 * chunks * filters; i += threads) {
        unsigned const row = i % filters, number = i / filters, r = number / chunks, of_row = number - r * chunks;
        int const filter = first + static_cast<int>(row), j = static_cast<int>(of_row) * chunk - shape.lead;
        bool const in_bounds = filter < conv.group_k() && static_cast<int>(r) < conv.window_rows();
        T const* const from = conv.w.data + (in_bounds ? filter * stride[0] + r * stride[2] : 0);
        int s = (max)(j, 0) / channels, c = (max)(j, 0) - s * channels;
        panels[r / 2].template put_along_k<chunk>((of_row * 2 + r % 2) * chunk, row, [&](int e) {
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

/// Copies `shape.rows_of_x` rows of `shape.pitch` elements of an image to SMEM, as TMA would, with zeros out of bounds:
/// from row `row`, element `first` on. For x whose rows are misaligned for TMA. A warpgroup's threads call it; each has
/// up to 16 loads in flight.
template <class T>
__device__ void copy_stem_rows(T* to, StemShape const& shape, TensorView<T const> const& x, int image, int row,
                               int first, unsigned thread) {
    constexpr int warps = 4, lanes = 32, rows_at_once = 4, elements_at_once = 4;
    Index<4> const &extent = x.layout.shape, &stride = x.layout.stride;
    int const height = static_cast<int>(extent[2]), width = static_cast<int>(extent[3] * extent[1]),
              lane = static_cast<int>(thread % lanes);
    T const* const from = x.data + image * stride[0] + row * stride[2] + first;
#pragma unroll 1
    for (int r = static_cast<int>(thread / lanes); r < shape.rows_of_x; r += warps * rows_at_once)
#pragma unroll 1
        for (int e = lane; e < shape.pitch; e += lanes * elements_at_once) {
            Packet<T, 1> values[rows_at_once][elements_at_once];
#pragma unroll
            for (int i = 0; i < rows_at_once; ++i)
#pragma unroll
                for (int j = 0; j < elements_at_once; ++j) {
                    int const of_row = r + i * warps, element = e + j * lanes;
                    bool const in_bounds = of_row < shape.rows_of_x && element < shape.pitch &&
                                           static_cast<unsigned>(row + of_row) < static_cast<unsigned>(height) &&
                                           static_cast<unsigned>(first + element) < static_cast<unsigned>(width);
                    values[i][j] = load_if(in_bounds, reinterpret_cast<Packet<T, 1> const*>(
                                                          from + (in_bounds ? of_row * stride[2] + element : 0)));
                }
#pragma unroll
            for (int i = 0; i < rows_at_once; ++i)
#pragma unroll
                for (int j = 0; j < elements_at_once; ++j) {
                    int const of_row = r + i * warps, element = e + j * lanes;
                    if (of_row < shape.rows_of_x && element < shape.pitch)
                        to[of_row * shape.pitch + element] = values[i][j].values[0];
                }
        }
}

/// Loader of wgmma's operand a from SMEM to registers: the windows of a tile's pixels. A thread has words of the
/// windows of two pixels, lane / 4 and lane / 4 + 8 of its warp's 16 pixels. Source: PTX ISA 8.7, section 9.7.15.5.1,
/// the figure of A for .k16.
template <class Atom>
class StemWindows {
public:
    template <int chunks>
    using Words = std::uint32_t[chunks][4];

    __device__ StemWindows(StemShape const& shape, Filter<2> const& filter, unsigned thread)
        : row_bytes(filter.dilations[0] * shape.pitch * 2), rows(filter.size[0]) {
        int const pair = static_cast<int>(thread) % 4 * 2;
        for (int i = 0; i < 2; ++i) {
            int const pixel = Atom::row(static_cast<int>(thread), 2 * i), p = pixel >> shape.shift,
                      q = pixel - (p << shape.shift);
            offsets[i] = (p * filter.strides[0] * shape.pitch + q * shape.step + pair) * 2;
        }
        int const end = shape.lead + shape.row_elements - (shape.chunks - 1) * StemShape::chunk - pair;
        first = shape.lead == 1 && pair == 0 ? 0xffff0000u : ~0u;
        last = (end > 0 ? 0xffffu : 0u) | (end > 1 ? 0xffff0000u : 0u);
    }

    /// Loads the thread's words of the two window rows of panel `panel`. `begin` is the SMEM address of the tile's
    /// first window. Unless `whole_words`, loads 16 bits at a time, because windows may begin at odd elements.
    template <int chunks, bool whole_words>
    __device__ void load(unsigned char const* begin, int panel, Words<chunks>& words) const {
        std::uint32_t const masks[] = {~0u, 2 * panel + 1 < rows ? ~0u : 0u};
        unsigned char const* const row = begin + 2 * panel * row_bytes;
        unsigned char const* const rows_of_pair[] = {row, row + (masks[1] & static_cast<unsigned>(row_bytes))};
#pragma unroll
        for (int i = 0; i < chunks; ++i)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                std::uint32_t const mask = masks[half] & (i == 0 ? first : ~0u) & (i == chunks - 1 ? last : ~0u);
#pragma unroll
                for (int pixel = 0; pixel < 2; ++pixel)
                    words[i][half * 2 + pixel] =
                        word<whole_words>(rows_of_pair[half] + offsets[pixel] + i * StemShape::chunk * 2) & mask;
            }
    }

private:
    /// row_bytes: bytes in SMEM from a window row to the next. rows: number of window rows. offsets: for each of the
    /// thread's two pixels, byte offset of its words from `begin`, the tile's first window
    int row_bytes, rows, offsets[2];
    /// masks of the words in the first and in the last chunk of a window row; they zero the elements before and after
    /// the window
    std::uint32_t first, last;

    template <bool whole_words>
    __device__ static std::uint32_t word(unsigned char const* from) {
        if constexpr (whole_words) return *reinterpret_cast<std::uint32_t const*>(from);
        auto const* const halves = reinterpret_cast<std::uint16_t const*>(from);
        return halves[0] | std::uint32_t{halves[1]} << 16;
    }
};

}  // namespace fusekit::hip
