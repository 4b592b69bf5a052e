// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/epilogue/pool_stage.hpp"
#include "fusekit/backend/hip/epilogue/tma_staging.hpp"
#include "fusekit/backend/hip/phase_maps.hpp"
#include "fusekit/backend/hip/statistics/total_channels.hpp"
#include "fusekit/backend/hip/tile_order.hpp"

namespace fusekit::hip {

/// Stores the tap of a maximum to the taps of a plan's pool, at pixel number `pixel` of all images. Precondition:
/// unmet_by_tap_stores() finds nothing.
template <class Plan>
__device__ void store_tap(typename Plan::Epilogue::Args const& arguments, int pixel, int channel, int tap) {
    auto const& taps = detail::get<Plan::Epilogue::size - 1>(arguments).taps;
    taps.data[pixel * detail::step_of_pixels(taps.layout) + channel].value = static_cast<std::int8_t>(tap);
}

/// Epilogue and store of an output tile by a warpgroup that has `products` accumulator tiles of 64 channels x Atom::n
/// pixels each: applies the epilogue in registers, stages the results in SMEM and TMA-stores them. All threads of the
/// warpgroup call all functions except init(); `barrier` is the number of their named barrier. `plain`: without code
/// for pixels of y that are misaligned for TMA, and for several groups of channels.
template <class Plan, class Atom, class T, class U, int products, bool plain = false>
class TmaStore {
    using Stage = typename StageOf<Plan, Atom, T, U, RowsInHalves>::Type;
    static constexpr int pixels_per_result = Plan::pools ? 4 : 1;
    static constexpr bool loads = reads_in_bulk<Plan, T, U>, by_threads = !plain && stores_by_threads<Plan, T, U>;
    using Staging = TmaStaging<loads, Atom::threads>;
    using Accumulators = typename Atom::Accumulators[products];

public:
    struct Shared {
        alignas(1024) unsigned char staged[products][(Stage::bytes + 1023) / 1024 * 1024];
        std::uint64_t read_full;
    };

    /// Initializes the mbarrier in `shared`. One thread calls it before the CTA's other threads use the mbarrier.
    __device__ static void init(Shared& shared) { Staging::init(shared); }

    __device__ TmaStore(Shared& the_shared, unsigned the_thread, unsigned the_barrier)
        : shared(the_shared), thread(the_thread), barrier(the_barrier) {}

    /// Prepares the epilogue parameters of the channels of `tile`. Called before the tile's MMAs, which hide the
    /// latency of the loads.
    template <class Params, class Problem>
    __device__ void prepare(Params const& params, Problem const& conv, TileStart const& tile) {
#pragma unroll
        for (int product = 0; product < products; ++product)
            stages[product] =
                Stage(params.bound.epilogue, tile.n + product * Atom::m, conv.group_k() * (tile.group + 1), thread);
    }

    /// Issues the TMA load of the tile of the tensor that an operator reads, if there is one. Called after store() of
    /// the previous tile, while the first MMAs of this tile run.
    template <class Params, class Tile>
    __device__ void begin_read(Params const& params, Tile const& tile) const {
        if constexpr (loads) {
            if (thread != 0) return;
            auto const full = Staging::begin_read(shared);
            if constexpr (std::is_same_v<Tile, PhaseTile>) {
                Pixel const at = params.maps.phases[tile.phase].position(tile.m);
                for (int product = 0; product < products; ++product)
                    ptx::tma_load_im2col(Staging::address(shared, product), &params.read.maps[tile.phase], full,
                                         {tile.n + product * Atom::m, at.q, at.p, at.n}, 0, 0);
            } else {
                for (int product = 0; product < products; ++product)
                    ptx::tma_load(Staging::address(shared, product), &params.read.map, full,
                                  {tile.n + product * Atom::m, tile.m});
            }
        }
    }

    /// Applies the epilogue to the accumulators of `tile` and stages the results for send(). The values that a
    /// statistics operator receives replace the accumulators in `acc`.
    template <class Params, class Problem, class Blocks = AllBlocks>
    __device__ void stage(Params const& params, Problem const& conv, TileStart const& tile, Accumulators& acc,
                          Blocks const& blocks = {}) {
        Staging::acquire(shared, thread, barrier, parity);
        parity ^= 1;
        [[maybe_unused]] int const remaining = conv.gemm_m() - tile.m;
        auto const& arguments = params.bound.epilogue;
#pragma unroll
        for (int product = 0; product < products; ++product) {
            if constexpr (Plan::pools) {
                stages[product].stage(
                    acc[product], Staging::address(shared, product), arguments, [&](int window, int channel, int tap) {
                        int const pixel = tile.m / pixels_per_result + window;
                        if (4 * pixel >= conv.gemm_m() || channel >= conv.group_k() * (tile.group + 1)) return;
                        if constexpr (Plan::Pool::writes_taps) store_tap<Plan>(arguments, pixel, channel, tap);
                    });
            } else {
                int reached = Atom::column(static_cast<int>(thread), 0);
                Pixel coord{};
                if constexpr (Stage::reads_coord) coord = conv.pixel(tile.m + reached);
                stages[product].stage(
                    acc[product], Staging::address(shared, product), arguments, remaining,
                    [&](int pixel) {
                        if (pixel >= remaining) return Pixel{-1, 0, 0};
                        if constexpr (Stage::reads_coord) coord = conv.next(coord, pixel - reached), reached = pixel;
                        return coord;
                    },
                    blocks);
            }
        }
        Staging::publish(barrier);
    }
    /// Stores the staged results to `tile` of y: by TMA or, if y's pixels are misaligned for it, by all threads.
    template <class Params, class Problem, class Tile>
    __device__ void send(Params const& params, Problem const& conv, Tile const& tile) const {
        if constexpr (by_threads) {
            if (!params.maps.stores_y) {
                int const pixels = (conv.gemm_m() - tile.m) / pixels_per_result,
                          channels = conv.group_k() * (tile.group + 1) - tile.n;
#pragma unroll 1
                for (int product = 0; product < products; ++product)
                    store_by_threads(shared.staged[product], params.y, tile.m / pixels_per_result,
                                     tile.n + product * Atom::m, pixels, channels - product * Atom::m);
                return;
            }
        }
        if (thread != 0) return;
        if constexpr (std::is_same_v<Tile, PhaseTile>) {
            TmaPhase const& phase = params.maps.phases[tile.phase];
            Pixel const at = phase.position(tile.m);
            for (int product = 0; product < products; ++product)
                ptx::tma_store_im2col(&phase.y, Staging::address(shared, product),
                                      {tile.n + product * Atom::m, at.q, at.p, at.n});
        } else {
            for (int product = 0; product < products; ++product)
                send_box(params, conv, tile, Staging::address(shared, product), tile.n + product * Atom::m,
                         tile.m / pixels_per_result);
        }
        ptx::bulk_commit_group();
    }

    /// stage() and send() for some 8-pixel blocks of a tile. Precondition: y's tensor map has boxes of 8 pixels.
    template <class Params, class Problem>
    __device__ void store(Params const& params, Problem const& conv, TileStart const& tile, Accumulators& acc,
                          BlockRange const& blocks) {
        constexpr int pixels_of_block = 8;
        stage(params, conv, tile, acc, blocks);
        int const first = blocks.first * pixels_of_block, pixels = conv.gemm_m() - tile.m - first,
                  most = (min)(pixels, blocks.count * pixels_of_block);
        if constexpr (by_threads) {
            if (!params.maps.stores_y) {
#pragma unroll 1
                for (int product = 0; product < products; ++product)
                    store_by_threads(shared.staged[product] + first * Stage::row_bytes, params.y, tile.m + first,
                                     tile.n + product * Atom::m, most,
                                     conv.group_k() * (tile.group + 1) - tile.n - product * Atom::m);
                return;
            }
        }
        if (thread != 0) return;
        for (int product = 0; product < products; ++product)
            for (int pixel = 0; pixel < most; pixel += pixels_of_block)
                send_box(params, conv, tile,
                         Staging::address(shared, product) + static_cast<unsigned>((first + pixel) * Stage::row_bytes),
                         tile.n + product * Atom::m, tile.m + first + pixel);
        ptx::bulk_commit_group();
    }

    template <class Params, class Problem, class Tile>
    __device__ void store(Params const& params, Problem const& conv, Tile const& tile, Accumulators& acc) {
        stage(params, conv, tile, acc);
        send(params, conv, tile);
    }

    /// Adds the values that stage() left in `acc` to the thread's channel statistics. Pixels out of bounds of y are not
    /// counted.
    template <class Problem>
    __device__ void add_totals(Problem const& conv, TileStart const& tile, Accumulators& acc) {
        totals.add(acc, ThreadPixels<Atom>(thread).mask_below(conv.gemm_m() - tile.m), thread);
    }
    /// Writes the channel statistics that add_totals() has accumulated since the last put_totals(), over at least one
    /// tile, to tile `tile` of `to`, for y's channels from channel `first` on.
    template <class View>
    __device__ void put_totals(View const& to, unsigned tile, int first) {
        totals.put(to, tile, first, thread);
    }

private:
    /// Issues the TMA store of staged results, from address `from` on, to y from channel n and pixel m of `tile` on.
    template <class Params, class Problem>
    __device__ static void send_box(Params const& params, Problem const& conv, TileStart const& tile,
                                    std::uint32_t from, int n, int m) {
        if constexpr (!plain && Params::may_have_groups)
            if (conv.groups() > 1) {
                ptx::tma_store(&params.maps.y, from, {n - tile.group * conv.group_k(), m, tile.group});
                return;
            }
        ptx::tma_store(&params.maps.y, from, {n, m});
    }

    /// Stores a staged tile of 16-bit results to y, from pixel m and channel n on; `pixels` and `channels` remain in y.
    /// A thread stores four channels of a pixel at a time if they are at multiples of 8 bytes, else two; a pixel takes
    /// the smallest power of two of lanes that has all channels.
    __device__ void store_by_threads(unsigned char const* staged, TensorView<U> const& y, int m, int n, int pixels,
                                     int channels) const {
        using Words = Packet<std::uint32_t, 2>;
        channels = (min)(channels, Atom::m), pixels = (min)(pixels, Atom::n / pixels_per_result);
        Extent const step = detail::step_of_pixels(y.layout);
        auto* to = reinterpret_cast<std::uint16_t*>(y.data) + m * step + n;
        auto const bits = reinterpret_cast<std::uintptr_t>(to) | static_cast<std::uintptr_t>(2 * step);
        int const of_lane = bits % 8 == 0 && channels % 4 == 0 ? 4 : 2;
        int shift = 0;
        while ((of_lane << shift) < channels) ++shift;
        int const of_warp = 32 >> shift, lane = static_cast<int>(thread % 32),
                  first = (lane & ((1 << shift) - 1)) * of_lane;
        if (first >= channels) return;
        to += first;
        bool const has_second = first + 1 < channels;
        for (int pixel = static_cast<int>(thread / 32) * of_warp + (lane >> shift); pixel < pixels;
             pixel += Atom::threads / 32 * of_warp) {
            auto const* const from =
                staged + pixel * Stage::row_bytes + Stage::chunk_offset(first / 8, pixel) + first % 8 * 2;
            std::uint16_t* const at = to + pixel * step;
            auto const word = *reinterpret_cast<std::uint32_t const*>(from);
            if (of_lane == 4) {
                *reinterpret_cast<Words*>(at) = *reinterpret_cast<Words const*>(from);
            } else if (bits % 4 == 0 && has_second) {
                *reinterpret_cast<std::uint32_t*>(at) = word;
            } else {
                at[0] = static_cast<std::uint16_t>(word);
                if (has_second) at[1] = static_cast<std::uint16_t>(word >> 16);
            }
        }
    }

    Shared& shared;
    unsigned thread, barrier, parity = 0;
    Stage stages[products];
    TotalChannels<Plan, Atom, products> totals;
};

}  // namespace fusekit::hip
