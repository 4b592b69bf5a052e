// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/collective/prologue.hpp"
#include "fusekit/backend/hip/copy/fast_prologue.hpp"
#include "fusekit/backend/hip/copy/strip_halo.hpp"
#include "fusekit/backend/hip/pipeline/named_barrier.hpp"

namespace fusekit::hip {

/// Loads StripHaloGemm's tiles of x and applies the plan's prologue to them, in place in SMEM, before the MMAs that
/// read them for all taps. The three warps that are not the filters' producer load and process every stage once: a
/// stage's load and prologue take less time than the other stage's MMAs. Padding and channels past x's last one stay
/// zero. A thread has 8 channels of a pixel at a time, always the same 8 of a stage's 64.
template <class Prologue, class T, int stages, int max_channels>
class StripPrologue {
    static constexpr int packet = 8, packets = HaloStripShape::channels / packet, words = packet / 2;
    static constexpr int line = HaloStripShape::row_bytes;  ///< bytes of a pixel
    using Pairs = Packet<std::uint32_t, words>;

public:
    static constexpr int warps = 3, threads = 32 * warps;
    static constexpr unsigned barrier_number = 14;

    struct Shared {
        PrologueStates<Prologue, max_channels> states;
        TmaStages<stages> applied;  ///< completes when all warps have processed a stage

        __device__ void init() { applied.init(warps); }
    };

    /// Loads and processes all tiles of CTA number `block`. `thread`: from 0 to threads - 1. `of_kernel`: SMEM of the
    /// kernel.
    template <class Params, class Problem, class KernelShared>
    __device__ static void run(Params const& params, Problem const& conv, KernelShared& of_kernel, Shared& shared,
                               unsigned thread, unsigned block) {
        bool const loads = ptx::warp_uniform(thread / 32) == 0 && ptx::elect_sync();
        HaloStrips const& strips = params.halo_strips;
        if constexpr (Prologue::channelwise) {
            for (unsigned k = thread; k < static_cast<unsigned>(conv.group_c()); k += threads)
                shared.states.put(
                    k, FastPrologue<Prologue>::prepared(Prologue::prepare(std::int64_t{k}, params.bound.prologue)));
            NamedBarrier<barrier_number, threads>{}();
        }
        typename decltype(of_kernel.x_pipeline)::State state;
        for (unsigned tile = block; tile < strips.tiles; tile += gridDim.x) {
            StripTile const of_y(strips, tile);
            for (int channel = 0; channel < conv.group_c(); channel += HaloStripShape::channels) {
                if (loads) load_halo_strip(params, of_kernel, of_y, channel, state);
                ptx::bar_warp_sync();
                of_kernel.x_pipeline.consumer_wait(state);
                int const own = channel + static_cast<int>(thread % packets) * packet;
                unsigned char* const tile_of_x =
                    of_kernel.operands + static_cast<int>(state.stage) * strips.shape.bytes_of_x();
                if (own < conv.group_c()) apply(params, conv, shared, of_y, own, thread, tile_of_x);
                ptx::fence_proxy_async();
                ptx::bar_warp_sync();
                if (thread % 32 == 0) shared.applied.producer_commit(state.stage);
                state.advance();
            }
        }
    }

private:
    /// Applies the prologue to channels `own` to `own` + 7 of the thread's pixels of the tile of x at `tile`.
    template <class Params, class Problem>
    __device__ static void apply(Params const& params, Problem const& conv, Shared const& shared, StripTile const& of_y,
                                 int own, unsigned thread, unsigned char* tile) {
        HaloStrips const& strips = params.halo_strips;
        Index<4> const& of_x = params.x.layout.shape;
        int const left = of_y.column - strips.left, pixels = strips.rows_of_x * strips.pitch;
        auto const low = shared.states.template state_packet<4>(static_cast<unsigned>(own)),
                   high = shared.states.template state_packet<4>(static_cast<unsigned>(own) + 4);
        unsigned const first_line = ptx::shared_address(tile) / line;
        constexpr int step = threads / packets;
        int pixel = static_cast<int>(thread / packets), row = pixel / strips.pitch, column = pixel % strips.pitch;
        int const rows_of_step = step / strips.pitch, columns_of_step = step % strips.pitch, first = pixel;
        // Both packets are loaded before the arithmetic: one at a time takes 1.1 to 1.2 of the time, four take as long.
        constexpr int at_once = 2;
#pragma unroll 1
        while (pixel < pixels) {
            Pairs pairs[at_once];
            Pairs* memory[at_once];
            bool in_bounds[at_once];
#pragma unroll
            for (int u = 0; u < at_once; ++u) {
                StripRow const at(strips, of_y.row + static_cast<unsigned>(row));
                in_bounds[u] =
                    pixel < pixels && at.image < conv.extent(of_x, 0) &&
                    static_cast<unsigned>(at.row - strips.top) < static_cast<unsigned>(conv.extent(of_x, 2)) &&
                    static_cast<unsigned>(left + column) < static_cast<unsigned>(conv.extent(of_x, 3));
                int const loaded = pixel < pixels ? pixel : first;
                // TMA's swizzle: bits 4 to 6 of an address are those of the 16-byte chunk XOR bits 7 to 9
                unsigned const chunk = thread % packets ^ (first_line + static_cast<unsigned>(loaded)) % packets;
                memory[u] = reinterpret_cast<Pairs*>(tile + loaded * line + static_cast<int>(chunk * sizeof(Pairs)));
                pairs[u] = *memory[u];
                pixel += step;
                row += rows_of_step, column += columns_of_step;
                if (column >= strips.pitch) column -= strips.pitch, ++row;
            }
#pragma unroll
            for (int i = 0; i < words; ++i)
#pragma unroll
                for (Pairs& held : pairs) {
                    float values[2];
                    unpack<T>(held.values[i], values);
#pragma unroll
                    for (int j = 0; j < 2; ++j) {
                        int const e = 2 * i + j;
                        values[j] = FastPrologue<Prologue>::apply(values[j], e < 4 ? low[e] : high[e - 4],
                                                                  params.bound.prologue);
                    }
                    held.values[i] = packed<T>(values[0], values[1]);
                }
#pragma unroll
            for (int u = 0; u < at_once; ++u)
                if (in_bounds[u]) *memory[u] = pairs[u];
        }
    }
};

/// StripPrologue of a plan without a prologue: no SMEM, no members to call.
template <class T, int stages, int max_channels>
class StripPrologue<detail::Epilogue<>, T, stages, max_channels> {
public:
    struct Shared {
        __device__ void init() {}
    };
};

}  // namespace fusekit::hip
