// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/collective/grid_group.hpp"

namespace fusekit::hip {

/// Distributes work over a grid's CTAs, at most 65535, where each share depends on every CTA. The CTAs need not be
/// co-resident. A CTA takes a share, and waits for the others, only after all have begun, because those then end
/// without it. The last CTA to decide takes the remaining shares: all have begun by then.
class GridShares {
public:
    static constexpr std::size_t workspace_bytes = 2 * sizeof(GridGroup::State);

    /// Range of shares; may be empty. A grid has as many shares as CTAs.
    struct Range {
        unsigned begin, end;
    };

    /// The workspace is zero; a launch leaves it zero.
    __device__ GridShares(GroupWorkspace const& workspace, unsigned the_blocks)
        : begun(workspace.state(0)->arrived), decided(workspace.state(1)->arrived), blocks(the_blocks) {}

    /// Called by one thread of each CTA. CTAs that take a share can read what this thread wrote before, and after a
    /// barrier what its CTA wrote before.
    __device__ void begin() const { ptx::atom_add_acq_rel(&begun, 1); }

    /// Returns the CTA's shares. Called by the same thread after begin().
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
    static constexpr int most_looks = 64;  ///< about 50 microseconds
    unsigned& begun;
    unsigned& decided;  ///< number of CTAs that decided, plus `with_share` times the number that took a share
    unsigned blocks;
};

}  // namespace fusekit::hip
