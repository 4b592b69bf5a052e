// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/permute.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/copy/wgrad/load_pixels.hpp"
#include "fusekit/backend/hip/copy/wgrad/packet_offsets.hpp"
#include "fusekit/backend/hip/copy/wgrad/tile.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/tensor/filter.hpp"

namespace fusekit::hip {

/// Numbering of the pixels of dy that pads each row of y to a multiple of four pixels; a number in it is called a slot.
/// The last four slots of an image are its last four pixels, so that some of them may also have earlier slots.
struct PaddedRows {
    FUSEKIT_HD static constexpr std::int64_t of_row(std::int64_t pixels) { return (pixels + 3) / 4 * 4; }
    FUSEKIT_HD static constexpr std::int64_t of_image(std::int64_t rows, std::int64_t pixels) {
        return rows * of_row(pixels);
    }
};

/// Range [begin, end) of slots that a CTA reduces; a slot is the number of a pixel of dy with padded rows (PaddedRows).
struct SlotRange {
    int begin, end;

    template <class Params, class Problem>
    __device__ SlotRange(Params const& params, Problem const& conv, int first) : begin(of_wave(first)) {
        auto const slot_count = static_cast<int>(PaddedRows::of_image(conv.y[2], conv.y[3]) * conv.y[0]);
        end = of_wave((min)(begin + params.split_pixels, slot_count));
    }
};

/// Locates those k-tiles of a CTA, of slots_per_step slots (PaddedRows) each, that may contain edges. An edge is a quad
/// of four pixels whose vector load would read out of bounds of x: in the first rows of the first image or the last
/// rows of the last image. A 1x1 filter has no edges.
template <int slots_per_step>
class EdgeSteps {
public:
    template <class Problem>
    __device__ EdgeSteps(Problem const& conv, int begin) {
        int const rows = conv.extent(conv.y, 2), slots_per_row = static_cast<int>(PaddedRows::of_row(conv.y[3])),
                  stride = conv.filter.strides[0], of_first = -conv.window({0, 0, 0})[0],
                  of_last =
                      conv.extent(conv.x.layout.shape, 2) - 1 + of_first - conv.distance(conv.window_rows() - 1, 0)[0],
                  last_row = (conv.extent(conv.y, 0) - 1) * rows + ((max)(of_last, 0) + stride - 1) / stride;
        first_end = of_wave((of_first / stride + 1) * slots_per_row);
        last_begin = of_wave(begin + (max)(last_row * slots_per_row - begin, 0) / slots_per_step * slots_per_step);
        if (detail::is_single_pixels(conv.filter)) first_end = 0, last_begin = (std::numeric_limits<int>::max)();
    }
    /// Returns the first slot (pixel number with padded rows, PaddedRows), at or after `slot`, that is in a k-tile
    /// which may contain edges.
    __device__ int from(int slot) const { return slot < first_end ? slot : (max)(slot, last_begin); }

private:
    int first_end, last_begin;
};

/// True if RowOffsets supports the filter: at each tap, four consecutive pixels of a row of y read elements of a row of
/// x that are 1 or 2 apart, and elements have 16 bits.
template <Element T, int Space>
FUSEKIT_HD constexpr bool has_row_offsets(Filter<Space> const& filter) {
    return Space == 2 && sizeof(T) == 2 && filter.strides[Space - 1] <= 2;
}

/// Entry of RowOffsets, for a quad (four consecutive pixels of a row of y) at one tap: byte offsets in x and dy
/// (Buffer), and the v_perm_b32 selectors of the first two pixels (`low`) and of the last two (`high`), which replace
/// padding by zero.
struct alignas(16) QuadOfRow {
    std::uint32_t x, low, high, dy;
};

/// LDS table of offsets and selectors for quads, four consecutive pixels of a row of y. It has a line of entries for
/// each tap that occurs in the tile's columns of dw, and a last line whose selectors give ones, for the bias gradient.
/// A quad reads 8 bytes of a row of x at column stride 1, and 16 bytes at stride 2.
template <Element T, int Stride>
class RowOffsets {
    static_assert(sizeof(T) == 2 && (Stride == 1 || Stride == 2));
    static constexpr int max_taps = WeightGradientTile::m / 8, max_quads = 256, capacity = 512;
    static constexpr std::uint32_t none = no_byte * 0x01010101u, all_ones = byte_of_ones * 0x01010101u;

public:
    static constexpr int loaded = 4 * Stride;  ///< number of elements of x that are loaded for a quad
    /// v_perm_b32 selectors of a quad without padding: `low` gives the 32-bit word of its first two pixels, `high` that
    /// of its last two.
    static constexpr std::uint32_t low = Stride == 1 ? 0x03020100 : 0x05040100,
                                   high = Stride == 1 ? 0x07060504 : 0x05040100;

    /// Returns the number of entries (quads) per line of the table for range.count taps, a multiple of `multiple`.
    template <int multiple>
    __device__ static int quads(TapRange const& range) {
        return (min)(max_quads, capacity / (range.count + 1) / multiple * multiple);
    }
    /// Returns the first entry of the table's line for tap number `tap` of the tile's taps (TapRange); line number
    /// range.count gives ones. `quads`: entries per line.
    __device__ QuadOfRow const* line(int tap, int quads) const { return entries + tap * quads; }

    /// Computes the taps' distances from a window's origin. All threads call it once; a CTA barrier must follow.
    template <class Problem>
    __device__ void find_taps(Problem const& conv, TapRange const& range, unsigned thread) {
        range.find(conv, taps, thread);
    }
    /// Fills the table's lines, of `quads` entries each, with `count` entries for the quads from slot `first`
    /// (PaddedRows) on. Entries at slot `end` and later are out of range of their Buffers; so are edges (EdgeSteps)
    /// unless `of_edges`, and all entries except edges with `of_edges`.
    template <int threads, bool of_edges, class Problem>
    __device__ void fill(Problem const& conv, TapRange const& range, int quads, int count, int first, int end,
                         unsigned thread) {
        int const rows = conv.extent(conv.y, 2), columns = conv.extent(conv.y, 3), row_quads = (columns + 3) / 4;
        Index<4> const &of_x = conv.x.layout.shape, &step = conv.x.layout.stride;
        // Offsets of elements of x, and of the few elements past them that a vector load reads, are below 2^29.
        int const in_channel =
            static_cast<int>(1 + (of_x[0] - 1) * step[0] + (of_x[2] - 1) * step[2] + (of_x[3] - 1) * step[3]);
#pragma unroll 1
        for (int quad = static_cast<int>(thread); quad < count; quad += threads) {
            int const slot = first + 4 * quad;
            bool const in_bounds = slot < end;
            auto const whole = [](unsigned a, int b) { return static_cast<int>(a / static_cast<unsigned>(b)); };
            auto const number = static_cast<unsigned>((min)(slot, end - 1)) / 4;
            int const row = whole(number, row_quads), begin = 4 * (static_cast<int>(number) - row * row_quads),
                      n = whole(static_cast<unsigned>(row), rows), p = row - n * rows,
                      pixel_of_image = p * columns + begin, had = (max)(pixel_of_image + 4 - rows * columns, 0),
                      q = begin - had;
            auto const window = conv.window(Pixel{n, p, q});
            auto const of_window = static_cast<std::uint32_t>(n * step[0] + conv.input_offset(window));
            std::uint32_t const dy =
                in_bounds ? offset(n * conv.y_stride[0] + (pixel_of_image - had)) : Buffer::out_of_bounds;
            Pixels const own([&](int i) { return (i >= had) & (q + i < columns) & in_bounds; });
#pragma unroll 1
            for (int tap = 0; tap < range.count; ++tap) {
                InputCoord<2> const from = taps[tap].whole();
                auto const at = static_cast<int>(of_window + static_cast<std::uint32_t>(from.offset));
                bool const is_edge = (at < 0) | (at + loaded > in_channel),
                           in_rows = (is_edge == of_edges) & is_below(window[0] + from.at[0], conv.extent(of_x, 2));
                int const column = in_rows ? window[1] + from.at[1] : outside;
                Pixels const in_x([&](int i) { return is_below(column + i * Stride, conv.extent(of_x, 3)); });
                std::uint32_t const in_low = own.low & in_x.low, in_high = own.high & in_x.high;
                entries[tap * quads + quad] = {in_low | in_high ? offset(at) : Buffer::out_of_bounds,
                                               (low & in_low) | (none & ~in_low), (high & in_high) | (none & ~in_high),
                                               dy};
            }
            // with `of_edges`, the last line gives zeros: the bias gradient has already summed these pixels
            std::uint32_t const ones = of_edges ? none : all_ones;
            entries[range.count * quads + quad] = {Buffer::out_of_bounds, none | (ones & own.low),
                                                   none | (ones & own.high), dy};
        }
    }

private:
    QuadOfRow entries[capacity];
    InputCoord<2> taps[max_taps];  ///< distances of the tile's taps from a window's origin

    /// Masks of the four pixels of a quad, 16 bits per pixel: all ones for the pixels i for which has(i) is true. `low`
    /// has the first two pixels, `high` the last two.
    struct Pixels {
        std::uint32_t low = 0, high = 0;

        template <class Has>
        __device__ explicit Pixels(Has const& has) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                (i < 2 ? low : high) |= has(i) ? 0xffffu << i % 2 * 16 : 0;
                keep_apart();  // keep_apart: otherwise the conditions of several pixels occupy scalar registers at once
            }
        }
    };
    /// column of x so far out of bounds that the three columns after it are out of bounds, too
    static constexpr int outside = -(1 << 30);
    /// True if 0 <= coord < extent.
    __device__ static bool is_below(int coord, int extent) {
        return static_cast<unsigned>(coord) < static_cast<unsigned>(extent);
    }
    __device__ static std::uint32_t offset(std::int64_t elements) {
        return Buffer::bias + static_cast<std::uint32_t>(elements) * static_cast<std::uint32_t>(sizeof(T));
    }
};

}  // namespace fusekit::hip
