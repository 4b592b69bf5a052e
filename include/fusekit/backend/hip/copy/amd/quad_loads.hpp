// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/permute.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/copy/amd/buffer_loads.hpp"
#include "fusekit/backend/hip/copy/amd/pixel_quad.hpp"

namespace fusekit::hip {

/// LDS table of offsets in x for quads, the four consecutive pixels of a row of y at column stride 1, and of offsets in
/// w. The quads at the left and right end of a row of y may read columns in the padding: such a quad loads the first or
/// last four elements of the row of x, and a v_perm_b32 selector moves the elements to their pixels and zeros the
/// padded ones.
template <Element T, Element W, int Size, int space, bool padded>
struct QuadOffsets {
    static constexpr auto left = static_cast<unsigned>(QuadPosition::left),
                          middle = static_cast<unsigned>(QuadPosition::middle),
                          right = static_cast<unsigned>(QuadPosition::right);
    static constexpr int positions = padded ? 3 : 1, of_padding = padded ? Size : 1;
    /// number of 32-bit words of v_perm_b32 selectors for a quad
    static constexpr int words = sizeof(T) == 4 ? 1 : static_cast<int>(sizeof(T));
    static constexpr unsigned packet = 16 / sizeof(W);

    /// bytes: byte offset in x for each index of GemmK, for the left, middle and right quads of a row (QuadPosition).
    /// masks: for each index of GemmK, the rows of padding above and below x that its tap may read, as a mask or, with
    /// `one_bit`, as the number of the mask's only bit. selectors: v_perm_b32 selectors for each position and index.
    /// The selectors of middle quads are equal for all indices: a table with `is_short` stores them once, in `same`, as
    /// the `same_words` words that a thread reads.
    static constexpr bool is_short = Size < 128, one_bit = space == 2;
    static constexpr int same_words = 16;
    alignas(16) std::uint32_t bytes[positions][Size];
    alignas(16) std::uint32_t masks[of_padding];
    alignas(16) std::uint32_t selectors[is_short ? 2 : 3][of_padding][words];
    alignas(16) std::uint32_t same[is_short && padded ? same_words : 1];
    std::uint32_t w[Size / packet];  ///< byte offsets in w, one for each 16 bytes along GemmK

    template <class Problem>
    __device__ void put(unsigned i, KOffset const& in_x, KOffset const& in_w, int s, Problem const& of) {
        if (i % packet == 0) w[i / packet] = in_bytes<W>(in_w);
        if constexpr (padded) {
            std::uint32_t columns = 0;
            for (int bit = 0; bit < KOffset::most(space); ++bit) columns |= KOffset::bit(space, space - 1, bit);
            for (unsigned position = left; position <= right; ++position) {
                int const shift = position == middle ? 0 : of.shift_of_quad(position == left, s);
                bool const none = in_x.mask == KOffset::never || shift <= -4 || shift >= 4;
                bytes[position][i] = none ? Buffer::out_of_bounds : in_bytes<T>({in_x.offset + shift, 0});
                if (is_short && position == middle) continue;
                select(selectors[is_short ? position / 2 : position][0], i, none ? 4 : shift);
            }
            masks[i] = in_x.mask & ~columns;
            if constexpr (one_bit) masks[i] = static_cast<std::uint32_t>(__builtin_ctz(masks[i]));
            if (is_short && i < same_words / words) select(same, i, 0);
        } else {
            bytes[0][i] = in_bytes<T>(in_x);
        }
    }
    __device__ std::uint32_t w_at(int first_k, unsigned k) const {
        return w[first_k / int{packet} + static_cast<int>(k / packet)];
    }
    __device__ std::uint32_t const* selectors_at(QuadPosition of, unsigned k) const {
        auto const position = static_cast<unsigned>(of);
        if constexpr (!is_short) return selectors[position][k];
        bool const in_middle = position == middle;
        return in_middle ? same : selectors[position / 2][in_middle ? 0 : k];
    }
    /// Returns a mask to OR into an offset: all ones, which moves it out of the Buffer's bounds, if a tap reads a row
    /// of padding above or below x; otherwise 0. `mask`: the tap's entry in `masks`. `invalid`: the rows of the pixel's
    /// window that are out of bounds of x.
    __device__ static std::uint32_t rows_outside(std::uint32_t mask, std::uint32_t invalid) {
        return one_bit ? spread_bit(invalid, mask) : 0 - (mask & invalid);
    }

private:
    /// Stores the selectors of index i of GemmK to `all`: element j of the permuted quad is element j - shift of the
    /// loaded quad, or zero if the quad has no such element. For one- and two-byte elements the selectors also
    /// interleave the quads of two consecutive indices, the first stage of the transposition. For floats the entry is
    /// `shift` itself; shift 4 means that the index is out of bounds.
    __device__ static void select(std::uint32_t* all, unsigned i, int shift) {
        if constexpr (sizeof(T) == 4) {
            all[i] = static_cast<std::uint32_t>(shift == 4 ? 0 : shift);
        } else {
            constexpr unsigned size = sizeof(T), quads = 2 / size;
            auto* const to = reinterpret_cast<unsigned char*>(all + i / quads * 2);
            for (int j = 0; j < 4; ++j)
                for (unsigned byte = 0; byte < size; ++byte) {
                    int const from = j - shift;
                    bool const is_in = from >= 0 && from < 4;
                    unsigned const own = i % quads, selected = own * 4 + static_cast<unsigned>(from) * size + byte;
                    to[static_cast<unsigned>(j) * 2 + own + byte] =
                        static_cast<unsigned char>(is_in ? selected : no_byte);
                }
        }
    }
};

/// Loads x (NCHW) in quads, the four consecutive pixels of a row of y: one quad for each of a thread's own_k indices of
/// GemmK. Transposes the quads in registers, so that LDS stores consecutive indices of each pixel.
template <Element T, int Size, int TileK, int threads, bool padded>
class QuadLoads : public PixelQuad<T, Size, TileK, threads> {
    using Base = PixelQuad<T, Size, TileK, threads>;
    using Base::per_word, Base::k_words, Base::position, Base::buffer, Base::first, Base::invalid;
    static constexpr int words = 4 / per_word;

public:
    using Base::own_k;
    static_assert(own_k * words <= 16);

    using Base::Base;

    template <class Offsets>
    __device__ void load(Offsets const& offsets, int first_k) {
        find(offsets, first_k, [&](int i, std::uint32_t from) { load(i, from); });
    }
    template <class Tile>
    __device__ void store(Tile& tile) const {
        Words<words> in_row[own_k];
        if constexpr (sizeof(T) == 2) {
#pragma unroll
            for (int i = 0; i < own_k; ++i)
#pragma unroll
                for (int j = 0; j < words; ++j) in_row[i][j] = selected(i, j);
        }
        Words<k_words> pixels[4];
#pragma unroll
        for (int i = 0; i < own_k; i += 4) {
            if constexpr (sizeof(T) == 2) {
#pragma unroll
                for (int pixel = 0; pixel < 4; ++pixel)
#pragma unroll
                    for (int j = 0; j < 4; j += 2)
                        pixels[pixel][(i + j) / 2] = permuted(in_row[i + j + 1][pixel / 2], in_row[i + j][pixel / 2],
                                                              pixel % 2 == 0 ? 0x05040100 : 0x07060302);
            } else {
#pragma unroll
                // half 0: the quad's pixels 0 and 1; half 1: its pixels 2 and 3
                for (int half = 0; half < 2; ++half) {
                    std::uint32_t const low = alternate(i, half), high = alternate(i + 2, half);
                    pixels[2 * half][i / 4] = permuted(high, low, 0x05040100);
                    pixels[2 * half + 1][i / 4] = permuted(high, low, 0x07060302);
                }
            }
        }
        Base::put(tile, pixels);
    }

protected:
    using Base::k;
    Words<words> quads[own_k];

    /// Calls f(i, byte offset) for the quad at each of the thread's indices i of GemmK, 0 to own_k - 1, and reads the
    /// quads' v_perm_b32 selectors; both come from the LDS table. `first_k` is the index in the table of the k-tile's
    /// first index.
    template <class Offsets, class F>
    __device__ void find(Offsets const& offsets, int first_k, F const& f) {
#pragma unroll
        for (int i = 0; i < own_k; i += 4) {
            unsigned const at = static_cast<unsigned>(first_k) + k + static_cast<unsigned>(i);
            Words<4> const bytes = read_words(offsets.bytes[padded ? static_cast<unsigned>(position) : 0] + at);
            [[maybe_unused]] Words<4> const masks = read_words(offsets.masks + (padded ? at : 0));
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                std::uint32_t from = first + bytes[j];
                if constexpr (padded) from |= Offsets::rows_outside(masks[j], invalid);
                f(i + j, from);
            }
        }
        if constexpr (padded) {
            std::uint32_t const* const own = offsets.selectors_at(position, static_cast<unsigned>(first_k) + k);
#pragma unroll
            for (int word = 0; word < own_k * words; word += 4) {
                Words<4> const selector_words = read_words(own + word);
#pragma unroll
                for (int j = 0; j < 4; ++j) selectors[(word + j) / words][(word + j) % words] = selector_words[j];
            }
        }
    }
    /// Loads the quad at the thread's index i of GemmK from byte `from` + `soffset` of the Buffer; `soffset` is uniform
    /// over the wave.
    __device__ void load(int i, std::uint32_t from, std::uint32_t soffset = 0) {
        quads[i] = buffer.template load<Words<words>>(from, soffset);
    }

    /// Returns word j of the quad loaded for the thread's index i of GemmK, with elements in padding replaced by zeros.
    __device__ std::uint32_t selected(int i, int j) const {
        return padded ? permuted(quads[i][words - 1], quads[i][0], selectors[i][j]) : quads[i][j];
    }
    /// Returns four bytes, for one-byte elements: two pixels at the thread's indices `index` (even) and `index` + 1 of
    /// GemmK, both indices of one pixel and then both of the next. The pixels are the quad's first two if `half` is 0,
    /// otherwise its last two. Elements in padding are zero.
    __device__ std::uint32_t alternate(int index, int half) const {
        std::uint32_t const in_place = half == 0 ? 0x05010400 : 0x07030602;
        return permuted(quads[index + 1][0], quads[index][0], padded ? selectors[index + half][0] : in_place);
    }

private:
    std::uint32_t selectors[padded ? own_k : 1][words];
};

}  // namespace fusekit::hip
