// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/permute.hpp"
#include "fusekit/backend/hip/collective/quad_of_pixels.hpp"
#include "fusekit/backend/integer.hpp"

namespace fusekit::hip {

/// WindowRows of bytes. A row is two words. The first begins left of the quad and has the taps of pixels 0 and 1; the
/// second begins at pixel 1 and has those of pixels 2 and 3. A row with one tap is one word. So four neighbouring taps
/// of a pixel are one permutation of words of two rows. Words that would reach into padding beside x lie one element
/// further inside, and are selected from accordingly.
template <Element T, int Size, int threads, class Order>
class WindowBytes : public QuadOfPixels<T, Size, Order::tile_k, threads> {
    using Base = QuadOfPixels<T, Size, Order::tile_k, threads>;
    using Base::buffer, Base::first, Base::invalid, Base::k, Base::place;
    static constexpr int packet = Order::packet, columns = Order::columns, rows = detail::divide_up(packet, columns);
    static_assert(sizeof(T) == 1 && columns == 3);

public:
    using Base::Base;

    /// Takes the offsets of a step.
    template <class Offsets>
    __device__ void find(Offsets const& offsets) {
#pragma unroll
        for (int row = 0; row < rows; ++row)
#pragma unroll
            for (int half = 0; half < halves(row); ++half) {
                int const i = row * columns, element = begin(row, half) + inwards(place, begin(row, half)),
                          further_on = element - Order::column(i);
                from[row][half] = offsets.in_row(k + static_cast<unsigned>(i),
                                                 first + static_cast<std::uint32_t>(further_on), invalid);
            }
#pragma unroll
        for (int pixel = 0; pixel < 4; ++pixel)
#pragma unroll
            for (int word = 0; word < 4; ++word)
                selectors[pixel][word] = place == QuadPlace::left    ? selector(QuadPlace::left, pixel, word)
                                         : place == QuadPlace::right ? selector(QuadPlace::right, pixel, word)
                                                                     : selector(QuadPlace::middle, pixel, word);
    }
    /// Loads that step, or one whose channels lie `further` bytes on.
    __device__ void load(std::uint32_t further) {
#pragma unroll
        for (int row = 0; row < rows; ++row)
#pragma unroll
            for (int half = 0; half < halves(row); ++half)
                words[row][half] = buffer.template load<std::uint32_t>(from[row][half], further);
    }
    template <class Tile>
    __device__ void store(Tile& tile) const {
        Words<4> pixels[4];
#pragma unroll
        for (int pixel = 0; pixel < 4; ++pixel)
#pragma unroll
            for (int word = 0; word < 4; ++word) {
                int const low = word * 4 / columns, high = low + 1;
                pixels[pixel][word] = permuted(words[high][half_of(high, pixel)], words[low][half_of(low, pixel)],
                                               selectors[pixel][word]);
            }
        Base::put(tile, pixels);
    }

private:
    std::uint32_t from[rows][2], words[rows][2], selectors[4][4];

    FUSEKIT_H static constexpr int halves(int row) { return row * columns + 1 < packet ? 2 : 1; }
    FUSEKIT_H static constexpr int half_of(int row, int pixel) { return halves(row) == 2 ? pixel / 2 : 0; }
    /// Where a word begins, in elements from the quad.
    FUSEKIT_H static constexpr int begin(int row, int half) {
        return halves(row) == 1 ? Order::column(row * columns) : half == 0 ? -1 : 1;
    }
    /// How far a word that begins there is moved.
    FUSEKIT_H static constexpr int inwards(QuadPlace at, int begin) {
        if (begin < 0 && at == QuadPlace::left) return 1;
        return begin > 0 && at == QuadPlace::right ? -1 : 0;
    }
    /// Selects the taps of a pixel's word.
    FUSEKIT_H static constexpr std::uint32_t selector(QuadPlace at, int pixel, int word) {
        std::uint32_t result = 0;
        for (int i = word * 4; i < word * 4 + 4; ++i) {
            int const row = i / columns, from_quad = begin(row, half_of(row, pixel)),
                      element = pixel + Order::column(i) - from_quad - inwards(at, from_quad);
            bool const is_in = element >= 0 && element < 4;
            auto const byte = static_cast<std::uint32_t>(element + (row == word * 4 / columns ? 0 : 4));
            result |= (is_in ? byte : no_byte) << (i % 4 * 8);
        }
        return result;
    }
};

}  // namespace fusekit::hip
