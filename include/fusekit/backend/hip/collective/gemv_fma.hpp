// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/collective/gemv_mma.hpp"

namespace fusekit::hip {

/// GEMV tile of a warp of 32 threads in FMA instructions of float (int32 for int8): 4 filters x 4 rows of x at a time,
/// or x 1 row. The lanes divide C: consecutive lanes load consecutive vectors. Shuffles then add the lanes' sums in a
/// fixed order.
template <Element T, Element W>
class GemvFma {
    using Sum = detail::AccumulatorOf<T>;
    static constexpr int widest = 16 / static_cast<int>((max)(sizeof(T), sizeof(W))), filters = 4;

public:
    static constexpr unsigned step = 32 * widest;

    /// GemvMma::sum() with FMA instructions.
    template <class Rows, class Partial, class Meanwhile>
    __device__ static void sum(GemvPart const& of, GemvTiles const& tiles, Rows const& rows, unsigned lane,
                               Partial const& partial, Meanwhile const& meanwhile) {
        if (tiles.vector < widest) sum_of<4, 1>(of, tiles, rows, lane, partial, meanwhile);
        else if (of.rows > 1) sum_of<4, widest>(of, tiles, rows, lane, partial, meanwhile);
        else sum_of<1, widest>(of, tiles, rows, lane, partial, meanwhile);
    }

private:
    /// A lane's row of an operand, like GemvMma's Row.
    template <class E>
    struct Row {
        E const* next;
        unsigned end;
    };

    template <int rows_at_once, int vector, class Rows, class Partial, class Meanwhile>
    __device__ static void sum_of(GemvPart const& of, GemvTiles const& tiles, Rows const& rows, unsigned lane,
                                  Partial const& partial, Meanwhile const& meanwhile) {
        // loops to the tile's number of filters, not to of.filters: an AMD wave has the lanes of two warps, and
        // shuffles need all of them
#pragma unroll 1
        for (int f = 0; f < 1 << tiles.warp_bits; f += filters)
#pragma unroll 1
            for (int m = 0; m < of.rows; m += rows_at_once)
                sum_block<rows_at_once, vector>(of, f, m, rows, lane, partial, [&] {
                    if (f == 0 && m == 0) meanwhile();
                });
    }

    /// Loads the lane's vector that is `ahead` warp-wide vectors (32 * `vector` elements each) after row.next; zeros
    /// from row.end on.
    template <int vector, class E>
    __device__ static Packet<E, vector> load(Zeros const& zeros, Row<E> const& row, unsigned c, int ahead) {
        int const offset = ahead * 32 * vector;
        return zeros.load_if(c + static_cast<unsigned>(offset) < row.end,
                             reinterpret_cast<Packet<E, vector> const*>(row.next + offset));
    }

    template <int rows_at_once, int vector, class Rows, class Partial, class Meanwhile>
    __device__ static void sum_block(GemvPart const& of, int first_f, int first_m, Rows const& rows, unsigned lane,
                                     Partial const& partial, Meanwhile const& meanwhile) {
        // depth: vectors that a lane loads of each row before it multiplies the first of them
        constexpr int depth = rows_at_once > 1 ? 1 : 2, loop_elements = 32 * vector * depth;
        unsigned c = of.begin + lane * vector;
        Row<W> w[filters];
        Row<T> x[rows_at_once];
#pragma unroll
        for (int i = 0; i < filters; ++i) {
            bool const exists = first_f + i < of.filters;
            w[i] = {rows.filter(of.k + (exists ? first_f + i : 0)) + c, exists ? of.end : 0};
        }
        Zeros zeros;
        zeros.keep();
        Sum acc[filters * rows_at_once] = {};
        unsigned const loops = (of.steps * step + loop_elements - 1) / loop_elements;
#pragma unroll 1
        for (unsigned loop = 0; loop < loops; ++loop) {
            Packet<W, vector> a[depth][filters];
            Packet<T, vector> b[depth][rows_at_once];
#pragma unroll
            for (int d = 0; d < depth; ++d)
#pragma unroll
                for (int i = 0; i < filters; ++i) a[d][i] = load<vector>(zeros, w[i], c, d);
            if (loop == 0) {
#pragma unroll
                for (int i = 0; i < rows_at_once; ++i) {
                    bool const exists = first_m + i < of.rows;
                    x[i] = {rows.pixel(of.m + (exists ? first_m + i : 0)) + c, exists ? of.end : 0};
                }
            }
#pragma unroll
            for (int d = 0; d < depth; ++d)
#pragma unroll
                for (int i = 0; i < rows_at_once; ++i) b[d][i] = load<vector>(zeros, x[i], c, d);
            if (loop == 0) meanwhile();
#pragma unroll
            for (int d = 0; d < depth; ++d)
#pragma unroll
                for (int e = 0; e < vector; ++e)
#pragma unroll
                    for (int i = 0; i < filters; ++i)
#pragma unroll
                        for (int j = 0; j < rows_at_once; ++j)
                            acc[i * rows_at_once + j] +=
                                detail::widened_to<Sum>(a[d][i].values[e]) * detail::widened(b[d][j].values[e]);
            c += loop_elements;
#pragma unroll
            for (int i = 0; i < filters; ++i) w[i].next += loop_elements;
#pragma unroll
            for (int i = 0; i < rows_at_once; ++i) x[i].next += loop_elements;
        }
        add_lanes<filters * rows_at_once, 16>(acc, lane);
        // acc[0] of lane l is sum number l / lanes
        constexpr unsigned lanes = 32 / (filters * rows_at_once);
        int const number = static_cast<int>(lane / lanes);
        if (lane % lanes == 0) partial(first_m + number % rows_at_once, first_f + number / rows_at_once) = acc[0];
    }

    __device__ static Sum of_lane(Sum value, unsigned mask) {
        return config::bit_cast<Sum>(of_lane_xor(config::bit_cast<float>(value), mask));
    }
    /// Adds `count` sums over all lanes (butterfly): in each step a lane sends half of its sums to lane ^ mask, and
    /// adds the received ones to the other half.
    template <int count, unsigned mask, int size>
    __device__ static void add_lanes(Sum (&sums)[size], unsigned lane) {
        if constexpr (count > 1) {
            bool const upper = lane & mask;
#pragma unroll
            for (int i = 0; i < count / 2; ++i) {
                Sum const low = sums[i], high = sums[i + count / 2];
                sums[i] = (upper ? high : low) + of_lane(upper ? low : high, mask);
            }
        } else {
            sums[0] += of_lane(sums[0], mask);
        }
        if constexpr (mask > 1) add_lanes<(max)(1, count / 2), mask / 2>(sums, lane);
    }
};

}  // namespace fusekit::hip
