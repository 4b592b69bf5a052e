// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/copy/tma_im2col.hpp"
#include "fusekit/backend/hip/epilogue/accumulator_coord.hpp"
#include "fusekit/backend/hip/epilogue/tma_staging.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// Pixel of y that a row of an output tile corresponds to. If it is out of bounds of y, `in_bounds` is false and `at`
/// is clamped to y's last row and column.
struct TilePixel {
    Pixel at;
    bool in_bounds;
};

/// Start coordinate of a TMA box in a tensor map of y, fastest mode first.
struct BoxStart {
    std::int32_t at[4];
};

/// Epilogue and store of a warpgroup's accumulators of 64 pixels x 64 channels: applies the epilogue in registers,
/// stages the tile in swizzled SMEM and TMA-stores it. A Tile has its first channel of y, `n`; box(), the box of y to
/// store; and pixel(conv, row), the TilePixel of a row. All threads of the warpgroup call all functions except init().
template <class Plan, class Atom, class U>
class TmaStorePixels {
    static constexpr int tile_n = Atom::n, row_bytes = 128;
    using Epilogue = typename Plan::Epilogue;
    static_assert(tile_n == 64 && sizeof(U) == 2 && !Plan::totals_tiles && !Epilogue::per_pixel);
    static constexpr bool loads = reads_in_bulk<Plan, U, U>;
    using Staging = TmaStaging<loads, Atom::threads>;
    using Coord = AccumulatorCoord<loads, Epilogue::maxima>;
    using State = typename Epilogue::template State<float>;
    static constexpr std::size_t pair_bytes = 2 * sizeof(State);
    /// Prepared epilogue parameters of two adjacent columns (channels) of the tile, aligned for one access if they have
    /// 8 or 16 bytes.
    struct alignas(pair_bytes == 8 || pair_bytes == 16 ? pair_bytes : alignof(State)) States {
        State of[2];
    };

public:
    struct Shared {
        alignas(1024) unsigned char staged[1][Atom::m * row_bytes];
        States states[Epilogue::channelwise ? tile_n / 2 : 1];
        std::uint64_t read_full;
    };

    /// Initializes the mbarrier in `shared`. One thread calls it before the CTA's other threads use the mbarrier.
    __device__ static void init(Shared& shared) { Staging::init(shared); }

    /// Issues the TMA load of the tile of the tensor that an operator reads, if there is one. Called after store() of
    /// the previous tile, while the first MMAs of this tile run.
    template <class Params, class Tile>
    __device__ static void begin_read(Params const& params, Shared& shared, Tile const& tile, unsigned thread) {
        if constexpr (loads) {
            if (thread != 0) return;
            ptx::tma_load(Staging::address(shared, 0), &params.read.map, Staging::begin_read(shared), tile.box().at);
        }
    }

    /// Prepares the epilogue parameters of 64 channels, from channel `first_n` of y on. Called before the MMAs, which
    /// hide the latency of the loads.
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

    /// Applies the epilogue and stores a tile. `barrier`: number of the warpgroup's named barrier. `count`: number of
    /// tiles that the warpgroup stored before.
    template <class Params, class Problem, class Tile>
    __device__ static void store(Params const& params, Problem const& conv, Shared& shared, Tile const& tile,
                                 typename Atom::Accumulators const& acc, unsigned thread, unsigned barrier,
                                 unsigned count) {
        Staging::template acquire<Epilogue::channelwise>(shared, thread, barrier, count % 2);
        stage(params, conv, shared, tile, acc, thread);
        Staging::publish(barrier);
        if (thread != 0) return;
        ptx::tma_store(&params.maps.y, Staging::address(shared, 0), tile.box().at);
        ptx::bulk_commit_group();
    }

private:
    /// Applies the epilogue and stages the results in SMEM. For a pixel out of bounds of y, operators read the
    /// parameters at the clamped coordinate (TilePixel).
    template <class Params, class Problem, class Tile>
    __device__ static void stage(Params const& params, Problem const& conv, Shared& shared, Tile const& tile,
                                 typename Atom::Accumulators const& acc, unsigned thread) {
        auto const& arguments = params.bound.epilogue;
        int const last_n = conv.group_k() - 1;
        unsigned const lane = thread % 32, row = thread / 32 * 16 + lane % 16;
        TileMaxima<Epilogue::maxima> largest;
        TilePixel pixels[2] = {};
        if constexpr (Epilogue::located && !loads) {
            for (int i = 0; i < 2; ++i) pixels[i] = tile.pixel(conv, Atom::row(static_cast<int>(thread), 2 * i));
        }
        // Returns the packed results of accumulators e and e + 1: adjacent channels of one pixel.
        auto const pair = [&](int e, States const& states, std::uint32_t operand) {
            int const column = tile.n + Atom::column(static_cast<int>(thread), e);
            auto const& [at, in_bounds] = pixels[e / 2 % 2];
            float results[2] = {}, values[2] = {};
            if constexpr (loads) unpack<U>(operand, values);
            for (int i = 0; i < 2; ++i) {
                OutputCoord const coord{at.n, std::int64_t{(min)(column + i, last_n)}, at.p, at.q};
                bool const is_of_y = in_bounds && column + i <= last_n;
                if (!Epilogue::writes || is_of_y)
                    results[i] = Epilogue::apply(static_cast<float>(acc[e + i]),
                                                 Coord(coord, values[i], largest, e / 2 + i, is_of_y),
                                                 Epilogue::channelwise ? states.of[i] : State{}, arguments);
            }
            return packed<U>(results[0], results[1]);
        };
        // SMEM address of 8 channels, from column 2 e on, of the row of accumulator e
        auto const address = [&](int e) {
            auto const chunk = static_cast<unsigned>(2 * e) / 8 + lane / 16;
            return Staging::address(shared, 0) + row * row_bytes + ((chunk ^ row) % 8) * 16;
        };
        auto const states_of = [&](int first) {
            return shared.states[Epilogue::channelwise ? Atom::column(static_cast<int>(thread), first) / 2 : 0];
        };
#pragma unroll
        for (int e = 0; e < Atom::acc_per_thread; e += 8) {
            if (tile.n + 2 * e > last_n) break;  // TMA does not store these 16 channels
            std::uint32_t operands[4] = {}, pairs[4];
            if constexpr (loads) ptx::ldmatrix_x4<false>(address(e), operands);
            States const left = states_of(e), right = states_of(e + 4);
#pragma unroll
            for (int i = 0; i < 4; ++i) pairs[i] = pair(e + 2 * i, i < 2 ? left : right, operands[i]);
            ptx::stmatrix_x4<false>(address(e), pairs);
        }
        largest.keep();
    }
};

}  // namespace fusekit::hip
