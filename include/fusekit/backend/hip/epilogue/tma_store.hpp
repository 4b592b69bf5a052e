// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/collective/tile_order.hpp"
#include "fusekit/backend/hip/epilogue/tma_stage.hpp"
#include "fusekit/backend/hip/statistics/total_channels.hpp"

namespace fusekit::hip {

/// Epilogue of a warpgroup's part of a tile: applies the epilogue to its products, of 64 channels each, in registers,
/// stages them in swizzled SMEM and TMA-stores them; out-of-bounds elements are clipped. If an operator reads a tensor
/// of y's layout, TMA loads its tile into the staging buffer. All threads of the warpgroup call all functions;
/// `barrier` is their named barrier.
template <class Plan, class Atom, class T, class U, int products>
class TmaStore {
    using Channels = TmaStage<Plan, Atom, T, U>;
    static constexpr bool reads = reads_in_bulk<Plan, T, U>;

public:
    struct Shared {
        alignas(1024) unsigned char staged[products][Channels::bytes];
        std::uint64_t read_full;
    };

    /// Called by one thread before other threads use the barrier.
    __device__ static void init(Shared& shared) {
        if constexpr (reads) ptx::mbarrier_init(ptx::shared_address(&shared.read_full), 1);
    }

    __device__ TmaStore(Shared& the_shared, unsigned the_thread, unsigned the_barrier)
        : shared(the_shared), thread(the_thread), barrier(the_barrier) {}

    /// Prepares the channels of a tile before its products, which hide the latency of the parameters.
    template <class Params, class Problem>
    __device__ void prepare(Params const& params, Problem const& conv, TileStart const& tile) {
#pragma unroll
        for (int product = 0; product < products; ++product)
            channels[product] = Channels(params.bound.epilogue, tile.n + product * Atom::m, conv.group_k(), thread);
    }

    /// Issues the load of an operator's tile, after the last tile's store(), while the tile's first products run.
    template <class Params>
    __device__ void begin_read(Params const& params, TileStart const& tile) const {
        if constexpr (reads) {
            if (thread != 0) return;
            ptx::bulk_wait_group_read();  // the last tile's store has read the buffer
            auto const full = ptx::shared_address(&shared.read_full);
            ptx::mbarrier_arrive_expect_tx(full, products * Channels::bytes);
            for (int product = 0; product < products; ++product)
                ptx::tma_load(address_of(product), &params.read.map, full, {tile.n + product * Atom::m, tile.m});
        }
    }

    /// Applies the epilogue to a tile and stages the results for send(). Collected values replace the accumulators.
    template <class Params, class Problem>
    __device__ void stage(Params const& params, Problem const& conv, TileStart const& tile,
                          typename Atom::Sums (&sums)[products]) {
        if constexpr (reads) {
            ptx::mbarrier_wait(ptx::shared_address(&shared.read_full), parity);
            parity ^= 1;
        } else {
            if (thread == 0) ptx::bulk_wait_group_read();  // the last tile's store has read the buffer
            ptx::bar_sync(barrier, Atom::threads);
        }
        int const left = conv.gemm_m() - tile.m;
#pragma unroll
        for (int product = 0; product < products; ++product) {
            int reached = Atom::column(static_cast<int>(thread), 0);
            Pixel place{};
            if constexpr (Channels::reads_places) place = conv.pixel(tile.m + reached);
            channels[product].stage(sums[product], address_of(product), params.bound.epilogue, left, [&](int pixel) {
                if (pixel >= left) return Pixel{-1, 0, 0};
                if constexpr (Channels::reads_places) place = conv.next(place, pixel - reached), reached = pixel;
                return place;
            });
        }
        ptx::fence_proxy_async();
        ptx::bar_sync(barrier, Atom::threads);
    }
    /// TMA-stores the staged tile to y.
    template <class Params>
    __device__ void send(Params const& params, TileStart const& tile) const {
        if (thread != 0) return;
        for (int product = 0; product < products; ++product)
            ptx::tma_store(&params.maps.y, address_of(product), {tile.n + product * Atom::m, tile.m});
        ptx::bulk_commit_group();
    }

    template <class Params, class Problem>
    __device__ void store(Params const& params, Problem const& conv, TileStart const& tile,
                          typename Atom::Sums (&sums)[products]) {
        stage(params, conv, tile, sums);
        send(params, tile);
    }

    /// Adds a tile's collected values to the totals.
    template <class Problem>
    __device__ void add_totals(Problem const& conv, TileStart const& tile, typename Atom::Sums (&sums)[products]) {
        totals.add(sums, OwnPixels<Atom>(thread).before(conv.gemm_m() - tile.m), thread);
    }
    /// Puts the totals of all tiles since the last call, at least one, as those of tile `tile`, of channels from
    /// `first` on.
    template <class View>
    __device__ void put_totals(View const& to, unsigned tile, int first) {
        totals.put(to, tile, first, thread);
    }

private:
    Shared& shared;
    unsigned thread, barrier, parity = 0;
    Channels channels[products];
    TotalChannels<Plan, Atom, products> totals;

    __device__ std::uint32_t address_of(int product) const { return ptx::shared_address(shared.staged[product]); }
};

}  // namespace fusekit::hip
