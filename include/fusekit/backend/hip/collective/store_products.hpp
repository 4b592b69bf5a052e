// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/collective/bulk_loader.hpp"
#include "fusekit/backend/hip/collective/read_coord.hpp"
#include "fusekit/backend/hip/collective/total_products.hpp"

namespace fusekit::hip {

/// Ends a warpgroup's part of a tile: sums pass the epilogue in registers, lie down in shared memory, swizzled, and go
/// to y by bulk copies, which leave out what y does not have. Where an operator reads a tensor that lies as y does,
/// bulk copies bring its tile to where the results will lie.
template <class Plan, class Atom, class T, class U, int products>
class StoreProducts {
    static constexpr int tile_n = Atom::n, row_bytes = bulk_row_bytes(tile_n, sizeof(U)),
                         columns = row_bytes / static_cast<int>(sizeof(U));  ///< of a box
    static constexpr int boxes = (tile_n + columns - 1) / columns, box_bytes = Atom::m * row_bytes;
    static_assert(tile_n % 16 == 0 && tile_n >= columns);
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    static constexpr bool totals_tiles = Plan::totals_tiles;
    static constexpr bool reads = reads_in_bulk<Plan, T, U>;
    static constexpr bool reads_places = (Epilogue::located && !reads) || Epilogue::per_place;
    static constexpr int maxima = Epilogue::maxima;
    static_assert(!reads || maxima == 0);

    /// Where a box of y begins in the tile. The last ends with it: where the tile is no multiple of a box, it begins in
    /// the box before, and both write what they share.
    FUSEKIT_HD static constexpr int first_column(int box) {
        return box * columns + columns < tile_n ? box * columns : tile_n - columns;
    }

    /// Of two columns that neighbour, which a thread reads by one access where they fill it.
    static constexpr std::size_t both = 2 * sizeof(State);
    struct alignas(both == 8 || both == 16 ? both : alignof(State)) States {
        State of[2];
    };

public:
    using Totals = TotalProducts<Plan, Atom>;

    struct Shared {
        alignas(1024) U staged[products * Atom::m * boxes * columns];
        States states[Epilogue::channelwise ? tile_n / 2 : 1];
        std::uint64_t read_full;
    };

    /// Called by one thread, before the block's others know of the barrier.
    __device__ static void init(Shared& shared) {
        if constexpr (reads) ptx::barrier_init(ptx::shared_address(&shared.read_full), 1);
    }

    /// Begins to bring what an operator reads of a tile. Called by the warpgroup's threads, after the last tile's
    /// store(), with the tile's first products under way.
    template <class Params, class Tile>
    __device__ static void begin_read(Params const& params, Shared& shared, Tile const& tile, unsigned thread) {
        if constexpr (reads) {
            if (thread != 0) return;
            ptx::wait_for_stores();  // the last tile's have read what is overwritten now
            auto const full = ptx::shared_address(&shared.read_full);
            ptx::barrier_arrive_expect_bytes(full, products * boxes * box_bytes);
            for (int product = 0; product < products; ++product)
                for (int box = 0; box < boxes; ++box)
                    ptx::load_tiled(address_of(shared, product, box), &params.read.map, full,
                                    tile.box(first_column(box), product * Atom::m).at);
        }
    }

    /// Prepares the channels of a tile. Called by the warpgroup's threads before they multiply it, so that nobody waits
    /// for parameters.
    template <class Params, class Problem>
    __device__ static void prepare(Params const& params, Problem const& conv, Shared& shared, int first_n,
                                   unsigned thread) {
        if constexpr (Epilogue::channelwise) {
            int const last = conv.group_k() - 1;
#pragma unroll
            for (int i = static_cast<int>(thread); i < tile_n; i += Atom::threads)  // of no channel: the last one's
                shared.states[i / 2].of[i % 2] =
                    Epilogue::prepare(std::int64_t{min(first_n + i, last)}, params.bound.epilogue);
        }
    }

    /// Called by the warpgroup's threads, whose named barrier is `barrier`. `tile` is where its first row begins, and
    /// `count` is how many tiles the warpgroup has stored before. What is collected is added to `totals`.
    template <class Params, class Problem, class Tile>
    __device__ static void store(Params const& params, Problem const& conv, Shared& shared, Tile const& tile,
                                 typename Atom::Sums (&sums)[products], Totals& totals, unsigned thread,
                                 unsigned barrier, unsigned count) {
        if constexpr (reads) ptx::barrier_wait(ptx::shared_address(&shared.read_full), count % 2);
        else if (thread == 0) ptx::wait_for_stores();  // the last tile's have read what is written now
        if constexpr (!reads || Epilogue::channelwise)  // all have prepared their channels
            ptx::named_barrier_sync(barrier, Atom::threads);
        bool whole = false;
        if constexpr (maxima > 0 && requires { tile.m; })
            whole = tile.m + products * Atom::m <= conv.gemm_m() && tile.n + tile_n <= conv.group_k();
        if (whole) for_each_product<(maxima > 0)>(params, conv, shared, tile, sums, totals, thread);
        else for_each_product<false>(params, conv, shared, tile, sums, totals, thread);
        ptx::fence_shared_memory();
        ptx::named_barrier_sync(barrier, Atom::threads);
        if (thread == 0) {
            for (int product = 0; product < products; ++product)
                for (int box = 0; box < boxes; ++box)
                    ptx::store_tiled(&params.maps.y, address_of(shared, product, box),
                                     tile.box(first_column(box), product * Atom::m).at);
            ptx::commit_stores();
        }
    }

private:
    __device__ static std::uint32_t address_of(Shared const& shared, int product, int box) {
        return ptx::shared_address(shared.staged) + static_cast<unsigned>((product * boxes + box) * box_bytes);
    }

    /// Takes sums through the epilogue to shared memory, and leaves what is collected in their place. What operators
    /// read of places that y does not have is that of its last ones. Of a whole tile y has all places.
    template <bool is_whole, class Params, class Problem, class Tile>
    __device__ static void for_each_product(Params const& params, Problem const& conv, Shared& shared, Tile const& tile,
                                            typename Atom::Sums (&sums)[products], Totals& totals, unsigned thread) {
        auto const& arguments = params.bound.epilogue;
        int const last_n = conv.group_k() - 1;
        unsigned const lane = thread % 32, row = thread / 32 * 16 + lane % 16;
        TileMaxima<maxima> largest;
#pragma unroll
        for (int product = 0; product < products; ++product) {
            TilePixel pixels[2] = {};
            if constexpr (reads_places)
                for (int i = 0; i < 2; ++i)
                    pixels[i] = tile.pixel(conv, product * Atom::m + Atom::row(static_cast<int>(thread), 2 * i));
            // Two neighbours of a row: sums e and e + 1.
            auto const pair = [&](int e, States const& states, std::uint32_t both) {
                int const column = tile.n + Atom::column(static_cast<int>(thread), e);
                auto const& [at, exists] = pixels[e / 2 % 2];
                float results[2] = {}, values[2] = {}, collected[2] = {};
                if constexpr (reads) unpack<U>(both, values);
                for (int i = 0; i < 2; ++i) {
                    OutputCoord const place{at.n, std::int64_t{min(column + i, last_n)}, at.p, at.q};
                    bool const is_of_y = is_whole || (exists && column + i <= last_n);
                    if (!Epilogue::writes || is_of_y)
                        results[i] = Epilogue::apply(static_cast<float>(sums[product][e + i]),
                                                     coord_of(place, values[i], largest, e / 2 + i, is_of_y),
                                                     Epilogue::channelwise ? states.of[i] : State{}, arguments,
                                                     [&](float x) { collected[i] = x; });
                    if constexpr (totals_tiles) sums[product][e + i] = collected[i];
                }
                return packed<U>(results[0], results[1]);
            };
            auto const address = [&](int e, int box) {  // of 8 columns of 16 bits
                auto const chunk = static_cast<unsigned>(2 * e - first_column(box)) / 8 + lane / 16;
                return address_of(shared, product, box) + row * row_bytes + ((chunk ^ row) % 8) * 16;
            };
            auto const compute = [&](int e, std::uint32_t(&pairs)[4]) {
                auto const states_of = [&](int first) {
                    return shared.states[Epilogue::channelwise ? Atom::column(static_cast<int>(thread), first) / 2 : 0];
                };
                constexpr int last = boxes - 1;
                std::uint32_t before[4] = {};
                if constexpr (reads)
                    ptx::load_matrices<false>(address(e, 2 * e < first_column(last) ? 2 * e / columns : last), before);
                States const left = states_of(e), right = states_of(e + 4);
#pragma unroll
                for (int i = 0; i < 4; ++i) pairs[i] = pair(e + 2 * i, i < 2 ? left : right, before[i]);
            };
            auto const stage = [&](int e, std::uint32_t const(&pairs)[4]) {
                if constexpr (sizeof(U) == 1) {
                    stage_bytes(shared.staged + product * Atom::m * columns, e, pairs, thread);
                } else {
#pragma unroll
                    for (int box = 0; box < boxes; ++box)
                        if (2 * e >= first_column(box) && 2 * e < first_column(box) + columns)
                            ptx::store_matrices<false>(address(e, box), pairs);
                }
            };
            constexpr int step = 8, steps = Atom::sums_per_thread / step;
            if constexpr (totals_tiles) totals.begin(conv.gemm_m() - tile.m - product * Atom::m, thread);
#pragma unroll
            for (int i = 0; i < steps; ++i) {
                std::uint32_t pairs[4];
                compute(i * step, pairs);
                stage(i * step, pairs);
                if constexpr (totals_tiles) totals.template add<step>(sums[product], i * step);
            }
            if constexpr (totals_tiles) totals.end();
        }
        largest.keep();
    }

    /// The same of bytes, two neighbours at a time: eight rows' swizzled chunks of 16 bytes are in different banks.
    __device__ static void stage_bytes(U* staged, int e, std::uint32_t const (&pairs)[4], unsigned thread) {
        static_assert(sizeof(U) != 1 || boxes == 1);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            int const row = Atom::row(static_cast<int>(thread), e + 2 * i),
                      column = Atom::column(static_cast<int>(thread), e + 2 * i);
            int const chunk = column / 16 ^ row * row_bytes / 128 % (row_bytes / 16);
            U* const to = staged + row * row_bytes + chunk * 16 + column % 16;
            *reinterpret_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(pairs[i]);
        }
    }

    __device__ static auto coord_of(OutputCoord const& place, [[maybe_unused]] float value, TileMaxima<maxima>& largest,
                                    int number, bool is_of_y) {
        if constexpr (reads) return ReadCoord(place, value);
        else return MaximaCoord<maxima>(place, largest, number % largest.chains, is_of_y);
    }
};

}  // namespace fusekit::hip
