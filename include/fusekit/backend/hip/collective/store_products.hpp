// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/collective/bulk_loader.hpp"

namespace fusekit::hip {

/// Ends a warpgroup's part of a tile: sums pass the epilogue in registers, lie down in shared memory as 16-bit values
/// with the 128-byte swizzle, and go to y by bulk copies, which leave out what y does not have.
template <class Plan, class Atom, class U, int products>
class StoreProducts {
    static constexpr int tile_n = Atom::n, row_bytes = 128, columns = row_bytes / 2;  ///< of a box
    static constexpr int boxes = (tile_n + columns - 1) / columns, box_bytes = Atom::m * row_bytes;
    static_assert(tile_n % 16 == 0 && tile_n >= columns);
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    static constexpr bool reads_places = Epilogue::placewise || Epilogue::stores;

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
    struct Shared {
        alignas(1024) U staged[products * Atom::m * boxes * columns];
        States states[Epilogue::channelwise ? tile_n / 2 : 1];
    };

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

    /// Called by the warpgroup's threads, whose named barrier is `barrier`. `tile` is where its first row begins.
    template <class Params, class Problem>
    __device__ static void store(Params const& params, Problem const& conv, Shared& shared, TileStart const& tile,
                                 float (&sums)[products][Atom::sums_per_thread], unsigned thread, unsigned barrier) {
        auto const& arguments = params.bound.epilogue;
        int const channels = min(conv.group_k() - tile.n, tile_n);
        if (thread == 0) ptx::wait_for_stores();  // the last tile's have read what is written now
        ptx::named_barrier_sync(barrier, Atom::threads);
        unsigned const lane = thread % 32, row = thread / 32 * 16 + lane % 16;
        auto staged = ptx::shared_address(shared.staged) + row * row_bytes;
#pragma unroll
        for (int product = 0; product < products; ++product, staged += boxes * box_bytes) {
            Pixel places[2] = {};
            if constexpr (reads_places)
                for (int i = 0; i < 2; ++i)
                    places[i] = conv.pixel(tile.m + product * Atom::m + Atom::row(static_cast<int>(thread), 2 * i));
            // Two neighbours of a row: sums e and e + 1.
            auto const pair = [&](int e, States const& states) {
                int const column = Atom::column(static_cast<int>(thread), e);
                Pixel const& at = places[e / 2 % 2];
                float results[2] = {};
                if (!reads_places || (at.n >= 0 && column < channels))
                    for (int i = 0; i < 2; ++i)
                        results[i] = Epilogue::apply(sums[product][e + i],
                                                     OutputCoord{at.n, std::int64_t{tile.n} + column + i, at.p, at.q},
                                                     Epilogue::channelwise ? states.of[i] : State{}, arguments);
                return packed<U>(results[0], results[1]);
            };
#pragma unroll
            for (int e = 0; e < Atom::sums_per_thread; e += 8) {
                auto const states_of = [&](int first) {
                    return shared.states[Epilogue::channelwise ? Atom::column(static_cast<int>(thread), first) / 2 : 0];
                };
                States const left = states_of(e), right = states_of(e + 4);
                std::uint32_t const pairs[] = {pair(e, left), pair(e + 2, left), pair(e + 4, right),
                                               pair(e + 6, right)};
#pragma unroll
                for (int box = 0; box < boxes; ++box) {
                    int const column = 2 * e - first_column(box);
                    if (column < 0 || column >= columns) continue;
                    unsigned const chunk = static_cast<unsigned>(column) / 8 + lane / 16;  // of 8 columns
                    ptx::store_matrices<false>(
                        staged + static_cast<unsigned>(box * box_bytes) + ((chunk ^ row) % 8) * 16, pairs);
                }
            }
        }
        ptx::fence_shared_memory();
        ptx::named_barrier_sync(barrier, Atom::threads);
        if (thread != 0) return;
        for (int product = 0; product < products; ++product)
            for (int box = 0; box < boxes; ++box)
                ptx::store_tiled(
                    &params.maps.y,
                    ptx::shared_address(shared.staged) + static_cast<unsigned>((product * boxes + box) * box_bytes),
                    {tile.n + first_column(box), tile.m + product * Atom::m});
        ptx::commit_stores();
    }
};

}  // namespace fusekit::hip
