// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/collective/accumulator_exchange.hpp"
#include "fusekit/backend/hip/mainloop/warp_specialized.hpp"

namespace fusekit::hip {

namespace detail {

/// Schedule with at most 11 stages, which leave SMEM for the accumulators of a tile of 64 x 64.
template <class Schedule>
using WithExchange =
    WarpSpecialized<Schedule::tile_m, Schedule::tile_n, (Schedule::stages < 11 ? Schedule::stages : 11),
                    Schedule::roles, Schedule::blocks>;

}  // namespace detail

/// WarpSpecializedGemm with split-K over the CTAs of a cluster, for GEMMs with few output tiles. Each CTA reduces some
/// k-tiles, stores the accumulators of each range of pixels to the CTA of the cluster that owns the range, through
/// DSMEM, and then adds those of its own range in rank order, so that results are bitwise identical in every run, and
/// runs the epilogue. It uses only the preamble and the k-loop of WarpSpecializedGemm.
template <class Plan, class Schedule, Element T, detail::OutputElement U, bool plain = false>
class SplitWarpSpecializedGemm
    : WarpSpecializedGemm<Plan, detail::WithExchange<typename Schedule::Whole>, T, U, plain> {
    using Whole = WarpSpecializedGemm<Plan, detail::WithExchange<typename Schedule::Whole>, T, U, plain>;
    using typename Whole::Atom, typename Whole::Stage, typename Whole::State, typename Whole::Accumulators,
        typename Whole::Tiles, typename Whole::Writer;
    using Packet4 = Packet<float, 4>;
    /// 8-pixel blocks of a tile: a thread has 4 accumulators of each, a packet
    static constexpr int tile_blocks = Atom::n / 8;
    static_assert(Schedule::consumers == 1 && Schedule::products == 1 && !Plan::totals_tiles && tile_blocks == 8);

public:
    using typename Whole::Architecture, typename Whole::Params;
    using Whole::threads, Whole::blocks, Whole::waits_for_previous_kernel, Whole::reads_argument_in_place;

    struct alignas(1024) DynamicShared : Whole::DynamicShared {
        /// accumulators of the CTA's range of pixels, from each CTA of the cluster: (RANK, BLOCK, THREAD)
        Packet4 exchange[tile_blocks][Atom::threads];
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        unsigned const warp = ptx::warp_uniform(thread / 32), count = params.split_k.count, rank = block % count;
        TileStart const start = Tiles(conv)[block / count];
        unsigned const steps = bulk_steps<Stage>(conv);
        StepRange const own{steps * rank / count, steps * (rank + 1) / count};
        Whole::begin(params, shared, thread, Whole::loaders);
        cluster_arrive();
        State state;
        if (warp >= 4) {
            if constexpr (Whole::copies) {
                if (params.maps.copied_bytes > 0) {
                    typename Whole::Copies producer(shared.copies, conv, params.maps.copied_bytes, warp - 4,
                                                    thread % 32);
                    producer.load_tile(conv, shared.stages, shared.pipeline, start, own, true);
                }
            }
            unsigned const loader = warp - 4;
            bool const copied = Whole::copies && params.maps.copied_bytes > 0;
            if (!copied && loader < Whole::loaders && ptx::elect_sync())
                load_tile_in_bulk<plain>(params, conv, shared.stages, shared.pipeline, state,
                                         Whole::operands_of(loader), start, own);
            ptx::bar_warp_sync();  // a cluster barrier needs converged warps
            cluster_wait();
            start_next_kernel();
            return cluster_barrier();
        }
        auto const of_rank = static_cast<int>(tile_blocks / count);
        BlockRange const range{static_cast<int>(rank) * of_rank, of_rank};
        Accumulators acc;
        Writer writer(shared.writers[0], thread, Whole::epilogue_barrier);
        writer.prepare(params, conv, start);
        auto const begin_read = [&] { writer.begin_read(params, start); };
        if (own.begin < own.end) {
            Whole::multiply(shared, shared.pipeline, acc, state, own.end - own.begin,
                            mma::ChannelBlocks<Atom>(conv.group_c(), own.begin), thread, 0, begin_read, [] {});
        } else {
            mma::clear(acc);
            begin_read();
        }
        cluster_wait();  // all CTAs of the cluster have started
        start_next_kernel();
#pragma unroll
        for (int i = 0; i < tile_blocks; ++i) {
            int const owner = i / of_rank;
            store_to_block(&shared.exchange[range.first + i - owner * of_rank][thread], static_cast<unsigned>(owner),
                           {acc[0][4 * i], acc[0][4 * i + 1], acc[0][4 * i + 2], acc[0][4 * i + 3]});
        }
        cluster_barrier();
#pragma unroll
        for (int i = 0; i < tile_blocks; ++i)
            if (range.has(i)) add_all(acc[0] + 4 * i, shared.exchange[i - range.first] + thread, count);
        writer.store(params, conv, start, acc, range);
        if (thread == 0) ptx::bulk_wait_group_read();
    }

private:
    /// Sets 4 accumulators to the sum of those of all CTAs, in rank order, which are the rows of `from`.
    __device__ static void add_all(float* acc, Packet4 const* from, unsigned count) {
        Packet4 sum = *from;
        auto const rows = static_cast<int>(tile_blocks / count);
#pragma unroll 1
        for (unsigned rank = 1; rank < count; ++rank) {
            from += rows * Atom::threads;
            Packet4 const next = *from;
#pragma unroll
            for (int j = 0; j < 4; ++j) sum.values[j] += next.values[j];
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[j] = sum.values[j];
    }
};

}  // namespace fusekit::hip
