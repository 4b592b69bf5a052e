// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/atom/mma_sync.hpp"
#include "fusekit/backend/hip/gemv_tiles.hpp"

namespace fusekit::hip {

/// Work of a Gemv warp of 32 threads: `filters` filters from k on, `rows` rows of x from m on, and the range [begin,
/// end) of C. All warps of a CTA run the same number of steps; elements past `end` are zero.
struct GemvPart {
    int k, filters, m, rows;
    unsigned begin, end, steps;
};

/// GEMV tile of a warp by mma.sync: up to 16 filters (M of the MMA) x up to 32 rows of x (N). Operands are loaded from
/// global memory to registers: the four lanes of a row load 16 bytes each, which are the operands of two MMAs. Both
/// operands permute k within these 64 bytes in the same way, so that the sums are unchanged.
template <Element T>
class GemvMma {
    using Unit = MmaSync<T>;
    using Sum = typename Unit::Acc;
    static constexpr int bytes = static_cast<int>(sizeof(T)), of_lane = 16 / bytes, chunk = 4 * of_lane;

public:
    static constexpr unsigned step = chunk;  ///< elements of C

    /// Sums the products of the warp's filters and rows over its range of C, and stores each sum to partial(row,
    /// filter). Calls meanwhile() while the first loads are in flight. Selects sum_of() by the number of rows and the
    /// width of loads.
    template <class Rows, class Partial, class Meanwhile>
    __device__ static void sum(GemvPart const& of, GemvTiles const& tiles, Rows const& rows, unsigned lane,
                               Partial const& partial, Meanwhile const& meanwhile) {
        constexpr int word = (max)(1, 4 / bytes);
        if (tiles.vector == of_lane && tiles.rows > 8)
            return sum_of<GemvTiles::max_rows, of_lane>(of, 0, rows, lane, partial, meanwhile);
#pragma unroll 1
        for (int m = 0; m < of.rows; m += 8) {
            auto const once = [&] {
                if (m == 0) meanwhile();
            };
            if (tiles.vector < word) sum_of<8, 1>(of, m, rows, lane, partial, once);
            else if (tiles.vector < of_lane) sum_of<8, word>(of, m, rows, lane, partial, once);
            else sum_of<8, of_lane>(of, m, rows, lane, partial, once);
        }
    }

private:
    /// Row of an operand that a lane loads. `next`: address of the lane's next element; `end`: end of the range of C,
    /// or 0 if the row is out of bounds.
    struct Row {
        T const* next;
        unsigned end;
    };

    /// Loads the lane's 16 bytes of the chunk that is `ahead` chunks after row.next, in vectors of `vector` elements;
    /// zeros from row.end on. `c`: index of row.next in C.
    template <int vector>
    __device__ static Words<4> load(Row const& row, unsigned c, int ahead) {
        constexpr int size = vector * bytes;
        using From = Packet<T, vector> const*;
        Words<4> words = {};
#pragma unroll
        for (int i = 0; i < 16 / size; ++i) {
            int const offset = ahead * chunk + i * 4 * vector;
            auto const loaded =
                load_if(c + static_cast<unsigned>(offset) < row.end, reinterpret_cast<From>(row.next + offset));
            if constexpr (size == 16) {
                words = config::bit_cast<Words<4>>(loaded);
            } else if constexpr (size == 4) {
                words[i] = config::bit_cast<std::uint32_t>(loaded);
            } else {
                using Bits = std::conditional_t<size == 2, std::uint16_t, std::uint8_t>;
                words[i * size / 4] |= static_cast<std::uint32_t>(config::bit_cast<Bits>(loaded)) << i * size * 8 % 32;
            }
        }
        return words;
    }

    /// partial(m, f) = sum over the range of C of w[of.k + f, c] x[of.m + m, c], for rows m from first_m on. Calls
    /// meanwhile() while the first loads are in flight.
    template <int most_rows, int vector, class Rows, class Partial, class Meanwhile>
    __device__ static void sum_of(GemvPart const& of, int first_m, Rows const& rows, unsigned lane,
                                  Partial const& partial, Meanwhile const& meanwhile) {
        // columns: MMAs along the rows of x; depth: chunks whose loads are in flight at once
        constexpr int columns = most_rows / 8, depth = vector * bytes < 16 ? (vector * bytes < 4 ? 1 : 3)
                                                       : columns == 1      ? 6
                                                                           : 2;
        int const row = static_cast<int>(lane / 4);
        unsigned c = of.begin + lane % 4 * vector;
        Row w[2], x[columns];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            bool const exists = row + 8 * i < of.filters;
            w[i] = {rows.filter(of.k + (exists ? row + 8 * i : 0)) + c, exists ? of.end : 0};
        }
        Sum acc[columns][4] = {};
#pragma unroll 1
        for (unsigned i = 0; i < (of.steps + depth - 1) / depth; ++i) {
            Words<4> a[depth][2], b[depth][columns];
#pragma unroll
            for (int d = 0; d < depth; ++d)
#pragma unroll
                for (int j = 0; j < 2; ++j) a[d][j] = load<vector>(w[j], c, d);
            if (i == 0) {
#pragma unroll
                for (int j = 0; j < columns; ++j) {
                    int const m = first_m + row + 8 * j;
                    x[j] = {rows.pixel(of.m + (m < of.rows ? m : 0)) + c, m < of.rows ? of.end : 0};
                }
            }
#pragma unroll
            for (int d = 0; d < depth; ++d)
#pragma unroll
                for (int j = 0; j < columns; ++j) b[d][j] = load<vector>(x[j], c, d);
            if (i == 0) meanwhile();
#pragma unroll
            for (int d = 0; d < depth; ++d)
#pragma unroll
                for (int half_of_chunk = 0; half_of_chunk < 4; half_of_chunk += 2) {
                    auto const& even = a[d][0];
                    auto const& odd = a[d][1];
                    std::uint32_t const filters[4] = {even[half_of_chunk], odd[half_of_chunk], even[half_of_chunk + 1],
                                                      odd[half_of_chunk + 1]};
#pragma unroll
                    for (int j = 0; j < columns; ++j) {
                        std::uint32_t const pixels[2] = {b[d][j][half_of_chunk], b[d][j][half_of_chunk + 1]};
                        Unit::multiply_columns(acc[j], filters, pixels);
                    }
                }
            c += depth * chunk;
#pragma unroll
            for (int j = 0; j < 2; ++j) w[j].next += depth * chunk;
#pragma unroll
            for (int j = 0; j < columns; ++j) x[j].next += depth * chunk;
        }
#pragma unroll
        for (int j = 0; j < columns; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e)
                partial(first_m + 8 * j + Unit::column(static_cast<int>(lane), e),
                        Unit::row(static_cast<int>(lane), e)) = acc[j][e];
    }
};

}  // namespace fusekit::hip
