// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/collective/tile_coord.hpp"

namespace fusekit::hip {

/// SMEM data of a CTA's output tile: its pixels, their offsets in y, and the prepared epilogue parameters of its
/// channels.
template <class Plan, int TileM, int TileN>
struct OutputTile {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;

    Pixel pixels[TileM];
    std::int64_t offsets[TileM];  ///< offset in y of channel 0 of each of the tile's pixels, in elements
    Uninitialized<State> states[Epilogue::channelwise ? TileN : 1];

    /// Fills the data of the tile at `at`. All `threads` threads call it; a CTA barrier must follow. With pooling, the
    /// four pixels of a 2x2 pooling window are consecutive.
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

/// True if Atom::put() has the same code in all staging passes, so that their loop need not be unrolled.
template <class Atom>
inline constexpr bool rounds_are_alike = requires { requires Atom::rounds_are_alike; };

/// Transposes an output tile's accumulators from an atom's fragments through an SMEM buffer, so that consecutive
/// threads read consecutive elements: the buffer's rows are pixels and its columns channels, or the reverse. The buffer
/// holds some rows of the tile at a time; the atom stages the tile in `rounds` passes. A SplitTile runs only its passes
/// first_round() to end_round() - 1.
template <class Atom, bool rows_are_pixels>
class TransposeTile {
    // floats of padding per row of the buffer, so that a store's columns are in different banks
    static constexpr int pad = 4;

public:
    static constexpr int rounds = Atom::rounds, rows = Atom::rows(rows_are_pixels),
                         columns = Atom::columns(rows_are_pixels);

    struct Buffer {
        Packet<float, 4> packets[rows][(columns + pad) / 4];

        /// Returns the accumulator in row `row` of the buffer and in column `column` of the tile, or, in the second
        /// function, in column 4 * `quad` + i of the tile.
        __device__ float& at(unsigned row, unsigned column) { return packets[row]->values[Atom::tile_column(column)]; }
        __device__ float at(unsigned row, unsigned quad, unsigned i) const {
            return packets[row][quad].values[Atom::tile_column(i)];
        }
    };

    /// Runs the passes: in each, stages the pass's accumulators in `buffer` and calls consume(round), which reads the
    /// buffer's rows. All threads of the CTA call it. `unrolls`: unrolls the loop, so that `round` is a constant in
    /// consume().
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

    /// Returns the row of the tile that is in row `row` of the buffer in pass `round`.
    __device__ static unsigned tile_row(unsigned row, int round) {
        return Atom::template tile_row<rows_are_pixels>(row, round);
    }
};

}  // namespace fusekit::hip
