// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/collective/tile_coord.hpp"

namespace fusekit::hip {

/// SMEM data of a CTA's tile of y: its pixels, their offsets in y, and the channels' prepared epilogue parameters.
template <class Plan, int TileM, int TileN>
struct OutputTile {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;

    Pixel pixels[TileM];
    std::int64_t offsets[TileM];  ///< offset of each pixel in y, in elements
    Uninitialized<State> states[Epilogue::channelwise ? TileN : 1];

    /// Fills the tile's data; called by all threads. With pooling, the four pixels of a 2 x 2 window are consecutive.
    template <int threads, class Problem>
    __device__ void prepare(Problem const& conv, typename Epilogue::Args const& epilogue,
                            TileCoord<TileM, TileN> const& at, unsigned thread) {
        for (unsigned i = thread; i < TileM; i += threads) {
            int const m = at.first_m + static_cast<int>(i);
            Pixel const pixel = Plan::pools ? conv.pixel_of_windows(m) : conv.pixel(m, at.group);
            pixels[i] = pixel;
            offsets[i] = conv.output_offset(pixel);
        }
        if constexpr (Epilogue::channelwise) {
            for (unsigned i = thread; i < at.count_n; i += threads)
                states[i].value() = Epilogue::prepare(std::int64_t{at.first_k} + i, epilogue);
        }
    }

    __device__ State state(unsigned n) { return states[Epilogue::channelwise ? n : 0].value(); }
};

/// True if an atom's put() has the same code in all staging passes, so that their loop need not be unrolled.
template <class Atom>
inline constexpr bool rounds_are_alike = requires { requires Atom::rounds_are_alike; };

/// Transposes a tile's accumulators from an atom's fragments through an SMEM buffer, so that consecutive threads read
/// consecutive elements: the buffer's rows are pixels and its columns channels, or the reverse. The buffer holds some
/// rows at a time; the atom stages the tile in `rounds` passes: all of them, or, for a SplitTile, first_round() to
/// end_round() - 1.
template <class Atom, bool rows_are_pixels>
class TransposeTile {
    static constexpr int pad = 4;  // floats of padding per row, so that a store's columns hit different banks

public:
    static constexpr int rounds = Atom::rounds, rows = Atom::rows(rows_are_pixels),
                         columns = Atom::columns(rows_are_pixels);

    struct Buffer {
        Packet<float, 4> packets[rows][(columns + pad) / 4];

        /// Accumulator in row `row` of the buffer and column `column` of the tile; in the second function, column 4 *
        /// quad + i.
        __device__ float& at(unsigned row, unsigned column) { return packets[row]->values[Atom::tile_column(column)]; }
        __device__ float at(unsigned row, unsigned quad, unsigned i) const {
            return packets[row][quad].values[Atom::tile_column(i)];
        }
    };

    /// Runs the passes: stages the accumulators of each, and calls consume(round), which reads the buffer's rows. All
    /// threads call it. `unrolls`: unrolls the loop, so that `round` is a constant in consume().
    template <bool unrolls = false, class Consume>
    __device__ static void run(Buffer& buffer, Atom const& atom, typename Atom::Fragment const& fragment,
                               Consume const& consume) {
        auto const take = [&](int round) {
            atom.template put<rows_are_pixels>(round, fragment, buffer.packets);
            __syncthreads();
            consume(round);
            __syncthreads();
        };
        if constexpr (requires { atom.end_round(); }) {
#pragma unroll 1
            for (int round = atom.first_round(); round < atom.end_round(); ++round) take(round);
        } else if constexpr (!unrolls && rounds_are_alike<Atom>) {
#pragma unroll 1
            for (int round = 0; round < rounds; ++round) take(round);
        } else {
#pragma unroll
            for (int round = 0; round < rounds; ++round) take(round);
        }
    }

    /// Row of the tile that is in row `row` of the buffer in pass `round`.
    __device__ static unsigned tile_row(unsigned row, int round) {
        return Atom::template tile_row<rows_are_pixels>(row, round);
    }
};

}  // namespace fusekit::hip
