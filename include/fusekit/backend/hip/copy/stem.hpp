// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
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

/// Rows of x that a tile of y reads, for x whose rows are misaligned for TMA: a bulk copy loads each row to SMEM, from
/// the multiple of 16 bytes at or before its first element on, so that rows begin at different elements of 16 bytes.
/// Element e of a row, in [first, end), is stored at element r * pitch + phase(r) + e - first of the stage. Elements
/// out of bounds of x, which windows of existing pixels read, are those of `row`, `rows`, `first` and `end` outside the
/// image: fill() sets them to zero.
template <class T>
class StemRows {
public:
    static constexpr unsigned lanes = 32;  ///< lanes that call load(), each arriving on the stage's mbarrier

    /// From row `row` and element `first` of image `image` on; windows end before row `row` + `rows` and element `end`.
    __device__ StemRows(StemShape const& shape, TensorView<T const> const& x, int image, int the_row, int the_rows,
                        int the_first, int the_end)
        : pitch(shape.pitch),
          row(the_row),
          rows(the_rows),
          first(the_first),
          end(the_end),
          height(static_cast<int>(x.layout.shape[2])),
          width(static_cast<int>(x.layout.shape[3] * x.layout.shape[1])),
          step(x.layout.stride[2]),
          begin(x.data + image * x.layout.stride[0] + the_row * step + the_first) {}

    /// Index of the row's first element in its 16 bytes.
    __device__ int phase(int r) const { return phase_of(begin + r * step); }
    __device__ static int phase_of(T const* at) {
        return static_cast<int>(reinterpret_cast<std::uintptr_t>(at) / sizeof(T) % chunk);
    }

    /// Issues the bulk copies of the stage's rows that are in bounds, whose completion stage `stage` of `full`
    /// reports. `last`: the address after the last element of x, up to which it may be read. The first warp of the
    /// warpgroup calls it.
    template <class Stages>
    __device__ void load(T* to, Stages const& full, unsigned stage, T const* last, unsigned lane) const {
        int const from = (max)(first, 0), until = (min)(end, width);
        unsigned bytes = 0;
        for (int r = static_cast<int>(lane); r < rows; r += lanes)
            if (exists(r)) bytes += span(r, from, until, last).bytes;
        auto const barrier = full.producer_expect_tx(stage, bytes);
        for (int r = static_cast<int>(lane); r < rows; r += lanes) {
            if (!exists(r)) continue;
            Span const all = span(r, from, until, last);
            T* const row_to = to + r * pitch + phase(r) - first;
            if (all.bytes > 0)
                ptx::bulk_load(ptx::shared_address(row_to + from - all.skipped), all.at, all.bytes, barrier);
            T const* const row_from = begin + r * step - first;
            int const copied = from - all.skipped + static_cast<int>(all.bytes / sizeof(T));
            for (int e = (max)(from, copied); e < until; ++e) row_to[e] = row_from[e];
        }
    }

    /// True if windows of the tile's pixels read elements out of bounds of x.
    __device__ bool is_padded() const { return first < 0 || end > width || row < 0 || row + rows > height; }
    /// Stores zeros to the elements out of bounds. The warpgroup's 128 threads call it when the copies are complete.
    __device__ void fill(T* to, unsigned thread) const {
        constexpr int warps = 4;
        for (int r = static_cast<int>(thread / lanes); r < rows; r += warps) {
            int const left = exists(r) ? (min)(0, end) : end, right = exists(r) ? (max)(width, first) : end;
            T* const row_to = to + r * pitch + phase(r) - first;
            for (int e = first + static_cast<int>(thread % lanes); e < left; e += lanes) row_to[e] = T(0.0f);
            for (int e = right + static_cast<int>(thread % lanes); e < end; e += lanes) row_to[e] = T(0.0f);
        }
    }

private:
    static constexpr int chunk = StemShape::chunk;
    /// Bytes that a copy loads from `at` on, of which the first `skipped` elements precede the row's.
    struct Span {
        T const* at;
        int skipped;
        unsigned bytes;
    };

    int pitch, row, rows, first, end, height, width;
    Extent step;
    T const* begin;

    __device__ bool exists(int r) const { return static_cast<unsigned>(row + r) < static_cast<unsigned>(height); }
    __device__ Span span(int r, int from, int until, T const* last) const {
        T const* const at = begin + r * step + (from - first);
        int const skipped = phase_of(at), count = skipped + until - from, whole = (count + chunk - 1) / chunk * chunk;
        // whole 16 bytes, the last ones only if they do not end past x
        int const copied = at - skipped + whole <= last ? whole : count / chunk * chunk;
        return {at - skipped, skipped, until > from ? static_cast<unsigned>(copied) * 2 : 0};
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

    /// `step_of_rows`: distance in elements of consecutive rows of x, if bulk copies load them; 0 if TMA does.
    __device__ StemWindows(StemShape const& shape, Filter<2> const& filter, int step_of_rows, unsigned thread)
        : row_bytes(filter.dilations[0] * shape.pitch * 2),
          rows(filter.size[0]),
          phase_of_row(filter.dilations[0] * step_of_rows) {
        int const pair = static_cast<int>(thread) % 4 * 2;
        for (int i = 0; i < 2; ++i) {
            int const pixel = Atom::row(static_cast<int>(thread), 2 * i), p = pixel >> shape.shift,
                      q = pixel - (p << shape.shift);
            offsets[i] = (p * filter.strides[0] * shape.pitch + q * shape.step + pair) * 2;
            phases[i] = p * filter.strides[0] * step_of_rows;
        }
        int const end = shape.lead + shape.row_elements - (shape.chunks - 1) * StemShape::chunk - pair;
        first = shape.lead == 1 && pair == 0 ? 0xffff0000u : ~0u;
        last = (end > 0 ? 0xffffu : 0u) | (end > 1 ? 0xffff0000u : 0u);
    }

    /// Loads the thread's words of the two window rows of panel `panel`. `begin` is the SMEM address of the 16 bytes in
    /// which the tile's first window begins, at element `phase`. Unless `whole_words`, loads 16 bits at a time, because
    /// windows may begin at odd elements.
    template <int chunks, bool whole_words>
    __device__ void load(unsigned char const* begin, int phase, int panel, Words<chunks>& words) const {
        std::uint32_t const masks[] = {~0u, 2 * panel + 1 < rows ? ~0u : 0u};
        unsigned char const* const row = begin + 2 * panel * row_bytes;
        unsigned char const* const rows_of_pair[] = {row, row + (masks[1] & static_cast<unsigned>(row_bytes))};
        int bytes[2][2];
        for (int half = 0; half < 2; ++half)
            for (int pixel = 0; pixel < 2; ++pixel)
                bytes[half][pixel] =
                    offsets[pixel] +
                    2 * (whole_words ? phase
                                     : (phase + phases[pixel] + (2 * panel + (masks[1] ? half : 0)) * phase_of_row) &
                                           (StemShape::chunk - 1));
#pragma unroll
        for (int i = 0; i < chunks; ++i)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                std::uint32_t const mask = masks[half] & (i == 0 ? first : ~0u) & (i == chunks - 1 ? last : ~0u);
#pragma unroll
                for (int pixel = 0; pixel < 2; ++pixel)
                    words[i][half * 2 + pixel] =
                        word<whole_words>(rows_of_pair[half] + bytes[half][pixel] + i * StemShape::chunk * 2) & mask;
            }
    }

private:
    /// row_bytes: bytes in SMEM from a window row to the next. rows: number of window rows. offsets: for each of the
    /// thread's two pixels, byte offset of its words from `begin`, the tile's first window
    /// phase_of_row, phases: by how many elements a window row, and the pixels' first rows, begin later in their 16
    /// bytes; modulo StemShape::chunk
    int row_bytes, rows, offsets[2], phase_of_row, phases[2];
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
