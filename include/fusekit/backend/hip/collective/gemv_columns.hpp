// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/atom/mma_sync.hpp"
#include "fusekit/backend/hip/collective/gemv_mma.hpp"
#include "fusekit/backend/hip/gemv_tiles.hpp"

namespace fusekit::hip {

/// GEMV tile of a warp by mma.sync for weights in which consecutive filters are contiguous, as those of a
/// TransposedConv: up to 16 filters (M of the MMA) x up to 32 rows of x (N). A lane loads two filters, 4 bytes, of each
/// of four consecutive indices of C, and packs these indices in pairs; rows 0 to 7 of the MMA are the even filters,
/// rows 8 to 15 the odd ones.
template <Element T>
class GemvColumns {
    using Unit = MmaSync<T>;
    using Sum = typename Unit::Acc;
    static_assert(sizeof(T) == 2);

public:
    static constexpr unsigned step = 16;  ///< elements of C

    /// GemvMma::sum() for such weights. tiles.vector is 4 if filters load in pairs and rows of x four channels at a
    /// time; else 1.
    template <class Rows, class Partial, class Meanwhile>
    __device__ static void sum(GemvPart const& of, GemvTiles const& tiles, Rows const& rows, unsigned lane,
                               Partial const& partial, Meanwhile const& meanwhile) {
        if (tiles.vector > 1 && tiles.rows > 8)
            return sum_of<GemvTiles::max_rows, true>(of, 0, rows, lane, partial, meanwhile);
#pragma unroll 1
        for (int m = 0; m < of.rows; m += 8) {
            auto const once = [&] {
                if (m == 0) meanwhile();
            };
            if (tiles.vector > 1) sum_of<8, true>(of, m, rows, lane, partial, once);
            else sum_of<8, false>(of, m, rows, lane, partial, once);
        }
    }

private:
    /// Loads `count` elements, `stride` apart, or contiguous ones if `vectors`; zeros unless they exist: the first
    /// `existing`.
    template <int count, bool vectors>
    __device__ static Packet<T, count> load(T const* from, std::int64_t stride, int existing) {
        Packet<T, count> result;
        if constexpr (vectors) {
            result = load_if(existing > 0, reinterpret_cast<Packet<T, count> const*>(from));
        } else {
#pragma unroll
            for (int e = 0; e < count; ++e) result.values[e] = load_if(e < existing, from + e * stride);
        }
        return result;
    }
    __device__ static std::uint32_t low_halves(std::uint32_t first, std::uint32_t second) {
        return (first & 0xffff) | second << 16;
    }
    __device__ static std::uint32_t high_halves(std::uint32_t first, std::uint32_t second) {
        return first >> 16 | (second & 0xffff0000u);
    }

    /// GemvMma::sum_of(), with loads of several elements if `vectors`.
    template <int most_rows, bool vectors, class Rows, class Partial, class Meanwhile>
    __device__ static void sum_of(GemvPart const& of, int first_m, Rows const& rows, unsigned lane,
                                  Partial const& partial, Meanwhile const& meanwhile) {
        // columns: MMAs along the rows of x; depth: steps whose loads are in flight at once
        constexpr int columns = most_rows / 8, depth = !vectors ? 1 : columns == 1 ? 4 : 2, of_lane = 4;
        int const row = static_cast<int>(lane / 4), filters = of.filters - 2 * row;
        unsigned c = of.begin + lane % 4 * of_lane;
        std::int64_t const to_next = rows.channel_stride();
        T const* w = rows.filter(of.k + (filters > 0 ? 2 * row : 0)) + c * to_next;
        T const* x[columns];
        Sum acc[columns][4] = {};
#pragma unroll 1
        for (unsigned i = 0; i < (of.steps + depth - 1) / depth; ++i) {
            std::uint32_t a[depth][of_lane];
            Words<2> b[depth][columns];
            auto const remaining = [&](int d, int e) {  // channels from the lane's index e of step d on
                return static_cast<int>(of.end) - static_cast<int>(c) - d * static_cast<int>(step) - e;
            };
#pragma unroll
            for (int d = 0; d < depth; ++d)
#pragma unroll
                for (int e = 0; e < of_lane; ++e)
                    a[d][e] = config::bit_cast<std::uint32_t>(
                        load<2, vectors>(w + (d * static_cast<int>(step) + e) * to_next, rows.filter_stride(),
                                         remaining(d, e) > 0 ? filters : 0));
            if (i == 0) {
#pragma unroll
                for (int j = 0; j < columns; ++j) {
                    int const m = first_m + row + 8 * j;
                    x[j] = rows.pixel(of.m + (m < of.rows ? m : 0)) + c;
                }
            }
#pragma unroll
            for (int d = 0; d < depth; ++d)
#pragma unroll
                for (int j = 0; j < columns; ++j)
                    b[d][j] = config::bit_cast<Words<2>>(load<of_lane, vectors>(
                        x[j] + d * static_cast<int>(step), 1, first_m + row + 8 * j < of.rows ? remaining(d, 0) : 0));
            if (i == 0) meanwhile();
#pragma unroll
            for (int d = 0; d < depth; ++d) {
                auto const& k = a[d];
                std::uint32_t const products[4] = {low_halves(k[0], k[1]), high_halves(k[0], k[1]),
                                                   low_halves(k[2], k[3]), high_halves(k[2], k[3])};
#pragma unroll
                for (int j = 0; j < columns; ++j) {
                    std::uint32_t const pixels[2] = {b[d][j][0], b[d][j][1]};
                    Unit::multiply_columns(acc[j], products, pixels);
                }
            }
            c += depth * step;
            w += depth * static_cast<int>(step) * to_next;
#pragma unroll
            for (int j = 0; j < columns; ++j) x[j] += depth * static_cast<int>(step);
        }
#pragma unroll
        for (int j = 0; j < columns; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e)
                partial(first_m + 8 * j + Unit::column(static_cast<int>(lane), e), 2 * row + e / 2) = acc[j][e];
    }
};

}  // namespace fusekit::hip
