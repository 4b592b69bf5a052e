// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/collective/grid_group.hpp"

namespace fusekit::hip {

/// How many blocks share a tile: `groups` of them, each of `cluster` neighbours of the grid, which are a cluster where
/// they are more than one.
struct BlockParts {
    GroupWorkspace workspace;  ///< a state for each tile and block of a cluster, and sums of each group
    unsigned cluster = 1, groups = 1;

    FUSEKIT_HD unsigned count() const { return cluster * groups; }
};

/// A tile's sums in shared memory, of Rows rows of Columns.
template <int Rows, int Columns>
struct SumTile {
    static constexpr unsigned quads = Columns / 4;
    static constexpr int floats = Rows * Columns;  ///< that a group has in workspace

    Packet<float, 4> rows[Rows][quads + 1];  // one more, so that rows begin in different banks
    bool is_last;
};

/// The rows of a tile whose whole sums a block has. There may be none.
struct RowRange {
    unsigned begin, end;
};

/// Merges what the blocks of a tile have put into their SumTiles, always in the order of the blocks, so that every run
/// gives the same bits. The blocks of a cluster share the rows out, and read each other's shared memory. Of the blocks
/// of all groups that have the same rows, the last to come here merges those, from workspace. All threads call this;
/// the first `threads` of them merge. A thread has several loads under way.
template <int threads, int Rows, int Columns>
__device__ __forceinline__ RowRange merge_parts(SumTile<Rows, Columns>& tile, BlockParts const& parts, unsigned number,
                                                unsigned group, unsigned rank, unsigned thread) {
    constexpr unsigned quads = SumTile<Rows, Columns>::quads, at_once = 8;
    RowRange const own{Rows * rank / parts.cluster, Rows * (rank + 1) / parts.cluster};
    /// Calls f(i, row, quad) for those of a thread, from a quad on.
    auto const each_from = [&](unsigned first, auto const& f) {
#pragma unroll
        for (unsigned i = 0; i < at_once; ++i)
            if (unsigned const at = first + i * threads + thread; thread < threads && at < own.end * quads)
                f(i, at / quads, at % quads);
    };
    auto const sum_up = [&](unsigned count, auto const& load) {
        for (unsigned first = own.begin * quads; first < own.end * quads; first += at_once * threads) {
            Packet<float, 4> sums[at_once];
            each_from(first, [&](unsigned i, unsigned row, unsigned quad) { sums[i] = load(row, quad, 0u); });
            for (unsigned of = 1; of < count; ++of) {
                Packet<float, 4> next[at_once];
                each_from(first, [&](unsigned i, unsigned row, unsigned quad) { next[i] = load(row, quad, of); });
                for (unsigned i = 0; i < at_once; ++i)
                    for (int j = 0; j < 4; ++j) sums[i].values[j] += next[i].values[j];
            }
            each_from(first, [&](unsigned i, unsigned row, unsigned quad) { tile.rows[row][quad] = sums[i]; });
        }
    };
    __syncthreads();
    if (parts.cluster > 1) {
        cluster_barrier();
        sum_up(parts.cluster,
               [&](unsigned row, unsigned quad, unsigned of) { return load_of_block(&tile.rows[row][quad], of); });
        cluster_barrier();
    }
    if (parts.groups == 1) return own;
    auto* const sums = reinterpret_cast<Packet<float, 4>*>(parts.workspace.values()) +
                       std::size_t{number} * parts.groups * Rows * quads;
    for (unsigned first = own.begin * quads; first < own.end * quads; first += at_once * threads)
        each_from(first, [&](unsigned, unsigned row, unsigned quad) {
            sums[(group * Rows + row) * quads + quad] = tile.rows[row][quad];
        });
    GridGroup::State* const state = parts.workspace.state(number * parts.cluster + rank);
    if (!is_last_block(&state->arrived, parts.groups, thread, tile.is_last)) return {0, 0};
    if (thread == 0) state->arrived = 0;
    sum_up(parts.groups, [&](unsigned row, unsigned quad, unsigned of) {
        return load_fresh(&sums[(of * Rows + row) * quads + quad]);
    });
    __syncthreads();
    return own;
}

/// Calls store(sum, row, place) for the columns and rows of a tile that a block has whole; place(column) is worked out
/// once a column. A lane has columns that are 32 apart, a wave of `threads` / 32 some of the rows.
template <int threads, int Rows, int Columns, class Place, class Store>
__device__ void store_sums(SumTile<Rows, Columns> const& tile, RowRange const& own, int columns, unsigned thread,
                           Place const& place, Store const& store) {
    if (thread >= threads) return;
    for (int column = static_cast<int>(thread % 32); column < columns; column += 32) {
        auto const at = place(column);
        for (unsigned row = own.begin + thread / 32; row < own.end; row += threads / 32)
            store(tile.rows[row][column / 4].values[column % 4], static_cast<int>(row), at);
    }
}

}  // namespace fusekit::hip
