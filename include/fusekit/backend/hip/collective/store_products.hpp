// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>

#include "fusekit/backend/hip/collective/bulk_loader.hpp"

namespace fusekit::hip {

/// Ends a warpgroup's part of a tile: sums pass the epilogue in registers, lie down in shared memory as 16-bit values
/// with the 128-byte swizzle, and go to y by bulk copies, which leave out what y does not have.
template <class Plan, class Atom, class U, int products>
class StoreProducts {
    static constexpr int tile_n = Atom::n, row_bytes = 128, columns = row_bytes / 2;  ///< of a box
    static constexpr int boxes = tile_n / columns, box_bytes = Atom::m * row_bytes;
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    static constexpr bool reads_places = Epilogue::placewise || Epilogue::stores;

public:
    struct Shared {
        alignas(1024) U staged[products * Atom::m * tile_n];
        Uninitialized<State> states[Epilogue::channelwise ? tile_n : 1];
    };

    /// Called by the warpgroup's threads, whose named barrier is `barrier`. `tile` is where its first row begins.
    template <class Params, class Problem>
    __device__ static void store(Params const& params, Problem const& conv, Shared& shared, TileStart const& tile,
                                 float (&sums)[products][Atom::sums_per_thread], unsigned thread, unsigned barrier) {
        auto const& arguments = params.bound.epilogue;
        int const channels = min(conv.group_k() - tile.n, tile_n);
        if (thread == 0) ptx::wait_for_stores(false);  // the last tile's have read what is written now
        if constexpr (Epilogue::channelwise)
            if (static_cast<int>(thread) < channels)
                shared.states[thread].value() = Epilogue::prepare(std::int64_t{tile.n} + thread, arguments);
        ptx::named_barrier_sync(barrier, Atom::threads);
#pragma unroll
        for (int product = 0; product < products; ++product) {
            int const first_row = static_cast<int>(thread) / 32 * 16 + static_cast<int>(thread) % 32 / 4;
            OutputCoord rows[2];
            bool has_row[2];
            for (int i = 0; i < 2; ++i) {
                Pixel const at =
                    reads_places ? conv.pixel(tile.m + product * Atom::m + first_row + 8 * i) : Pixel{0, 0, 0};
                has_row[i] = at.n >= 0;
                rows[i] = {at.n, 0, at.p, at.q};
            }
            auto const result = [&](int e) {
                int const column = Atom::column(static_cast<int>(thread), e), i = e / 2 % 2;
                float const sum = sums[product][e];
                if (column >= channels || (reads_places && !has_row[i])) return U(0.0f);
                OutputCoord at = rows[i];
                at.k = std::int64_t{tile.n} + column;
                return U(
                    Epilogue::apply(sum, at, shared.states[Epilogue::channelwise ? column : 0].value(), arguments));
            };
            auto const pair = [&](int e) {
                return std::uint32_t{std::bit_cast<std::uint16_t>(result(e))} |
                       std::uint32_t{std::bit_cast<std::uint16_t>(result(e + 1))} << 16;
            };
            unsigned const lane = thread % 32, row = thread / 32 * 16 + lane % 16;
            auto const staged = ptx::shared_address(shared.staged) + static_cast<unsigned>(product * boxes * box_bytes);
#pragma unroll
            for (int e = 0; e < Atom::sums_per_thread; e += 8) {
                unsigned const chunk = static_cast<unsigned>(e) / 4 + lane / 16;  // of 8 columns
                std::uint32_t const pairs[] = {pair(e), pair(e + 2), pair(e + 4), pair(e + 6)};
                ptx::store_matrices(staged + chunk / 8 * box_bytes + row * row_bytes + ((chunk ^ row) % 8) * 16, pairs);
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
                    {tile.n + box * columns, tile.m + product * Atom::m});
        ptx::commit_stores();
    }
};

}  // namespace fusekit::hip
