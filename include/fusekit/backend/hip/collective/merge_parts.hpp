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
/// of all groups that have the same rows, the last to come here merges those, from workspace. All threads call this.
template <int threads, int Rows, int Columns>
__device__ RowRange merge_parts(SumTile<Rows, Columns>& tile, BlockParts const& parts, unsigned number, unsigned group,
                                unsigned rank, unsigned thread) {
    constexpr unsigned quads = SumTile<Rows, Columns>::quads;
    RowRange const own{Rows * rank / parts.cluster, Rows * (rank + 1) / parts.cluster};
    auto const each = [&](auto const& f) {  // as often in every lane, as barriers of clusters are for whole waves
        for (unsigned first = own.begin * quads; first < own.end * quads; first += threads)
            if (unsigned const i = first + thread; i < own.end * quads) f(i / quads, i % quads);
    };
    auto const sum_to = [](Packet<float, 4>& to, unsigned count, auto const& load) {
        Packet<float, 4> sum = load(0);
        for (unsigned i = 1; i < count; ++i) {
            Packet<float, 4> const next = load(i);
            for (int j = 0; j < 4; ++j) sum.values[j] += next.values[j];
        }
        to = sum;
    };
    __syncthreads();
    if (parts.cluster > 1) {
        cluster_barrier();
        each([&](unsigned row, unsigned quad) {
            Packet<float, 4>& to = tile.rows[row][quad];
            sum_to(to, parts.cluster, [&](unsigned of) { return load_of_block(&to, of); });
        });
        cluster_barrier();
    }
    if (parts.groups == 1) return own;
    auto* const sums = reinterpret_cast<Packet<float, 4>*>(parts.workspace.values()) +
                       std::size_t{number} * parts.groups * Rows * quads;
    each([&](unsigned row, unsigned quad) { sums[(group * Rows + row) * quads + quad] = tile.rows[row][quad]; });
    GridGroup::State* const state = parts.workspace.state(number * parts.cluster + rank);
    if (!is_last_block(&state->arrived, parts.groups, thread, tile.is_last)) return {0, 0};
    if (thread == 0) state->arrived = 0;
    each([&](unsigned row, unsigned quad) {
        sum_to(tile.rows[row][quad], parts.groups,
               [&](unsigned of) { return load_fresh(&sums[(of * Rows + row) * quads + quad]); });
    });
    __syncthreads();
    return own;
}

}  // namespace fusekit::hip
