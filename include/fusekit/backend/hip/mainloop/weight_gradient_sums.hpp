// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/collective/split_k.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/copy/wgrad/tile.hpp"

namespace fusekit::hip {

/// Stores a tile's accumulators to dw, in `passes` passes through SMEM, where split-K adds the accumulators of the
/// tile's other CTAs. A row in SMEM is a channel of y; rows are in the order in which the atom stages them
/// (Atom::tile_row()).
template <class Atom, class Tile>
class WeightGradientSums {
    static constexpr int threads = Tile::threads, passes = Tile::passes, pass_rounds = Atom::rounds / passes;
    static constexpr unsigned round_rows = static_cast<unsigned>(Atom::rows(false));
    static_assert(pass_rounds * passes == Atom::rounds);

public:
    using Shared = AccumulatorTile<Tile::n / passes, Tile::m>;

    /// Reduces and stores the tile of CTA `block`. fragment() returns the thread's accumulators. column_of(params, i)
    /// and channel_of(params, i) return the tile's column of dw and channel of y that are the atom's column i and row
    /// i; weight(params, problem, column) returns the coordinate (c, r, s) of a column of dw.
    template <class Params, class Fragment, class ColumnOf, class ChannelOf, class Weight>
    __device__ static void store(Params const& the_params, Shared& acc, Atom const& atom, unsigned block,
                                 unsigned thread, Fragment const& fragment, ColumnOf const& column_of,
                                 ChannelOf const& channel_of, Weight const& weight) {
        // reloads the parameters and recomputes the tile, so that neither occupies registers during the k-loop
        Params const& params = reload(the_params);
        WeightGradientTileAt<Tile> const at(params, params.problem(), opaque_per_block(block));
#pragma unroll 1
        for (int pass = 0; pass < passes; ++pass) {
            __syncthreads();
            put(acc, atom, fragment(), pass);
            RowRange const rows = reduce_split_k<threads>(
                acc, params.split_k, at.number * passes + static_cast<unsigned>(pass), at.split_group, at.rank, thread);
            store_rows(params, acc, at, rows, pass, thread, column_of, channel_of, weight);
            finish_split_k(params.split_k);
        }
    }

private:
    template <class Fragment>
    __device__ static void put(Shared& acc, Atom const& atom, Fragment const& fragment, int pass) {
#pragma unroll
        for (int round = 0; round < Atom::rounds; ++round)
            if (round / pass_rounds == pass)
                atom.template put<false>(round, fragment,
                                         acc.rows + static_cast<unsigned>(round % pass_rounds) * round_rows);
    }
    template <class Params, class ColumnOf, class ChannelOf, class Weight>
    __device__ static void store_rows(Params const& params, Shared const& acc, WeightGradientTileAt<Tile> const& at,
                                      RowRange const& rows, int pass, unsigned thread, ColumnOf const& column_of,
                                      ChannelOf const& channel_of, Weight const& weight) {
        auto const conv = params.problem();
        int const weights = static_cast<int>(params.weights()), ones = at.ones(params);
        struct Column {
            KCoord of;
            bool is_weight, is_bias;
        };
        auto const coord_of = [&](int column) {
            auto const in_tile = static_cast<int>(column_of(params, Atom::tile_column(static_cast<unsigned>(column))));
            int const index = at.first_column + in_tile;
            return Column{weight(params, conv, index), index < weights, in_tile == ones};
        };
        store_sums<threads>(acc, rows, Tile::m, thread, coord_of, [&](float sum, int row, Column const& column) {
            auto const in_pass = static_cast<unsigned>(row);
            unsigned const in_tile = Atom::template tile_row<false>(
                in_pass % round_rows, pass * pass_rounds + static_cast<int>(in_pass / round_rows));
            int const in_group = at.first_k + static_cast<int>(channel_of(params, in_tile));
            if (in_group >= conv.group_k()) return;
            int const k = static_cast<int>(conv.first_k(at.group)) + in_group;
            if (column.is_weight) params.store(sum, {k, column.of.c, column.of.r, column.of.s});
            else if (column.is_bias) params.store_bias(sum, k);
        });
    }
};

}  // namespace fusekit::hip
