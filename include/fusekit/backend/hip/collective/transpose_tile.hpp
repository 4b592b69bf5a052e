// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"

namespace fusekit::hip {

/// Whether an atom's put() is the same code for all of its rounds.
template <class Atom>
inline constexpr bool rounds_are_alike = requires { requires Atom::rounds_are_alike; };

/// A tile's sums on their way from an atom's fragments through shared memory, so that neighbouring threads read
/// neighbouring elements: rows are pixels and columns are channels, or the other way round. They come in the atom's
/// rounds, each a part of the rows: in all of them, or in those that it says.
template <class Atom, bool rows_are_pixels>
class TransposeTile {
    static constexpr int pad = 4;  // floats a row, so that the columns of a store fall into different banks

public:
    static constexpr int rounds = Atom::rounds, rows = Atom::rows(rows_are_pixels),
                         columns = Atom::columns(rows_are_pixels);

    struct Buffer {
        Packet<float, 4> packets[rows][(columns + pad) / 4];

        /// The sum in a row of the buffer and a column of the tile; and in column `i` of the four from 4 `quad` on.
        __device__ float& at(unsigned row, unsigned column) { return packets[row]->values[Atom::tile_column(column)]; }
        __device__ float at(unsigned row, unsigned quad, unsigned i) const {
            return packets[row][quad].values[Atom::tile_column(i)];
        }
    };

    /// In each round, consume(round) reads the rows. All threads call this. `unrolls`: consume() takes constants.
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

    /// The row of the tile that a row of the buffer holds in a round.
    __device__ static unsigned tile_row(unsigned row, int round) {
        return Atom::template tile_row<rows_are_pixels>(row, round);
    }
};

}  // namespace fusekit::hip
