// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/collective/grid_group.hpp"

namespace fusekit::hip {

/// Distributes work over the CTAs of a grid, at most 65535. The work is divided into shares, one per CTA; each share
/// needs results of every CTA. The CTAs need not be co-resident: a CTA processes a share, and so waits for all others,
/// only after all CTAs have begun, because CTAs that have begun finish without waiting. The last CTA to call take()
/// gets all remaining shares; all CTAs have begun by then.
class GridShares {
public:
    static constexpr std::size_t workspace_bytes = 2 * sizeof(GridGroup::State);

    /// Indices of the shares of one CTA: [begin, end), which may be empty.
    struct Range {
        unsigned begin, end;
    };

    /// Precondition: the workspace is zero. A launch leaves it zero.
    __device__ GridShares(GroupWorkspace const& workspace, unsigned the_blocks)
        : begun(workspace.state(0)->arrived), decided(workspace.state(1)->arrived), blocks(the_blocks) {}

    /// Called by one thread of each CTA when the CTA starts. A CTA that then gets a share may read what this thread
    /// wrote before and, if the CTA synchronized before, what its other threads wrote.
    __device__ void begin() const { ptx::atom_add_acq_rel(&begun, 1); }

    /// Returns the shares that this CTA must process. Called once, by the same thread, after begin().
    __device__ Range take() const {
        bool all_begun = false;
#pragma unroll 1
        for (int i = 0; i < max_looks && !all_begun; ++i) all_begun = ptx::ld_acquire(&begun) == blocks;
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
    /// polls of `begun` before a CTA leaves its share to another, about 50 microseconds
    static constexpr int max_looks = 64;
    unsigned& begun;
    unsigned& decided;  ///< number of CTAs that called take(), plus `with_share` times the number that got a share
    unsigned blocks;
};

}  // namespace fusekit::hip
