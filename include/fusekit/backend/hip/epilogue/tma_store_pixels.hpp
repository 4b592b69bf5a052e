// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/collective/bulk_loader.hpp"
#include "fusekit/backend/hip/epilogue/apply.hpp"

namespace fusekit::hip {

/// Pixel of a tile; out of bounds `exists` is false and `at` is clamped to the last pixel.
struct TilePixel {
    Pixel at;
    bool exists;
};

/// Start of a box in a tensor map of y's rows.
struct BoxStart {
    std::int32_t at[4];
};

/// Epilogue of a tile of 64 pixels x 64 channels: applies the epilogue in registers, stages the tile in swizzled SMEM
/// and TMA-stores it; out-of-bounds elements are clipped. If an operator reads a tensor of y's layout, TMA loads its
/// tile into the staging buffer.
template <class Plan, class Atom, class U>
class TmaStorePixels {
    static constexpr int tile_n = Atom::n, row_bytes = 128;
    static_assert(tile_n == 64 && sizeof(U) == 2 && !Plan::totals_tiles);
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    static constexpr bool reads = reads_in_bulk<Plan, U, U>;
    static constexpr bool reads_places = (Epilogue::located && !reads) || Epilogue::per_place || Epilogue::maxima > 0;
    static constexpr int maxima = Epilogue::maxima;
    static_assert(!reads || maxima == 0);

    /// States of two adjacent columns, read by one access if their size allows it.
    static constexpr std::size_t both = 2 * sizeof(State);
    struct alignas(both == 8 || both == 16 ? both : alignof(State)) States {
        State of[2];
    };

public:
    struct Shared {
        alignas(1024) U staged[Atom::m * tile_n];
        States states[Epilogue::channelwise ? tile_n / 2 : 1];
        std::uint64_t read_full;
    };

    /// Called by one thread before other threads use the barrier.
    __device__ static void init(Shared& shared) {
        if constexpr (reads) ptx::mbarrier_init(ptx::shared_address(&shared.read_full), 1);
    }

    /// Issues the load of an operator's tile. Called by the warpgroup's threads after the last tile's store(), while
    /// the tile's first products run.
    template <class Params, class Tile>
    __device__ static void begin_read(Params const& params, Shared& shared, Tile const& tile, unsigned thread) {
        if constexpr (reads) {
            if (thread != 0) return;
            ptx::bulk_wait_group_read();  // the last tile's store has read the buffer
            auto const full = ptx::shared_address(&shared.read_full);
            ptx::mbarrier_arrive_expect_tx(full, sizeof(shared.staged));
            ptx::tma_load(ptx::shared_address(shared.staged), &params.read.map, full, tile.box().at);
        }
    }

    /// Prepares the channels of a tile. Called by the warpgroup's threads before the tile's products, which hide the
    /// latency of the parameters.
    template <class Params, class Problem>
    __device__ static void prepare(Params const& params, Problem const& conv, Shared& shared, int first_n,
                                   unsigned thread) {
        if constexpr (Epilogue::channelwise) {
            int const last = conv.group_k() - 1;
#pragma unroll
            for (int i = static_cast<int>(thread); i < tile_n; i += Atom::threads)  // clamps to the last channel
                shared.states[i / 2].of[i % 2] =
                    Epilogue::prepare(std::int64_t{(min)(first_n + i, last)}, params.bound.epilogue);
        }
    }

    /// Stores a tile. Called by the warpgroup's threads, whose named barrier is `barrier`. `count` is the number of
    /// tiles that the warpgroup stored before.
    template <class Params, class Problem, class Tile>
    __device__ static void store(Params const& params, Problem const& conv, Shared& shared, Tile const& tile,
                                 typename Atom::Sums const& sums, unsigned thread, unsigned barrier, unsigned count) {
        if constexpr (reads) ptx::mbarrier_wait(ptx::shared_address(&shared.read_full), count % 2);
        else if (thread == 0) ptx::bulk_wait_group_read();  // the last tile's store has read the buffer
        if constexpr (!reads || Epilogue::channelwise)  // all threads have prepared their channels
            ptx::bar_sync(barrier, Atom::threads);
        stage(params, conv, shared, tile, sums, thread);
        ptx::fence_proxy_async();
        ptx::bar_sync(barrier, Atom::threads);
        if (thread == 0) {
            ptx::tma_store(&params.maps.y, ptx::shared_address(shared.staged), tile.box().at);
            ptx::bulk_commit_group();
        }
    }

private:
    /// Applies the epilogue and stages the results in SMEM. Operators' reads of out-of-bounds pixels are clamped to the
    /// last pixel.
    template <class Params, class Problem, class Tile>
    __device__ static void stage(Params const& params, Problem const& conv, Shared& shared, Tile const& tile,
                                 typename Atom::Sums const& sums, unsigned thread) {
        auto const& arguments = params.bound.epilogue;
        int const last_n = conv.group_k() - 1;
        unsigned const lane = thread % 32, row = thread / 32 * 16 + lane % 16;
        TileMaxima<maxima> largest;
        TilePixel pixels[2] = {};
        if constexpr (reads_places) {
            for (int i = 0; i < 2; ++i) pixels[i] = tile.pixel(conv, Atom::row(static_cast<int>(thread), 2 * i));
        }
        // Two adjacent elements of a row: accumulators e and e + 1.
        auto const pair = [&](int e, States const& states, std::uint32_t both) {
            int const column = tile.n + Atom::column(static_cast<int>(thread), e);
            auto const& [at, exists] = pixels[e / 2 % 2];
            float results[2] = {}, values[2] = {};
            if constexpr (reads) unpack<U>(both, values);
            for (int i = 0; i < 2; ++i) {
                OutputCoord const place{at.n, std::int64_t{(min)(column + i, last_n)}, at.p, at.q};
                bool const is_of_y = exists && column + i <= last_n;
                if (!Epilogue::writes || is_of_y)
                    results[i] = Epilogue::apply(static_cast<float>(sums[e + i]),
                                                 coord_of(place, values[i], largest, e / 2 + i, is_of_y),
                                                 Epilogue::channelwise ? states.of[i] : State{}, arguments);
            }
            return packed<U>(results[0], results[1]);
        };
        auto const address = [&](int e) {  // of 8 columns
            auto const chunk = static_cast<unsigned>(2 * e) / 8 + lane / 16;
            return ptx::shared_address(shared.staged) + row * row_bytes + ((chunk ^ row) % 8) * 16;
        };
        auto const states_of = [&](int first) {
            return shared.states[Epilogue::channelwise ? Atom::column(static_cast<int>(thread), first) / 2 : 0];
        };
#pragma unroll
        for (int e = 0; e < Atom::sums_per_thread; e += 8) {
            std::uint32_t before[4] = {}, pairs[4];
            if constexpr (reads) ptx::ldmatrix_x4<false>(address(e), before);
            States const left = states_of(e), right = states_of(e + 4);
#pragma unroll
            for (int i = 0; i < 4; ++i) pairs[i] = pair(e + 2 * i, i < 2 ? left : right, before[i]);
            ptx::stmatrix_x4<false>(address(e), pairs);
        }
        largest.keep();
    }

    __device__ static auto coord_of(OutputCoord const& place, [[maybe_unused]] float value, TileMaxima<maxima>& largest,
                                    int number, bool is_of_y) {
        if constexpr (reads) return ReadCoord(place, value);
        else return MaximaCoord<maxima>(place, largest, number % TileMaxima<maxima>::chains, is_of_y);
    }
};

}  // namespace fusekit::hip
