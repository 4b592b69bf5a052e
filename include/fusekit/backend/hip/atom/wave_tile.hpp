// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/amd_matrix.hpp"
#include "fusekit/backend/hip/arch/tags.hpp"
#include "fusekit/backend/hip/atom/row_tile.hpp"

namespace fusekit::hip {

/// MMA atom of waves that multiply fragments in registers by a matrix instruction Unit (Mfma, Wmma, MmaSync). The rows
/// of Unit's result are channels and its columns pixels, so that a lane's accumulators are of adjacent channels. A wave
/// computes 64 channels x `lanes` pixels, 64 accumulators per lane. The order of k in a sum is arbitrary: a lane reads
/// 16 bytes of an operand row and multiplies them with several instructions.
template <class T, class Unit, int TileM, int TileN, int RowBytes = 64, int Stages = 1>
class WaveTile {
    static constexpr int lanes = Unit::threads, wave_m = lanes, wave_n = 64;
    static constexpr int waves_m = TileM / wave_m, waves_n = TileN / wave_n;
    /// number of MMAs of a wave along the pixels (across_m) and along the channels (across_n)
    static constexpr int across_m = wave_m / Unit::n, across_n = wave_n / Unit::m;
    static_assert(waves_m * wave_m == TileM && waves_n * wave_n == TileN);
    /// own_rows: rows of an operand tile whose elements a lane holds in one operand of Unit. words: 32-bit words per
    /// such row. chunk_words: words of a row that a lane reads at once, whole 16-byte chunks and whole operands of
    /// Unit. parts: operands of Unit in chunk_words.
    static constexpr int own_rows = Unit::rows_per_thread;
    static constexpr int words = static_cast<int>(sizeof(typename Unit::Operand)) / 4 / own_rows,
                         chunk_words = words < 4 ? 4 : words;
    static constexpr int parts = chunk_words / words;
    /// factors_of_row: number of elements of a row that a lane holds. lanes_of_row: number of lanes that hold the same
    /// row, at different indices k.
    static constexpr int factors_of_row = Unit::factors_per_thread / own_rows, lanes_of_row = Unit::k / factors_of_row;
    static constexpr unsigned steps = RowBytes / (4 * chunk_words * lanes_of_row);

public:
    static constexpr int tile_m = TileM, tile_n = TileN, tile_k = RowTile<T, TileM, RowBytes>::tile_k;
    static constexpr int threads = waves_m * waves_n * lanes;
    static constexpr int stages = Stages;
    static constexpr bool is_asynchronous = false;
    using Operand = T;
    using Architecture = arch::Any;

    struct Stage {
        RowTile<T, TileM, RowBytes> x;
        RowTile<T, TileN, RowBytes> w;
    };
    /// A lane's accumulators: acc[i][j] are those of the MMA at the wave's i-th Unit::m channels and j-th Unit::n
    /// pixels.
    struct Fragment {
        typename Unit::Accumulators acc[across_n][across_m];
    };

    __device__ explicit WaveTile(unsigned thread)
        : lane(thread % lanes), own_m(thread / lanes % waves_m), own_n(thread / lanes / waves_m) {}

    /// Accumulates the k-tile in `stage`. Its operand tiles may be of any type with read(chunk, row), which returns 16
    /// bytes.
    template <class AnyStage>
    __device__ void multiply(AnyStage const& stage, Fragment& fragment) const {
#pragma unroll
        for (unsigned first = 0; first < steps; first += ahead) {
            Chunks w[ahead][across_n], x[ahead][across_m];
#pragma unroll
            for (unsigned own = 0; own < ahead; ++own) {
#pragma unroll
                for (int i = 0; i < across_n; ++i)
                    w[own][i] = read(stage.w, first + own, [&](int row) { return filter(i, row); });
#pragma unroll
                for (int nth = 0; nth < across_m; ++nth) {
                    int const j = reads_ahead ? across_m - 1 - nth : nth;
                    x[own][j] = read(stage.x, first + own, [&](int row) { return own_pixel(j, row); });
                }
            }
            if constexpr (reads_ahead) keep_apart();
            if constexpr (requires { Unit::converted(0u); }) {
#pragma unroll
                for (unsigned own = 0; own < ahead; ++own) {
#pragma unroll
                    for (int i = 0; i < across_n; ++i) convert(w[own][i]);
#pragma unroll
                    for (int j = 0; j < across_m; ++j) convert(x[own][j]);
                }
            }
#pragma unroll
            for (unsigned own = 0; own < ahead; ++own)
#pragma unroll
                for (int part = 0; part < parts; ++part)
#pragma unroll
                    for (int i = 0; i < across_n; ++i)
#pragma unroll
                        for (int j = 0; j < across_m; ++j)
                            fragment.acc[i][j] =
                                Unit::multiply(operand(w[own][i], part), operand(x[own][j], part), fragment.acc[i][j]);
        }
    }
    /// Keeps the accumulators in their registers (amd::hold()). Called before the first k-tile and after each k-tile.
    __device__ void wait(Fragment& fragment) const {
#pragma unroll
        for (int i = 0; i < across_n; ++i)
#pragma unroll
            for (int j = 0; j < across_m; ++j) amd::hold(fragment.acc[i][j]);
    }
    __device__ static void publish() {}

    /// Number of passes in which accumulators are staged through LDS. Rows of the staging buffer are pixels or
    /// channels. In each pass, `waves_per_round` of the waves along that mode store the accumulators of one MMA each,
    /// or of some of that MMA's pixels.
    static constexpr int rounds = TileN < 4 * Unit::m ? TileN / Unit::m : 4;
    FUSEKIT_H static constexpr int rows(bool rows_are_pixels) { return (rows_are_pixels ? TileM : TileN) / rounds; }
    FUSEKIT_H static constexpr int columns(bool rows_are_pixels) { return rows_are_pixels ? TileN : TileM; }

    template <bool rows_are_pixels, int Pitch>
    __device__ void put(int round, Fragment const& fragment, Packet<float, 4> (*out)[Pitch]) const {
        constexpr int at_once = rows_at_once<rows_are_pixels>, parts_of_pixels = Unit::m / at_once;
        int const wave = static_cast<int>(rows_are_pixels ? own_m : own_n), part = round % parts_of_pixels,
                  product = round / parts_of_pixels / splits<rows_are_pixels>;
        if (wave / waves_per_round<rows_are_pixels> != round / parts_of_pixels % splits<rows_are_pixels>) return;
        if (parts_of_pixels > 1 && Unit::column(static_cast<int>(lane), 0) / at_once != part) return;
        int const row = wave % waves_per_round<rows_are_pixels> * at_once;
        int const column = static_cast<int>(rows_are_pixels ? own_n * wave_n : own_m * wave_m);
        int const own = static_cast<int>(lane);
        if constexpr (rows_are_pixels && has_quads_of_rows) {
#pragma unroll
            for (int i = 0; i < across_n; ++i) {
                auto const& acc = fragment.acc[i][product];
#pragma unroll
                for (int e = 0; e < Unit::acc_per_thread; e += 4)
                    out[row + Unit::column(own, e) % at_once][(column + i * Unit::m + Unit::row(own, e)) / 4] = {
                        {static_cast<float>(acc[e]), static_cast<float>(acc[e + 1]), static_cast<float>(acc[e + 2]),
                         static_cast<float>(acc[e + 3])}};
            }
        } else {
#pragma unroll
            for (int other = 0; other < (rows_are_pixels ? across_n : across_m); ++other) {
                auto const& acc = fragment.acc[rows_are_pixels ? other : product][rows_are_pixels ? product : other];
#pragma unroll
                for (int e = 0; e < Unit::acc_per_thread; ++e) {
                    int const n = Unit::row(own, e), m = Unit::column(own, e),
                              at = column + other * Unit::m + (rows_are_pixels ? n : m);
                    out[row + (rows_are_pixels ? m : n) % at_once][at / 4].values[at % 4] = static_cast<float>(acc[e]);
                }
            }
        }
    }
    template <bool rows_are_pixels>
    __device__ static unsigned tile_row(unsigned row, int round) {
        constexpr unsigned at_once = rows_at_once<rows_are_pixels>, parts_of_pixels = Unit::m / at_once;
        auto const of = static_cast<unsigned>(round) / parts_of_pixels;
        unsigned const wave = of % splits<rows_are_pixels> * waves_per_round<rows_are_pixels> + row / at_once,
                       product = wave * across<rows_are_pixels> + of / splits<rows_are_pixels>;
        return product * Unit::m + static_cast<unsigned>(round) % parts_of_pixels * at_once + row % at_once;
    }
    __device__ static constexpr unsigned tile_column(unsigned column) { return column; }

private:
    unsigned lane, own_m, own_n;

    __device__ int own_lane() const { return static_cast<int>(lane); }

    static_assert(Unit::m == Unit::n);
    /// Constants of the staging passes. rows_at_once: rows of an MMA's result that a pass stores. across: MMAs of a
    /// wave along the rows of the staging buffer. splits: number of groups of waves that store in different passes.
    /// waves_per_round: waves per group.
    template <bool rows_are_pixels>
    static constexpr int rows_at_once = rows(rows_are_pixels) < Unit::m ? rows(rows_are_pixels) : Unit::m;
    template <bool rows_are_pixels>
    static constexpr int across = rows_are_pixels ? across_m : across_n;
    template <bool rows_are_pixels>
    static constexpr int splits = rounds / (across<rows_are_pixels> * (Unit::m / rows_at_once<rows_are_pixels>));
    template <bool rows_are_pixels>
    static constexpr int waves_per_round = (rows_are_pixels ? waves_m : waves_n) / splits<rows_are_pixels>;
    /// True if four consecutive accumulators of a lane are of adjacent channels of one pixel, so that one vector store
    /// stages them.
    static constexpr bool has_quads_of_rows = Unit::row(0, 3) == 3;

    /// True if a lane reads all operands of the k-tile before the first MMA: with one stage, because no copies are in
    /// flight. The operands that were read last are multiplied first: one wait covers all reads.
    static constexpr bool reads_ahead = Stages == 1 && lanes_of_row > 1;
    static constexpr unsigned ahead = reads_ahead ? steps : 1;
    struct Chunks {
        Words<4> chunks[own_rows][chunk_words / 4];
    };

    __device__ static void convert(Chunks& of) {
#pragma unroll
        for (int row = 0; row < own_rows; ++row)
#pragma unroll
            for (int word = 0; word < chunk_words; ++word) {
                auto& chunk = of.chunks[row][word / 4];
                chunk[word % 4] = Unit::converted(chunk[word % 4]);
            }
    }
    /// Returns the channel, in the CTA's tile, of row number `row`, among own_rows, of the operand that the lane holds
    /// for the wave's MMA number i along the channels.
    __device__ unsigned filter(int i, int row = 0) const {
        return own_n * wave_n + static_cast<unsigned>(i * Unit::m + Unit::factor_row(own_lane(), row * factors_of_row));
    }
    /// Returns the index, in an operand row, of the first 16-byte chunk that the lane reads in step `step` of the
    /// k-tile.
    __device__ unsigned first_chunk(unsigned step) const {
        auto const own = static_cast<unsigned>(Unit::factor_k(own_lane(), 0) / factors_of_row);
        return (step * lanes_of_row + own) * (chunk_words / 4);
    }
    __device__ unsigned own_pixel(int j, int row = 0) const {
        return own_m * wave_m + static_cast<unsigned>(j * Unit::n + Unit::factor_row(own_lane(), row * factors_of_row));
    }
    /// Reads the lane's chunks of one operand in step `step` of the k-tile; row_at(i) returns the row of the operand
    /// tile that is the lane's row i, among own_rows.
    template <class Tile, class RowAt>
    __device__ Chunks read(Tile const& tile, unsigned step, RowAt const& row_at) const {
        Chunks result;
#pragma unroll
        for (int row = 0; row < own_rows; ++row)
#pragma unroll
            for (unsigned i = 0; i < chunk_words / 4; ++i)
                result.chunks[row][i] = tile.read(first_chunk(step) + i, row_at(row));
        return result;
    }
    __device__ static typename Unit::Operand operand(Chunks const& from, int part) {
        typename Unit::Operand result;
#pragma unroll
        for (int row = 0; row < own_rows; ++row)
#pragma unroll
            for (int i = 0; i < words; ++i) {
                int const word = part * words + i;
                result[row * words + i] = from.chunks[row][word / 4][word % 4];
            }
        return result;
    }
};

}  // namespace fusekit::hip
