// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/amd_matrix.hpp"
#include "fusekit/backend/hip/arch/permute.hpp"

namespace fusekit::hip {

/// The atom of a wave that multiplies 64 channels of y by 128 columns, of 16 bits. They come from memory in packets of
/// neighbouring channels: a lane loads four of dy and eight columns of x, of four pixels, which are indices of GemmK.
/// Transposed, these are its factors of four by eight products, because a product may have any rows of a tile. So
/// nothing passes through shared memory. Unit is an Mfma of 16 x 16.
template <class Unit>
class PacketProducts {
    static constexpr int channels = 4, columns_of_lane = 8;

public:
    static constexpr int tile_m = columns_of_lane * Unit::n, tile_n = channels * Unit::m, tile_k = 16,
                         threads = Unit::threads, pixels = tile_k * Unit::m / threads;
    static_assert(Unit::k == tile_k && pixels == 4 && Unit::sums_per_thread == 4);

    struct Fragment {
        typename Unit::Sums sums[channels][columns_of_lane];
    };
    /// A lane's pixels as they are loaded: columns of x and channels of dy.
    struct Loaded {
        Words<columns_of_lane / 2> x[pixels];
        Words<channels / 2> dy[pixels];
    };
    /// The same transposed.
    struct Factors {
        typename Unit::Operand x[columns_of_lane], dy[channels];
    };

    __device__ explicit PacketProducts(unsigned thread) : lane(static_cast<int>(thread)) {}

    /// The number of a lane's packets of columns and of channels, and its first pixel.
    __device__ unsigned packet() const { return static_cast<unsigned>(lane % Unit::n); }
    __device__ unsigned first_pixel() const { return static_cast<unsigned>(lane / Unit::n * pixels); }

    /// Transposes loaded pixels. Words of a lane's first column get the bits `set`, too.
    __device__ static Factors factors(Loaded const& of, std::uint32_t set) {
        Factors result;
#pragma unroll
        for (int i = 0; i < channels; ++i) result.dy[i] = transposed(of.dy, i);
#pragma unroll
        for (int j = 0; j < columns_of_lane; ++j) result.x[j] = transposed(of.x, j);
#pragma unroll
        for (int word = 0; word < 2; ++word) result.x[0][word] |= set;
        return result;
    }
    __device__ static void multiply(Factors of, Fragment& fragment) {
        if constexpr (requires { Unit::converted(0u); }) {
#pragma unroll
            for (int word = 0; word < 2; ++word) {
#pragma unroll
                for (int i = 0; i < channels; ++i) of.dy[i][word] = Unit::converted(of.dy[i][word]);
#pragma unroll
                for (int j = 0; j < columns_of_lane; ++j) of.x[j][word] = Unit::converted(of.x[j][word]);
            }
        }
#pragma unroll
        for (int j = 0; j < columns_of_lane; ++j)
#pragma unroll
            for (int i = 0; i < channels; ++i)
                fragment.sums[i][j] = Unit::multiply(of.dy[i], of.x[j], fragment.sums[i][j]);
    }

    /// Sums leave in rounds, as those of a WaveTile: in each round one sum of each of a lane's products.
    static constexpr int rounds = Unit::sums_per_thread;
    FUSEKIT_H static constexpr int rows(bool) { return tile_n / rounds; }

    template <bool rows_are_pixels, int Pitch>
    __device__ void put(int round, Fragment const& fragment, Packet<float, 4> (*out)[Pitch]) const {
        static_assert(!rows_are_pixels);
#pragma unroll
        for (int i = 0; i < channels; ++i)
#pragma unroll
            for (int j = 0; j < columns_of_lane; j += 4) {
                auto const& sums = fragment.sums[i];
                out[lane / Unit::n * channels + i][(lane % Unit::n * columns_of_lane + j) / 4] = {
                    {sums[j][round], sums[j + 1][round], sums[j + 2][round], sums[j + 3][round]}};
            }
    }
    template <bool rows_are_pixels>
    __device__ static unsigned tile_row(unsigned row, int round) {
        constexpr auto per_round = static_cast<unsigned>(channels);
        auto const group = static_cast<int>(row / per_round) * Unit::n;
        return static_cast<unsigned>(Unit::row(group, round)) * per_round + row % per_round;
    }
    __device__ static constexpr unsigned tile_column(unsigned column) { return column; }

private:
    int lane;

    /// One channel of four pixels.
    template <class Channels>
    __device__ static typename Unit::Operand transposed(Channels const (&of)[pixels], int channel) {
        std::uint32_t const halves = channel % 2 ? 0x07060302 : 0x05040100;
        typename Unit::Operand result;
        result[0] = permuted(of[1][channel / 2], of[0][channel / 2], halves);
        result[1] = permuted(of[3][channel / 2], of[2][channel / 2], halves);
        return result;
    }
};

}  // namespace fusekit::hip
