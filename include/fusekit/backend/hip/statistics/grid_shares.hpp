// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/collective/grid_group.hpp"

namespace fusekit::hip {

/// Distributes work items over the CTAs of a grid of at most 65535 CTAs. There is one item per CTA, and each item needs
/// results of every CTA. The CTAs need not be co-resident: a CTA that calls take() before all CTAs have started skips
/// its item and never waits; all skipped items are assigned to the last CTA that calls take(), when all CTAs have
/// started.
class GridShares {
public:
    static constexpr std::size_t workspace_bytes = 2 * sizeof(GridGroup::State);

    /// Range [begin, end) of the indices of work items that one CTA processes; may be empty.
    struct Range {
        unsigned begin, end;
    };

    /// Reads its two counters from `workspace`, in global memory, for a grid of `the_blocks` CTAs. Precondition: the
    /// workspace is zero. The last CTA to call take() zeroes it again.
    __device__ GridShares(GroupWorkspace const& workspace, unsigned the_blocks)
        : begun(workspace.state(0)->arrived), decided(workspace.state(1)->arrived), blocks(the_blocks) {}

    /// Counts this CTA as started. One thread of each CTA calls it when the CTA starts. A CTA to which take() later
    /// assigns an item may read what this thread stored before begin() and, if the CTA synchronized before begin(),
    /// what the CTA's other threads stored.
    __device__ void begin() const { ptx::atom_add_acq_rel(&begun, 1); }

    /// Returns the range of work items that this CTA must process. The thread that called begin() calls it once, after
    /// begin().
    __device__ Range take() const {
        bool all_begun = false;
#pragma unroll 1
        for (int i = 0; i < max_polls && !all_begun; ++i) all_begun = ptx::ld_acquire(&begun) == blocks;
        unsigned const old_count = ptx::atom_add_acq_rel(&decided, all_begun ? with_share + 1 : 1),
                       first = old_count / with_share;
        if (old_count % with_share == blocks - 1) {
            begun = decided = 0;
            return {first, blocks};
        }
        return {first, all_begun ? first + 1 : first};
    }

private:
    static constexpr unsigned with_share = 0x10000;
    /// Maximum number of polls of `begun`, about 50 microseconds, after which a CTA skips its work item.
    static constexpr int max_polls = 64;
    unsigned& begun;
    /// number of CTAs that called take(), plus `with_share` times the number of them that got a work item
    unsigned& decided;
    unsigned blocks;
};

}  // namespace fusekit::hip
