// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/collective/grid_group.hpp"

namespace fusekit::hip {

/// The CTAs that reduce one output tile with split-K: `groups` groups of `cluster` consecutive CTAs, each CTA over its
/// own range of GemmK. A group is a thread block cluster if `cluster` > 1.
struct SplitKGroups {
    /// one barrier counter per output tile and per rank of a CTA in its group, then the accumulators of each tile and
    /// group of CTAs; unused if groups == 1
    GroupWorkspace workspace;
    unsigned cluster = 1, groups = 1;
    /// true if each group adds its sums to those of the group before it, which needs the floats of one group per output
    /// tile; else the last group to arrive sums the floats of all groups
    bool in_sequence = false;
    /// number of output tiles whose sums the workspace holds at once, with in_sequence: tiles `slots` apart have the
    /// same floats, one after the other; 0: all tiles have their own
    unsigned held_tiles = 0;

    FUSEKIT_HD unsigned count() const { return cluster * groups; }
    /// Number of tile sums that the workspace holds for `tiles` output tiles.
    FUSEKIT_HD std::int64_t stored_tiles(std::int64_t tiles) const {
        return groups == 1 ? 0 : !in_sequence ? tiles * groups : held_tiles > 0 ? held_tiles : tiles;
    }
};

/// SMEM layout of the accumulators that a CTA has computed for an output tile: Rows x Columns floats, with `gap` x 16
/// bytes of padding per row, so that the rows that a warp writes at once are in different banks. may_sequence: true if
/// the kernel has code for SplitKGroups::in_sequence. at_once: rows whose loads a thread has in flight; a tile with
/// fewer rows than threads / row_packets loads more CTAs' values at once instead.
template <int Rows, int Columns, int gap = 1, bool may_sequence = false, int at_once = 4>
struct AccumulatorTile {
    static constexpr unsigned height = Rows, row_packets = Columns / 4, rows_at_once = at_once;
    static constexpr bool sequences = may_sequence;
    /// number of floats that each group of CTAs stores to the workspace per output tile
    static constexpr int floats = Rows * Columns;

    Packet<float, 4> rows[Rows][row_packets + gap];
    bool is_last;
};

/// Range [begin, end) of rows of the output tile whose sums over all split-K CTAs this CTA has computed; may be empty.
struct RowRange {
    unsigned begin, end;
};

/// Sums the AccumulatorTiles of all CTAs of output tile `number`, in an order that only depends on the row, so that
/// results are bitwise identical in every run. Calls put(row, sums) with the sums of four columns, from column 4 *
/// (`thread` % Tile::row_packets) on. The CTAs of a group (SplitKGroups) divide the rows and read each other's SMEM; no
/// CTA may modify its tile or exit before finish_split_k(). With several groups, each CTA writes its rows' sums to the
/// workspace; the last to arrive of the CTAs with the same `rank` in their groups sums the groups' values. If
/// split_k.in_sequence, a CTA instead waits for the CTA of its rank in the group before, which the GPU starts earlier,
/// and adds to its sums; `tiles` is the number of output tiles. All threads of `barrier` call this function while the
/// CTA's other threads call attend_merge(); the first `threads` callers add, with several loads in flight. Returns the
/// rows for which this CTA called put().
template <int threads, class Tile, class Barrier, class Put>
__device__ __forceinline__ RowRange reduce_split_k_to(Tile& tile, SplitKGroups const& split_k, unsigned number,
                                                      unsigned group, unsigned rank, unsigned thread,
                                                      Barrier const& barrier, Put const& put, unsigned tiles = 0) {
    constexpr unsigned row_packets = Tile::row_packets, height = Tile::height, rows_apart = threads / row_packets,
                       rows_at_once = Tile::rows_at_once, splits_at_once = 16 / rows_at_once;
    unsigned const packet = thread % row_packets;
    RowRange const own{height * rank / split_k.cluster, height * (rank + 1) / split_k.cluster};
    /// For each row that this CTA sums: adds the thread's four columns over `count` CTAs or groups, loaded by load(row,
    /// i), and calls take(row, sums).
    auto const sum_up = [&](unsigned count, auto const& load, auto const& take) {
        if (thread >= rows_apart * row_packets) return;
#pragma unroll 1
        for (unsigned first = own.begin + thread / row_packets; first < own.end; first += rows_at_once * rows_apart) {
            Packet<float, 4> sums[rows_at_once] = {};
#pragma unroll 1
            for (unsigned begin = 0; begin < count; begin += splits_at_once) {
                Packet<float, 4> next[rows_at_once][splits_at_once] = {};
#pragma unroll
                for (unsigned i = 0; i < rows_at_once; ++i)
#pragma unroll
                    for (unsigned of = 0; of < splits_at_once; ++of)
                        if (unsigned const row = first + i * rows_apart; row < own.end && begin + of < count)
                            next[i][of] = load(row, begin + of);
#pragma unroll
                for (unsigned i = 0; i < rows_at_once; ++i)
#pragma unroll
                    for (unsigned of = 0; of < splits_at_once; ++of)
#pragma unroll
                        for (int j = 0; j < 4; ++j) sums[i].values[j] += next[i][of].values[j];
            }
#pragma unroll
            for (unsigned i = 0; i < rows_at_once; ++i)
                if (unsigned const row = first + i * rows_apart; row < own.end) take(row, sums[i]);
        }
    };
    /// Each CTA begins with its own values, so that the CTAs do not read the same one's SMEM at once.
    auto const of_cluster = [&](unsigned row, unsigned of) {
        unsigned const next = rank + of;
        return load_of_block(&tile.rows[row][packet], next < split_k.cluster ? next : next - split_k.cluster);
    };
    unsigned slot = number;
    if constexpr (Tile::sequences)
        if (split_k.held_tiles > 0) slot = number % split_k.held_tiles;
    unsigned const first_sum = Tile::sequences && split_k.in_sequence ? slot : slot * split_k.groups;
    auto* const of_groups = split_k.groups == 1 ? nullptr  // null: no workspace
                                                : reinterpret_cast<Packet<float, 4>*>(split_k.workspace.values()) +
                                                      std::size_t{first_sum} * height * row_packets + packet;
    if (split_k.cluster > 1) cluster_barrier();
    if constexpr (Tile::sequences) {
        if (split_k.groups > 1 && split_k.in_sequence) {
            // Only this CTA reads its own rows of its tile, so that the cluster's sums can overwrite them.
            sum_up(split_k.cluster, of_cluster,
                   [&](unsigned row, Packet<float, 4> const& sums) { tile.rows[row][packet] = sums; });
            if (split_k.cluster > 1) cluster_arrive();
            bool const last = group + 1 == split_k.groups;
            GroupTurn const turn(split_k.workspace.state(slot * split_k.cluster + rank), thread);
            unsigned const before = split_k.held_tiles > 0 ? number / split_k.held_tiles * split_k.groups : 0;
            turn.wait(before + group, barrier);
            sum_up(
                group > 0 ? 2 : 1,
                [&](unsigned row, unsigned of) {
                    return group > 0 && of == 0 ? load_fresh(&of_groups[row * row_packets]) : tile.rows[row][packet];
                },
                [&](unsigned row, Packet<float, 4> const& sums) {
                    if (last) put(row, sums);
                    else of_groups[row * row_packets] = sums;
                });
            bool const is_last_of_slot = split_k.held_tiles == 0 || number + split_k.held_tiles >= tiles;
            turn.pass(last && is_last_of_slot ? 0 : before + group + 1, barrier);
            return last ? own : RowRange{0, 0};
        }
    }
    sum_up(split_k.cluster, of_cluster, [&](unsigned row, Packet<float, 4> const& sums) {
        if (split_k.groups == 1) put(row, sums);
        else of_groups[(group * height + row) * row_packets] = sums;
    });
    if (split_k.cluster > 1) cluster_arrive();
    if (split_k.groups > 1) {
        GridGroup::State* const state = split_k.workspace.state(number * split_k.cluster + rank);
        if (!is_last_block(&state->arrived, split_k.groups, thread, tile.is_last, barrier)) return {0, 0};
        if (thread == 0) state->arrived = 0;
        sum_up(
            split_k.groups,
            [&](unsigned row, unsigned of) { return load_fresh(&of_groups[(of * height + row) * row_packets]); }, put);
    }
    return own;
}

/// Like reduce_split_k_to(), but stores the sums to `tile`, over the CTA's accumulators, which the threads of `barrier`
/// have written.
template <int threads, class Tile, class Barrier = BlockBarrier>
__device__ __forceinline__ RowRange reduce_split_k(Tile& tile, SplitKGroups const& split_k, unsigned number,
                                                   unsigned group, unsigned rank, unsigned thread,
                                                   Barrier const& barrier = {}, unsigned tiles = 0) {
    barrier();
    if (split_k.count() == 1) return {0, Tile::height};
    RowRange const own = reduce_split_k_to<threads>(
        tile, split_k, number, group, rank, thread, barrier,
        [&](unsigned row, auto const& sums) { tile.rows[row][thread % Tile::row_packets] = sums; }, tiles);
    barrier();
    return own;
}

/// Waits until all CTAs of the cluster have read this CTA's SMEM. All threads that called reduce_split_k() or
/// reduce_split_k_to() call it once after each such call.
__device__ inline void finish_split_k(SplitKGroups const& split_k) {
    if (split_k.cluster > 1) cluster_wait();
}

/// Joins the cluster barriers of reduce_split_k_to() and finish_split_k(), which count all threads of the CTA. The
/// threads that call neither function call attend_merge().
__device__ inline void attend_merge() {
    cluster_barrier();
    cluster_arrive();
    cluster_wait();
}

/// Calls store(sum, row, at) for the tile's rows `own`, which this CTA has summed, and columns 0 to `columns` - 1,
/// where at = coord_of(column) is evaluated once per column. Consecutive lanes have consecutive columns; the `threads`
/// / 32 warps divide the rows.
template <int threads, class Tile, class CoordOf, class Store>
__device__ void store_sums(Tile const& tile, RowRange const& own, int columns, unsigned thread, CoordOf const& coord_of,
                           Store const& store) {
    if (thread >= threads) return;
    for (int column = static_cast<int>(thread % 32); column < columns; column += 32) {
        auto const at = coord_of(column);
        for (unsigned row = own.begin + thread / 32; row < own.end; row += threads / 32)
            store(tile.rows[row][column / 4].values[column % 4], static_cast<int>(row), at);
    }
}

}  // namespace fusekit::hip
