// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/permute.hpp"
#include "fusekit/backend/hip/collective/quad_of_pixels.hpp"

namespace fusekit::hip {

/// Whether all indices of GemmK have the left or the right tap of windows of three columns.
template <Element T, class Order>
inline constexpr bool has_side_column = [] {
    if constexpr (sizeof(T) == 2 && !Order::together && Order::phases == 1)
        return Order::has_both_sides() && Order::column(Order::coord(0, 0, 0).s) != 0;
    else return false;
}();

/// Quads under that tap: those of the pixels' own columns, and the element beside each, which is zero in padding. So
/// what transposes them moves them by a column, too.
template <Element T, int Size, int threads, class Order>
class SideColumn : public QuadOfPixels<T, Size, Order::tile_k, threads> {
    using Base = QuadOfPixels<T, Size, Order::tile_k, threads>;
    using Base::buffer, Base::first, Base::invalid, Base::k, Base::place, Base::own_k, Base::k_words;
    static constexpr int column = Order::column(Order::coord(0, 0, 0).s);
    static constexpr std::uint32_t size = sizeof(T);

public:
    using Base::Base;

    /// Takes the offsets of a step.
    template <class Offsets>
    __device__ void find(Offsets const& offsets) {
        bool const is_at_end = place == (column < 0 ? QuadPlace::left : QuadPlace::right);
#pragma unroll
        for (int i = 0; i < own_k; ++i) {
            auto const at = [&](int element) {  // from the tap of the first pixel on
                auto const begin = first + static_cast<std::uint32_t>(element) * size;
                return offsets.in_row(k + static_cast<unsigned>(i), begin, invalid);
            };
            of_quad[i] = at(-column);
            beside[i] = is_at_end ? Buffer::nowhere : at(column < 0 ? 0 : 3);
        }
    }
    /// Loads that step, or one whose channels lie `further` bytes on.
    __device__ void load(std::uint32_t further) {
#pragma unroll
        for (int i = 0; i < own_k; ++i) {
            quads[i] = buffer.template load<Words<2>>(of_quad[i], further);
            sides[i] = buffer.template load<std::uint16_t>(beside[i], further);
        }
    }
    template <class Tile>
    __device__ void store(Tile& tile) const {
        Words<k_words> pixels[4];
#pragma unroll
        for (int pixel = 0; pixel < 4; ++pixel)
#pragma unroll
            for (int i = 0; i < own_k; i += 2) {
                int const element = pixel + column;
                bool const is_high = element == 1 || element == 3;
                pixels[pixel][i / 2] =
                    permuted(word(i + 1, element), word(i, element), is_high ? 0x07060302 : 0x05040100);
            }
        Base::put(tile, pixels);
    }

private:
    std::uint32_t of_quad[own_k], beside[own_k];
    Words<2> quads[own_k];
    std::uint32_t sides[own_k];

    /// The word that has an element of a quad, or the one beside it.
    __device__ std::uint32_t word(int i, int element) const {
        return element < 0 || element > 3 ? sides[i] : quads[i][element / 2];
    }
};

}  // namespace fusekit::hip
