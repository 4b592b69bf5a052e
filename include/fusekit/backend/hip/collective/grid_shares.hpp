// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/collective/grid_group.hpp"

namespace fusekit::hip {

/// Work that the blocks of a grid share, 65535 at most, where each share needs something of every block. The GPU need
/// not have room for all blocks at once. A block takes a share, and waits for the others, only if all have begun,
/// because they then end without it. The last block to decide takes what is left: all have begun by then.
class GridShares {
public:
    static constexpr std::size_t workspace_bytes = 2 * sizeof(GridGroup::State);

    /// Some of the shares; there may be none. A grid has as many shares as blocks.
    struct Range {
        unsigned begin, end;
    };

    /// The workspace has zeros; a launch leaves it so.
    __device__ GridShares(GroupWorkspace const& workspace, unsigned the_blocks)
        : begun(workspace.state(0)->arrived), decided(workspace.state(1)->arrived), blocks(the_blocks) {}

    /// Called by one thread of each block. Blocks that take a share can read what it wrote before; after a barrier,
    /// what its block wrote before.
    __device__ void begin() const { ptx::atom_add_acq_rel(&begun, 1); }

    /// Called by the same thread next. Gives the block's shares.
    __device__ Range take() const {
        bool all_begun = false;
#pragma unroll 1
        for (int i = 0; i < most_looks && !all_begun; ++i) all_begun = ptx::ld_acquire(&begun) == blocks;
        unsigned const before = ptx::atom_add_acq_rel(&decided, all_begun ? with_share + 1 : 1),
                       first = before / with_share;
        if (before % with_share == blocks - 1) {
            begun = decided = 0;
            return {first, blocks};
        }
        return {first, all_begun ? first + 1 : first};
    }

private:
    static constexpr unsigned with_share = 0x10000;
    static constexpr int most_looks = 64;  ///< some 50 microseconds
    unsigned& begun;
    unsigned& decided;  ///< how many blocks have decided, plus `with_share` times how many of them took a share
    unsigned blocks;
};

}  // namespace fusekit::hip
