// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/collective/grid_group.hpp"

namespace fusekit::hip {

/// Work that the blocks of a grid share, where each share needs something of every block. The GPU need not have room
/// for all of them at once. A block takes a share, and waits for others, only if all have begun, since they end without
/// it then. The last block to decide comes when all have begun, and takes what is left.
class GridShares {
public:
    static constexpr std::size_t workspace_bytes = 2 * sizeof(GridGroup::State);
    static constexpr unsigned most_blocks = 0xffff;

    /// Some of as many shares as there are blocks; there may be none.
    struct Range {
        unsigned begin, end;
    };

    __device__ GridShares(GroupWorkspace const& workspace, unsigned the_blocks)
        : begun(workspace.state(0)->arrived), decided(workspace.state(1)->arrived), blocks(the_blocks) {}

    /// Called by one thread of each block. Those that take a share can then read what it wrote, and, with a barrier
    /// before this, what its block wrote.
    __device__ void begin() const { ptx::add(&begun, 1); }

    /// Called by the same thread next; gives the block's shares. A launch leaves the workspace as it found it.
    __device__ Range take() const {
        bool all_begun = false;
#pragma unroll 1
        for (int i = 0; i < most_looks && !all_begun; ++i) all_begun = ptx::load_acquired(&begun) == blocks;
        unsigned const before = ptx::add(&decided, all_begun ? with_share + 1 : 1), first = before / with_share;
        if (before % with_share == blocks - 1) {
            begun = decided = 0;
            return {first, blocks};
        }
        return {first, all_begun ? first + 1 : first};
    }

private:
    static constexpr unsigned with_share = most_blocks + 1;
    static constexpr int most_looks = 64;  ///< some 50 microseconds
    unsigned& begun;
    unsigned& decided;  ///< blocks, and, times `with_share`, those with a share
    unsigned blocks;
};

}  // namespace fusekit::hip
