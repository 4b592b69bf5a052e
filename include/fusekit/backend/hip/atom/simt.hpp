// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/factor.hpp"
#include "fusekit/backend/hip/arch/tags.hpp"
#include "fusekit/backend/hip/atom/k_major_tile.hpp"
#include "fusekit/tensor/dtype.hpp"

namespace fusekit::hip {

/// Extents of the tile of a CTA whose threads compute 8 x 8 accumulators each, with the conditions that Simt requires:
/// waves of 32 lanes that compute 64 x 32, and equal work per thread.
struct SimtShape {
    int m, n, k;  ///< numbers of pixels, of channels and of indices of GemmK

    FUSEKIT_H constexpr int threads() const { return m / 8 * (n / 8); }
    FUSEKIT_H constexpr bool has_whole_waves() const { return m > 0 && n > 0 && k > 0 && m % 64 == 0 && n % 32 == 0; }
    /// True if each thread loads elements of only one row of an operand tile, and stores to only one column of the
    /// output tile.
    FUSEKIT_H constexpr bool has_whole_columns() const {
        return threads() % m == 0 && threads() % n == 0 && k <= threads();
    }
    /// True if all threads load the same number of elements of each operand.
    FUSEKIT_H constexpr bool has_equal_shares() const { return m * k % threads() == 0 && n * k % threads() == 0; }
    /// Bytes of the two SMEM stages.
    FUSEKIT_H constexpr int shared_bytes() const { return 2 * k * (m + n + 8) * 4; }
};

/// MMA atom: how a CTA multiplies the operands of one k-tile, x (TileM pixels, TileK) and w (TileN channels, TileK). An
/// atom provides, to mainloop, loader and epilogue:
///
///     Architecture      tag of the GPUs that have the atom
///     tile_m, tile_n, tile_k, threads
///     Stage             both operands of a k-tile in shared memory, x and w: tiles of Operand, the type that is
///                       multiplied
///     Fragment          a thread's accumulators
///     multiply          Fragment += x w^T over a stage; if is_asynchronous, complete after wait()
///     publish           called by each thread after it has stored to a stage, before the barrier
///     rounds, rows, put, tile_row, tile_column
///                       staging of the accumulators through shared memory, as float: `rounds` passes of `rows` rows
///
/// Simt is the atom of SIMT arithmetic. Operands are float or int32: a conversion at each of an operand's 8 reads would
/// cost more than narrow operands save in shared memory. A wave of 32 lanes has 8 x 4 threads, interleaved so that each
/// half-wave reads 16 different banks of either operand.
template <Element T, int TileM, int TileN, int TileK, int unroll>
class Simt {
    static constexpr SimtShape shape{TileM, TileN, TileK};
    static_assert(shape.has_whole_waves() && shape.has_whole_columns() && shape.has_equal_shares());
    using Acc = detail::AccumulatorOf<T>;

public:
    static constexpr int tile_m = TileM, tile_n = TileN, tile_k = TileK, threads = shape.threads();
    using Operand = Acc;
    using Architecture = arch::Any;

    struct Stage {
        KMajorTile<Operand, TileM, TileK> x;
        KMajorTile<Operand, TileN, TileK> w;
    };

    /// A thread's accumulators, acc[pixel][channel]. The thread has four pixels from 4 lane_m on, and four that are
    /// half a tile later; channels likewise from 4 lane_n on.
    struct Fragment {
        Acc acc[8][8];
    };

    __device__ explicit Simt(unsigned thread)
        : lane_m(thread / 2 % 8 + thread / 32 % (TileM / 64) * 8),
          lane_n(thread % 2 + thread / 16 % 2 * 2 + thread / 32 / (TileM / 64) * 4) {}

    static constexpr bool is_asynchronous = false;
    __device__ void wait(Fragment&) const {}
    __device__ static void publish() {}
    __device__ void multiply(Stage const& stage, Fragment& fragment) const {
        Operand const *from_x = stage.x.at(0, 4 * lane_m), *from_w = stage.w.at(0, 4 * lane_n);
#pragma unroll unroll
        for (int k = 0; k < TileK; ++k, from_x += stage.x.k_step, from_w += stage.w.k_step) {
            Operand x[8], w[8];
            quad(from_x, x);
            quad(from_x + TileM / 2, x + 4);
            quad(from_w, w);
            quad(from_w + TileN / 2, w + 4);
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) fragment.acc[i][j] += x[i] * w[j];  // (8, 8) += over TILE_K
        }
    }

    /// Number of passes in which accumulators are staged through shared memory, a quarter of the staging buffer's rows
    /// each. In each pass every thread stores two of its eight pixels if the rows are pixels, otherwise two of its
    /// eight channels.
    static constexpr int rounds = 4;
    FUSEKIT_H static constexpr int rows(bool rows_are_pixels) { return (rows_are_pixels ? TileM : TileN) / rounds; }
    FUSEKIT_H static constexpr int columns(bool rows_are_pixels) { return rows_are_pixels ? TileN : TileM; }

    /// Stores the accumulators of staging pass `round` to `out`. Swaps the two elements of adjacent pairs
    /// (tile_column() undoes this), so that an FMA combines an even accumulator register with odd operand registers: 2
    /// % faster on an H200, whose register file has two banks.
    template <bool rows_are_pixels, int Pitch>
    __device__ void put(int round, Fragment const& fragment, Packet<float, 4> (*out)[Pitch]) const {
        auto const& acc = fragment.acc;
        unsigned const row = rows_are_pixels ? lane_m : lane_n, column = rows_are_pixels ? lane_n : lane_m;
#pragma unroll
        for (int part = 0; part < 4; ++part) {
            int const own = 2 * round + part / 2;
            Packet<float, 4> packet;
#pragma unroll
            for (int i = 0; i < 4; ++i)
                packet.values[i ^ 1] =
                    static_cast<float>(rows_are_pixels ? acc[own][part % 2 * 4 + i] : acc[part % 2 * 4 + i][own]);
            auto const second = static_cast<unsigned>(part / 2), half = static_cast<unsigned>(part % 2);
            out[2 * row + second][column + half * columns(rows_are_pixels) / 8] = packet;
        }
    }
    /// tile_row(): the row of the output tile that is in row `row` of the staging buffer in pass `round`.
    /// tile_column(): the position, in a row of the staging buffer, of column `column` of the output tile.
    template <bool rows_are_pixels>
    __device__ static unsigned tile_row(unsigned row, int round) {
        auto const odd = static_cast<unsigned>(round % 2), later = static_cast<unsigned>(round / 2);
        return row / 2 * 4 + 2 * odd + row % 2 + later * (2 * rows(rows_are_pixels));
    }
    __device__ static constexpr unsigned tile_column(unsigned column) { return column ^ 1; }

private:
    unsigned lane_m, lane_n;

    __device__ static void quad(Operand const* from, Operand* to) {
        auto const packet = *reinterpret_cast<Packet<Operand, 4> const*>(from);
#pragma unroll
        for (int i = 0; i < 4; ++i) to[i] = factor(packet.values[i]);
    }
};

}  // namespace fusekit::hip
