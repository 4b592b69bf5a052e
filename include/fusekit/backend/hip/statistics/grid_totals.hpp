// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/pipeline/named_barrier.hpp"
#include "fusekit/backend/hip/pipeline/register_budget.hpp"
#include "fusekit/backend/hip/statistics/channel_totals_view.hpp"
#include "fusekit/backend/hip/statistics/grid_shares.hpp"
#include "fusekit/backend/hip/statistics/total_merger.hpp"

namespace fusekit::hip {

/// Channel statistics over all tiles of a persistent kernel's grid. MMA warpgroups write a Total of each channel
/// (count, mean and squared deviations, or those of another statistics operator) for one or several tiles to global
/// memory (ChannelTotalsView). Three otherwise idle warps of each CTA wait for the Totals of all CTAs and merge those
/// of the channels that GridShares assigns to the CTA, in an order that is the same in every run. This primary
/// template, for plans without statistics, has no members to call.
template <class Plan>
struct GridTotals {
    struct Shared {};
    /// Registers per thread of one producer warpgroup and `consumers` consumer warpgroups.
    template <int consumers>
    using Registers = std::conditional_t<consumers == 3, RegisterBudget<32, 160, 1, 3>, RegisterBudget<40, 232>>;
};

template <class Plan>
    requires(Plan::totals_tiles)
class GridTotals<Plan> {
    using Collector = detail::Collector<typename Plan::Epilogue>;
    using Op = typename Collector::Op;
    static constexpr unsigned warps = 3, barrier_number = 15;
    static constexpr unsigned max_channels = 32;  ///< maximum number of channels whose statistics a CTA merges at once

public:
    using Total = typename Op::template Total<float>;
    using View = ChannelTotalsView<Total>;
    using Merger = MergerOf<Total>;
    static constexpr unsigned threads = 32 * warps;
    template <int consumers>
    using Registers = std::conditional_t<consumers == 3, RegisterBudget<56, 152, 1, 3>, RegisterBudget<56, 224>>;

    struct Shared {
        std::uint64_t cleared, put;
        GridShares::Range shares;
        Uninitialized<Merger> parts[warps][max_channels];
    };

    /// Initializes the mbarriers in `shared`. One thread calls it before the CTA's other threads use them.
    /// `warpgroups`: number of the CTA's MMA warpgroups.
    __device__ static void init(Shared& shared, unsigned warpgroups) {
        ptx::mbarrier_init(ptx::shared_address(&shared.cleared), 1);
        ptx::mbarrier_init(ptx::shared_address(&shared.put), warpgroups);
    }

    template <class Params>
    __device__ static View view(Params const& params) {
        return {reinterpret_cast<unsigned*>(Collector::args(params.bound.epilogue).scratch.data),
                static_cast<unsigned>(params.y.layout.shape[1])};
    }

    /// before_put() waits until merge_shares() has cleared the ChannelTotalsView entries that this CTA writes; MMA
    /// threads call it before their first put(). after_put() reports that a warpgroup has written its entries; one
    /// thread of each MMA warpgroup calls it after the last put().
    __device__ static void before_put(Shared const& shared) {
        ptx::mbarrier_wait(ptx::shared_address(&shared.cleared), 0);
    }
    __device__ static void after_put(Shared& shared) { ptx::mbarrier_arrive(ptx::shared_address(&shared.put)); }

    /// Clears the ChannelTotalsView entries that this CTA writes, then merges the statistics of all tiles for the
    /// channels that GridShares assigns to this CTA. The CTA's three merging warps call it, after the previous kernel
    /// has ended, with `thread` from 0 to 95. The grid's CTAs write entries of tiles 0 to `tiles` - 1.
    /// `for_each_own(clear)` calls clear(tile, first, count) for each range of entries that this CTA writes: `count`
    /// channels from channel `first` on, of tile `tile`.
    template <class Params, class ForEachOwn>
    __device__ static void merge_shares(Params const& params, Shared& shared, unsigned tiles, unsigned thread,
                                        ForEachOwn const& for_each_own) {
        NamedBarrier<barrier_number, threads> const barrier;
        View const totals = view(params);
        for_each_own([&](unsigned tile, unsigned first, unsigned count) {
            for (unsigned k = first + thread; k < first + count && k < totals.channels; k += threads)
                totals.clear(tile, k);
        });
        barrier();
        if (thread == 0) {
            ptx::mbarrier_arrive(ptx::shared_address(&shared.cleared));
            GridShares const all(params.tile_groups.workspace, gridDim.x);
            all.begin();
            shared.shares = all.take();
        }
        barrier();
        unsigned share_channels = 1;
        while (share_channels < max_channels && share_channels * gridDim.x < totals.channels) share_channels *= 2;
        unsigned const shares = (totals.channels + share_channels - 1) / share_channels;
        bool warm_icache = true;  // merges one range of channels once in advance, to warm the instruction cache
#pragma unroll 1
        for (unsigned begin = 0; begin < shares; begin += gridDim.x)
#pragma unroll 1
            for (unsigned i = shared.shares.begin; i < shared.shares.end && begin + i < shares;) {
                merge_tiles(params, totals, shared, warm_icache ? 1 : tiles, (begin + i) * share_channels,
                            share_channels, thread, warm_icache, barrier);
                // wait until this CTA's MMA warpgroups have written their statistics; the other CTAs finish soon after
                if (warm_icache) ptx::mbarrier_wait(ptx::shared_address(&shared.put), 0);
                else ++i;
                warm_icache = false;
            }
    }

private:
    /// Merges the statistics of `share_channels` channels, from channel `first` on, over all tiles, and saves them.
    /// Consecutive threads load consecutive channels of one tile. With `warm_icache`, executes the same code without
    /// waiting for other CTAs and without saving.
    template <class Params, class Barrier>
    __device__ static void merge_tiles(Params const& params, View const& totals, Shared& shared, unsigned tiles,
                                       unsigned first, unsigned share_channels, unsigned thread, bool warm_icache,
                                       Barrier const& barrier) {
        constexpr unsigned at_once = 4;
        unsigned const n = thread % share_channels, k = first + n, part = thread / share_channels,
                       parts = threads / share_channels;
        bool const has_channel = k < totals.channels;
        unsigned const channel = has_channel ? k : first;
        // the last element is the statistics of tile 0, from which every Merger is constructed
        Total next[at_once + 1];
        Merger merger(Total{});
#pragma unroll 1
        for (unsigned tile = part;; tile += at_once * parts) {
            totals.get(next, channel, !warm_icache, [&](unsigned i) {
                unsigned const number = tile + i * parts;
                return i == at_once || number >= tiles ? 0 : number;
            });
            if (tile == part) merger = Merger(next[at_once]);
#pragma unroll
            for (unsigned i = 0; i < at_once; ++i)
                if (tile + i * parts < tiles) merger.add(next[i]);
            if (tile + at_once * parts >= tiles) break;
        }
#pragma unroll 1
        for (unsigned apart = share_channels; apart < 32; apart *= 2)
            merger = merge(merger, floats_of_lane_xor(merger, apart));
        if (thread % 32 < share_channels) shared.parts[thread / 32][n].value() = merger;
        barrier();
        if (thread < share_channels && has_channel && !warm_icache) {
#pragma unroll
            for (unsigned warp = 1; warp < warps; ++warp) merger = merge(merger, shared.parts[warp][n].value());
            Op::save(merger.total(), {0, std::int64_t{k}, 0, 0}, Collector::args(params.bound.epilogue));
        }
        barrier();
    }
};

}  // namespace fusekit::hip
