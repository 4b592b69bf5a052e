// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/epilogue/output_tile.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// An output tile that `count` consecutive CTAs (2, 4 or 8) compute with split-K. Each CTA accumulates the whole tile
/// over its range of GemmK, stores the accumulators to a Buffer or to the workspace, and then sums some of the tile's
/// rows over all CTAs, in the order of the CTAs: results are bitwise identical in every run.
///
/// CTAs of a cluster read each other's SMEM. Other CTAs exchange accumulators in global memory; these CTAs are
/// co-resident and synchronize as a GridGroup.
///
/// SplitTile has the members of an MMA atom with which TransposeTile stages accumulators (simt.hpp): put() sums the
/// CTA's rows over all CTAs and stores the sums to SMEM, in passes of an eighth of the tile.
template <class Atom, bool rows_are_pixels>
class SplitTile {
    static constexpr int rows_of_tile = rows_are_pixels ? Atom::tile_m : Atom::tile_n,
                         columns_of_tile = Atom::columns(rows_are_pixels);
    static constexpr int pad = 4, row_packets = columns_of_tile / 4, pitch = (columns_of_tile + pad) / 4;
    static constexpr int unrolled_rounds = rows_are_pixels && rounds_are_alike<Atom> ? 1 : Atom::rounds;
    using Packet4 = Packet<float, 4>;

public:
    static constexpr int tile_m = Atom::tile_m, tile_n = Atom::tile_n, threads = Atom::threads;
    static constexpr int max_splits = 8, rounds = max_splits;

    /// SMEM layout of a CTA's accumulators for other CTAs of the cluster, with rows in the order in which the atom's
    /// passes stage them.
    struct Buffer {
        Packet4 packets[arch::Target::processor.has_clusters ? rows_of_tile : 1][pitch];
        bool is_last;
    };
    /// number of floats that each CTA stores to the workspace
    static constexpr int floats = rows_of_tile * columns_of_tile;

    /// Stores this CTA's accumulators `acc` and waits until the tile's other CTAs have stored theirs. All threads call
    /// it. `block`: index of the CTA in the grid.
    __device__ SplitTile(SplitK const& split_k, Buffer& the_buffer, unsigned block, unsigned the_thread,
                         Atom const& atom, typename Atom::Fragment const& acc)
        : buffer(the_buffer), count(split_k.count), split(block % count), thread(the_thread) {
        if (in_cluster()) {
            put_all(atom, acc, buffer.packets);
            cluster_barrier();
        } else {
            unsigned const tile = block / count;
            in_workspace =
                reinterpret_cast<Packet4(*)[row_packets]>(split_k.workspace.values()) + tile * count * rows_of_tile;
            put_all(atom, acc, in_workspace + split * rows_of_tile);
            GridGroup(split_k.workspace.state(tile), count, thread, buffer.is_last).arrive_and_wait([] {});
        }
    }

    /// Waits until the cluster's other CTAs have read this CTA's Buffer. All threads call it before the CTA exits.
    __device__ void finish() const {
        if (in_cluster()) cluster_barrier();
    }

    /// The members below are those of an atom (simt.hpp). The fragment is empty: the accumulators are in SMEM or in the
    /// workspace.
    struct Fragment {};
    FUSEKIT_H static constexpr int rows(bool) { return rows_of_tile / rounds; }
    FUSEKIT_H static constexpr int columns(bool) { return columns_of_tile; }
    __device__ int first_round() const { return static_cast<int>(split * (max_splits / count)); }
    __device__ int end_round() const { return static_cast<int>((split + 1) * (max_splits / count)); }

    template <bool, int Pitch>
    __device__ void put(int round, Fragment const&, Packet4 (*out)[Pitch]) const {
        if (count == 2) put_reduced<2>(round, out);
        else if (count == 4) put_reduced<4>(round, out);
        else put_reduced<8>(round, out);
    }
    template <bool>
    __device__ static unsigned tile_row(unsigned row, int round) {
        constexpr auto of_atom = static_cast<unsigned>(Atom::rows(rows_are_pixels));
        unsigned const number = static_cast<unsigned>(round * rows(rows_are_pixels)) + row;
        return Atom::template tile_row<rows_are_pixels>(number % of_atom, static_cast<int>(number / of_atom));
    }
    __device__ static constexpr unsigned tile_column(unsigned column) { return Atom::tile_column(column); }

private:
    Buffer& buffer;
    /// without clusters: accumulators of all CTAs of this tile in the workspace; an element is four columns of a row
    Packet4 (*in_workspace)[row_packets] = nullptr;
    unsigned count, split, thread;

    template <int Pitch>
    __device__ static void put_all(Atom const& atom, typename Atom::Fragment const& acc, Packet4 (*rows_of)[Pitch]) {
#pragma unroll unrolled_rounds
        for (int round = 0; round < Atom::rounds; ++round)
            atom.template put<rows_are_pixels>(round, acc, rows_of + round * Atom::rows(rows_are_pixels));
    }
    __device__ Packet4 load(unsigned of_split, unsigned row, unsigned packet) const {
        if (in_cluster()) return load_of_block(&buffer.packets[row][packet], of_split);
        return load_fresh(&in_workspace[of_split * rows_of_tile + row][packet]);
    }
    /// Sums the rows of staging pass `round` over all CTAs and stores the sums to `out`. A thread issues all its loads
    /// before its first addition.
    template <unsigned splits, int Pitch>
    __device__ void put_reduced(int round, Packet4 (*out)[Pitch]) const {
        constexpr unsigned own = static_cast<unsigned>(rows(rows_are_pixels)) * row_packets / threads;
        unsigned const first_row = static_cast<unsigned>(round * rows(rows_are_pixels));
        Packet4 loaded[own][splits];
#pragma unroll
        for (unsigned i = 0; i < own; ++i)
#pragma unroll
            for (unsigned of_split = 0; of_split < splits; ++of_split)
                loaded[i][of_split] = load(of_split, first_row + (thread + i * threads) / row_packets,
                                           (thread + i * threads) % row_packets);
#pragma unroll
        for (unsigned i = 0; i < own; ++i) {
            Packet4 sum = loaded[i][0];
#pragma unroll
            for (unsigned of_split = 1; of_split < splits; ++of_split)
#pragma unroll
                for (unsigned j = 0; j < 4; ++j) sum.values[j] += loaded[i][of_split].values[j];
            out[(thread + i * threads) / row_packets][(thread + i * threads) % row_packets] = sum;
        }
    }
};

}  // namespace fusekit::hip
