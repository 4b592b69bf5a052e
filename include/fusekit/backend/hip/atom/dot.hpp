// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/amd_dot.hpp"
#include "fusekit/backend/hip/arch/tags.hpp"
#include "fusekit/backend/hip/atom/row_tile.hpp"
#include "fusekit/tensor/dtype.hpp"

namespace fusekit::hip {

/// MMA atom of AMD's dot instructions, for processors without matrix instructions. An instruction multiplies two halves
/// by two, or four int8 by four, and adds the products to a float or an int32. int8 is exact. Products of half are
/// exact too, and an instruction rounds once or twice, like two additions: a sum of m products is within m half ulps of
/// the sum of magnitudes, as in SIMT arithmetic. The instruction flushes float's subnormals to zero; sums of products
/// of half are multiples of 2^-48, so none is subnormal.
///
/// A thread has 8 x 8 accumulators, at pixels 8 apart and channels 4 apart: the 8 x 4 threads of a wave read
/// consecutive rows of an operand tile, which RowTile's swizzle maps to different LDS banks. Each read is 16 bytes of a
/// row.
template <class T, int TileM, int TileN, int RowBytes = 64>
class DotTile {
    static constexpr int waves_m = TileM / 64, waves_n = TileN / 32;
    static_assert(waves_m * 64 == TileM && waves_n * 32 == TileN);
    using Acc = detail::AccumulatorOf<T>;

public:
    static constexpr int tile_m = TileM, tile_n = TileN, tile_k = RowTile<T, TileM, RowBytes>::tile_k;
    static constexpr int threads = waves_m * waves_n * 32, stages = 1;
    static constexpr bool is_asynchronous = false;
    using Operand = T;
    using Architecture = arch::Any;

    struct Stage {
        RowTile<T, TileM, RowBytes> x;
        RowTile<T, TileN, RowBytes> w;
    };
    /// A thread's accumulators: acc[i][j] is that of the thread's pixel i and channel j.
    struct Fragment {
        Acc acc[8][8];
    };

    __device__ explicit DotTile(unsigned thread)
        : lane_m(thread % 8), lane_n(thread / 8 % 4), wave_m(thread / 32 % waves_m), wave_n(thread / 32 / waves_m) {}

    __device__ void wait(Fragment&) const {}
    __device__ static void publish() {}
    __device__ void multiply(Stage const& stage, Fragment& fragment) const {
#pragma unroll
        for (unsigned chunk = 0; chunk < RowBytes / 16; ++chunk) {
            Words<4> w[8];
#pragma unroll
            for (unsigned j = 0; j < 8; ++j) w[j] = stage.w.read(chunk, channel(j));
#pragma unroll
            for (unsigned i = 0; i < 8; ++i) {
                keep_apart();  // otherwise rows of several chunks occupy registers
                Words<4> const x = stage.x.read(chunk, pixel(i));
#pragma unroll
                for (int word = 0; word < 4; ++word)
#pragma unroll
                    for (unsigned j = 0; j < 8; ++j)
                        // acc (8 pixels, 8 channels) += x (8, k) w (8, k)^T over the indices k in one 32-bit word
                        fragment.acc[i][j] = dot(x[word], w[j][word], fragment.acc[i][j]);
            }
        }
    }

    /// Number of passes in which accumulators are staged through LDS. In each pass every thread stores two of its eight
    /// pixels if the staging buffer's rows are pixels, otherwise two of its eight channels.
    static constexpr int rounds = 4;
    FUSEKIT_H static constexpr int rows(bool rows_are_pixels) { return (rows_are_pixels ? TileM : TileN) / rounds; }
    FUSEKIT_H static constexpr int columns(bool rows_are_pixels) { return rows_are_pixels ? TileN : TileM; }

    template <bool rows_are_pixels, int Pitch>
    __device__ void put(int round, Fragment const& fragment, Packet<float, 4> (*out)[Pitch]) const {
        constexpr unsigned apart = rows_are_pixels ? 8 : 4;
        unsigned const row = rows_are_pixels ? wave_m * (2 * apart) + lane_m : wave_n * (2 * apart) + lane_n;
#pragma unroll
        for (unsigned part = 0; part < 2; ++part) {
            unsigned const own = 2 * static_cast<unsigned>(round) + part;
#pragma unroll
            for (unsigned i = 0; i < 8; ++i) {
                unsigned const column = rows_are_pixels ? channel(i) : pixel(i);
                out[row + part * apart][column / 4].values[column % 4] =
                    static_cast<float>(rows_are_pixels ? fragment.acc[own][i] : fragment.acc[i][own]);
            }
        }
    }
    template <bool rows_are_pixels>
    __device__ static unsigned tile_row(unsigned row, int round) {
        // rows of the staging buffer that a wave stores in a pass
        constexpr unsigned at_once = rows_are_pixels ? 16 : 8;
        return row / at_once * (rounds * at_once) + static_cast<unsigned>(round) * at_once + row % at_once;
    }
    __device__ static constexpr unsigned tile_column(unsigned column) { return column; }

private:
    unsigned lane_m, lane_n, wave_m, wave_n;

    __device__ static Acc dot(std::uint32_t a, std::uint32_t b, Acc c) {
        if constexpr (std::is_same_v<T, half>) return amd::dot2_f32_f16(a, b, c);
        else return amd::dot4_i32_i8(a, b, c);
    }
    __device__ unsigned pixel(unsigned i) const { return wave_m * 64 + lane_m + 8 * i; }
    __device__ unsigned channel(unsigned j) const { return wave_n * 32 + lane_n + 4 * j; }
};

}  // namespace fusekit::hip
