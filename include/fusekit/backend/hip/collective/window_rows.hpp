// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/permute.hpp"
#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/collective/quad_of_pixels.hpp"
#include "fusekit/backend/integer.hpp"

namespace fusekit::hip {

/// Whether a thread loads the same 16 bytes of taps in every step, under windows of three columns.
template <Element T, int Size, int threads, class Order>
inline constexpr bool has_window_rows = Order::together && Order::phases == 1 && Order::has_both_sides() &&
                                        QuadOfPixels<T, Size, Order::tile_k, threads>::own_k == Order::packet;

/// Quads of such windows, whose rows are loaded once for all their taps. A row is a quad and the elements to its left
/// and right, which are zeros in padding. Two neighbouring taps of a pixel are a word of the quad, or one permutation.
template <Element T, int Size, int threads, class Order>
class WindowRows : public QuadOfPixels<T, Size, Order::tile_k, threads> {
    using Base = QuadOfPixels<T, Size, Order::tile_k, threads>;
    using Base::buffer, Base::first, Base::invalid, Base::k, Base::place;
    static constexpr int packet = Order::packet, columns = Order::columns, rows = detail::divide_up(packet, columns);
    static constexpr std::uint32_t size = sizeof(T);
    static_assert(sizeof(T) == 2);
    /// How many loads a quad is. Where taps take its words as they are, each is loaded to where it will be stored from;
    /// but waves of 32 lanes copy two words by one instruction, and gain nothing.
    static constexpr int loads = Order::column(0) < Order::column(1) && arch::Target::processor.wave == 64 ? 2 : 1;
    using Loaded = Words<2 / loads>;

public:
    using Base::Base;

    /// Takes the offsets of a step.
    template <class Offsets>
    __device__ void find(Offsets const& offsets) {
#pragma unroll
        for (int i = 0; i < packet; ++i) {
            int const column = Order::column(i);
            auto const at = [&](int element) {  // from tap i of the first pixel on
                auto const begin = first + static_cast<std::uint32_t>(element) * size;
                return offsets.in_row(k + static_cast<unsigned>(i), begin, invalid);
            };
            if (i % columns == 0)
                for (int load = 0; load < loads; ++load) of_quad[i / columns][load] = at(2 * load - column);
            if (column < 0) beside[i] = place == QuadPlace::left ? Buffer::nowhere : at(0);
            if (column > 0) beside[i] = place == QuadPlace::right ? Buffer::nowhere : at(3);
        }
    }
    /// Loads that step, or one whose channels lie `further` bytes on.
    __device__ void load(std::uint32_t further) {
#pragma unroll
        for (int i = 0; i < rows; ++i)
            for (int load = 0; load < loads; ++load)
                quads[i][load] = buffer.template load<Loaded>(of_quad[i][load], further);
#pragma unroll
        for (int i = 0; i < packet; ++i)
            if (Order::column(i) != 0) sides[i] = buffer.template load<std::uint16_t>(beside[i], further);
    }
    template <class Tile>
    __device__ void store(Tile& tile) const {
        Words<4> pixels[4];
#pragma unroll
        for (int pixel = 0; pixel < 4; ++pixel)
#pragma unroll
            for (int i = 0; i < packet; i += 2) {
                int const low = pixel + Order::column(i), high = pixel + Order::column(i + 1);
                bool const is_word = i / columns == (i + 1) / columns && low % 2 == 0 && high == low + 1 && high < 4;
                pixels[pixel][i / 2] =
                    is_word
                        ? word(i, low)
                        : permuted(word(i + 1, high), word(i, low),
                                   (in_high(high) ? 0x07060000u : 0x05040000u) | (in_high(low) ? 0x0302u : 0x0100u));
            }
        Base::put(tile, pixels);
    }

private:
    std::uint32_t of_quad[rows][loads], beside[packet];
    Loaded quads[rows][loads];
    std::uint32_t sides[packet];

    /// The word that has an element of tap i's row, and whether it is the upper half.
    __device__ std::uint32_t word(int i, int element) const {
        if (element < 0 || element > 3) return sides[i];
        if constexpr (loads == 2) return quads[i / columns][element / 2][0];
        else return quads[i / columns][0][element / 2];
    }
    __device__ static constexpr bool in_high(int element) { return element == 1 || element == 3; }
};

}  // namespace fusekit::hip
