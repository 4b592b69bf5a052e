// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/statistics/grid_shares.hpp"

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"

using namespace test;
using fk::hip::GridShares;

namespace {

/// Each CTA writes its number and 1. For each share a CTA waits for all numbers, sums them, and adds the sum to the
/// share's.
struct SumInShares : BlockOf<32> {
    using Architecture = fk::hip::arch::Sm90a;
    struct Params {
        fk::hip::GroupWorkspace workspace;
        unsigned *numbers, *sums;
        unsigned count;
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned block) {
        if (thread != 0) return;
        GridShares const grid(params.workspace, params.count);
        grid.begin();
        auto const shares = grid.take();
        fk::hip::ptx::st_relaxed(&params.numbers[block], block + 1);
        for (unsigned share = shares.begin; share < shares.end; ++share) {
            unsigned sum = 0;
            for (unsigned i = 0; i < params.count; ++i) {
                unsigned number = 0;
                while (number == 0) number = fk::hip::ptx::ld_relaxed(&params.numbers[i]);
                sum += number;
            }
            atomicAdd(&params.sums[share], sum);
        }
    }
};

}  // namespace

// Includes grids with more CTAs than are co-resident: late CTAs take the shares that early ones left.
TEST_CASE("HIP: GridShares assigns each share once and resets the workspace") {
    fk::hip::Device device = sm90a_device();
    Array<unsigned> const workspace(device, 2 * sizeof(fk::hip::GridGroup::State) / sizeof(unsigned), 0);
    CHECK(GridShares::workspace_bytes == workspace.values().size() * sizeof(unsigned));
    for (unsigned const count : {1u, 2u, 37u, 40 * static_cast<unsigned>(device.processors())}) {
        CAPTURE(count);
        Array<unsigned> const sums(device, count, 0);
        unsigned const sum = count * (count + 1) / 2;
        for (unsigned launch = 1; launch <= 2; ++launch) {
            Array<unsigned> const numbers(device, count, 0);
            run_blocks<SumInShares>(device, {{workspace.data()}, numbers.data(), sums.data(), count}, count);
            CHECK(sums.values() == std::vector<unsigned>(count, launch * sum));
            CHECK(workspace.values() == std::vector<unsigned>(workspace.values().size(), 0));
        }
    }
}
