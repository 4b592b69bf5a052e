// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/epilogue/output_tile.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// Split-K: an output tile that `parts` consecutive CTAs reduce: 2, 4 or 8. Each CTA accumulates the whole tile over
/// its range of GemmK, stores the accumulators to a Buffer, and then sums some of the tile's rows over all CTAs, in the
/// order of the CTAs: results are bitwise identical in every run.
///
/// CTAs of a cluster read each other's SMEM. Other CTAs exchange accumulators in device memory; these CTAs are
/// co-resident and synchronize as a GridGroup.
///
/// SplitTile has an atom's interface for staging (simt.hpp): it sums its rows and puts the sums into SMEM in passes of
/// an eighth of the tile.
template <class Atom, bool rows_are_pixels>
class SplitTile {
    static constexpr int rows_of_tile = rows_are_pixels ? Atom::tile_m : Atom::tile_n,
                         columns_of_tile = Atom::columns(rows_are_pixels);
    static constexpr int pad = 4, quads = columns_of_tile / 4, pitch = (columns_of_tile + pad) / 4;
    static constexpr int unrolled_rounds = rows_are_pixels && rounds_are_alike<Atom> ? 1 : Atom::rounds;
    using Four = Packet<float, 4>;

public:
    static constexpr int tile_m = Atom::tile_m, tile_n = Atom::tile_n, threads = Atom::threads;
    static constexpr int most_parts = 8, rounds = most_parts;

    /// Accumulators of the tile's rows, in the order of the atom's passes; used in clusters.
    struct Buffer {
        Four packets[arch::Target::processor.has_clusters ? rows_of_tile : 1][pitch];
        bool is_last;
    };
    static constexpr int floats = rows_of_tile * columns_of_tile;  ///< floats per CTA in the workspace

    /// Called by all threads. Stores this CTA's accumulators and waits until the other CTAs have stored theirs.
    __device__ SplitTile(TileParts const& parts, Buffer& the_buffer, unsigned block, unsigned the_thread,
                         Atom const& atom, typename Atom::Fragment const& sums)
        : buffer(the_buffer), count(parts.count), part(block % count), thread(the_thread) {
        if (in_cluster()) {
            put_all(atom, sums, buffer.packets);
            cluster_barrier();
        } else {
            unsigned const tile = block / count;
            in_workspace = reinterpret_cast<Four(*)[quads]>(parts.workspace.values()) + tile * count * rows_of_tile;
            put_all(atom, sums, in_workspace + part * rows_of_tile);
            GridGroup(parts.workspace.state(tile), count, thread, buffer.is_last).arrive_and_wait([] {});
        }
    }

    /// Called by all threads before the CTA exits, because other CTAs of the cluster may still read its Buffer.
    __device__ void leave() const {
        if (in_cluster()) cluster_barrier();
    }

    /// An atom's interface for staging. The accumulators are in memory, so that the fragment is empty.
    struct Fragment {};
    FUSEKIT_H static constexpr int rows(bool) { return rows_of_tile / rounds; }
    FUSEKIT_H static constexpr int columns(bool) { return columns_of_tile; }
    __device__ int first_round() const { return static_cast<int>(part * (most_parts / count)); }
    __device__ int end_round() const { return static_cast<int>((part + 1) * (most_parts / count)); }

    template <bool, int Pitch>
    __device__ void put(int round, Fragment const&, Four (*out)[Pitch]) const {
        if (count == 2) put_sums<2>(round, out);
        else if (count == 4) put_sums<4>(round, out);
        else put_sums<8>(round, out);
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
    /// accumulators of all CTAs of this tile in device memory; an element is four columns
    Four (*in_workspace)[quads] = nullptr;
    unsigned count, part, thread;

    template <int Pitch>
    __device__ static void put_all(Atom const& atom, typename Atom::Fragment const& sums, Four (*rows_of)[Pitch]) {
#pragma unroll unrolled_rounds
        for (int round = 0; round < Atom::rounds; ++round)
            atom.template put<rows_are_pixels>(round, sums, rows_of + round * Atom::rows(rows_are_pixels));
    }
    __device__ Four load(unsigned of_part, unsigned row, unsigned quad) const {
        if (in_cluster()) return load_of_block(&buffer.packets[row][quad], of_part);
        return load_fresh(&in_workspace[of_part * rows_of_tile + row][quad]);
    }
    /// Sums one pass's rows over all CTAs, with all loads in flight before the first addition.
    template <unsigned parts, int Pitch>
    __device__ void put_sums(int round, Four (*out)[Pitch]) const {
        constexpr unsigned own = static_cast<unsigned>(rows(rows_are_pixels)) * quads / threads;
        unsigned const first_row = static_cast<unsigned>(round * rows(rows_are_pixels));
        Four loaded[own][parts];
#pragma unroll
        for (unsigned i = 0; i < own; ++i)
#pragma unroll
            for (unsigned of_part = 0; of_part < parts; ++of_part)
                loaded[i][of_part] =
                    load(of_part, first_row + (thread + i * threads) / quads, (thread + i * threads) % quads);
#pragma unroll
        for (unsigned i = 0; i < own; ++i) {
            Four sum = loaded[i][0];
#pragma unroll
            for (unsigned of_part = 1; of_part < parts; ++of_part)
#pragma unroll
                for (unsigned j = 0; j < 4; ++j) sum.values[j] += loaded[i][of_part].values[j];
            out[(thread + i * threads) / quads][(thread + i * threads) % quads] = sum;
        }
    }
};

}  // namespace fusekit::hip
