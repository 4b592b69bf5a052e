// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/collective/accumulator_exchange.hpp"
#include "fusekit/backend/hip/mainloop/warp_specialized.hpp"

namespace fusekit::hip {

/// WarpSpecializedGemm with split-K over the CTAs of a cluster, for GEMMs with few output tiles. The cluster's first
/// CTA adds the accumulators of the others through DSMEM in rank order, so that results are bitwise identical in every
/// run, and runs the epilogue. It uses only the preamble and the k-loop of WarpSpecializedGemm: a CTA reduces some
/// k-tiles of one output tile, and all its warps then synchronize at cluster barriers.
template <class Plan, class Schedule, Element T, detail::OutputElement U>
class SplitWarpSpecializedGemm : WarpSpecializedGemm<Plan, typename Schedule::Whole, T, U> {
    using Whole = WarpSpecializedGemm<Plan, typename Schedule::Whole, T, U>;
    using typename Whole::Atom, typename Whole::Stage, typename Whole::State, typename Whole::Accumulators,
        typename Whole::Tiles, typename Whole::Writer;
    static_assert(Schedule::consumers == 1 && Schedule::products == 1 && !Plan::totals_tiles);
    /// Accumulators of a CTA, which CTA 0 of the cluster reads; reuses the memory of the stages.
    using Exchange = AccumulatorExchange<Atom, 1>;

public:
    using typename Whole::Architecture, typename Whole::DynamicShared, typename Whole::Params;
    using Whole::threads, Whole::blocks, Whole::waits_for_previous_kernel, Whole::reads_argument_in_place;

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        unsigned const warp = ptx::warp_uniform(thread / 32), count = params.split_k.count, rank = block % count;
        TileStart const start = Tiles(conv)[block / count];
        unsigned const steps = bulk_steps<Stage>(conv);
        StepRange const own{steps * rank / count, steps * (rank + 1) / count};
        static_assert(sizeof(Exchange) <= sizeof(shared.stages));
        auto& exchange = reinterpret_cast<Exchange&>(shared.stages);
        Whole::begin(params, shared, thread);
        bool const multiplies = warp < 4, merges = multiplies && rank == 0;
        State state;
        Accumulators acc;
        Writer writer(shared.writers[0], thread, Whole::epilogue_barrier);
        if (!multiplies) {
            if constexpr (Whole::copies) {
                if (params.maps.copied_bytes > 0) {
                    typename Whole::Copies producer(shared.copies, conv, params.maps.copied_bytes, warp - 4,
                                                    thread % 32);
                    producer.load_tile(conv, shared.stages, shared.pipeline, start, own, true);
                }
            }
            if (params.maps.copied_bytes == 0 && warp == 4 && ptx::elect_sync())
                load_tile_in_bulk(params, conv, shared.stages, shared.pipeline, state, start, own);
            ptx::bar_warp_sync();  // a cluster barrier needs converged warps
        } else {
            auto const begin_read = [&] {
                if (merges) writer.begin_read(params, start);
            };
            if (merges) writer.prepare(params, conv, start);
            if (own.begin < own.end) {
                Whole::multiply(shared, acc, state, own.end - own.begin,
                                mma::ChannelBlocks<Atom>(conv.group_c(), own.begin), thread, 0, begin_read, [] {});
            } else {
                mma::clear(acc);
                begin_read();
            }
            if (!merges) exchange.put(0, thread, acc[0]);
        }
        start_next_kernel();
        cluster_barrier();
        if (merges) exchange.add_others(rank, count, 0, thread, acc[0]);
        cluster_arrive();  // CTA 0 has read the other CTAs' accumulators
        if (merges) {
            writer.store(params, conv, start, acc);
            if (thread == 0) ptx::bulk_wait_group_read();
        }
        cluster_wait();
    }
};

}  // namespace fusekit::hip
