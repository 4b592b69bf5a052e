// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/mma/gemm.hpp"

namespace fusekit::hip::mma {

/// Products of a convolution's taps with a tile of x in SMEM, halo included, whose rows are `pitch` pixels apart. Atom
/// multiplies 64 filters with all pixels of the tile, HalfAtom with half of them.
template <class Atom, class HalfAtom>
struct HaloTaps {
    using Accumulators = typename Atom::Accumulators;

    /// SMEM descriptors of one tap's operands: the tap's filters, and the tile of x (with halo) at the tap's offset.
    struct Tap {
        std::uint64_t filters, x;
        int column = 0;

        __device__ void advance(int window_columns, int pitch) {
            filters += Atom::row_offset(Atom::m);
            bool const ends_row = ++column == window_columns;
            x += Atom::row_offset(ends_row ? pitch - column + 1 : 1);
            if (ends_row) column = 0;
        }
    };

    /// Issues the MMAs of a tap, over its first `k_blocks` k-blocks.
    template <class TileAtom>
    __device__ static void multiply(std::uint64_t filters, std::uint64_t x, typename TileAtom::Accumulators& acc,
                                    bool accumulate, unsigned k_blocks) {
        OperandA<TileAtom> const a{filters};  // (64, C), swizzled: one tap's filters
        OperandB<TileAtom> const b{x};  // (PIXELS, C), swizzled: x at the tap's offset
        gemm_first<TileAtom>(acc, a, b, accumulate, k_blocks);  // (64, PIXELS) += over C
    }

    /// Sets `acc` to the promoted sum of `taps` taps, from `tap` on. Every two taps accumulate from zero and are then
    /// promoted, while the other warpgroup's MMAs run: first for one half of the pixels and then for the other, because
    /// registers hold no second accumulator for all pixels. `k_blocks`: k-blocks of a tap that have channels of x.
    __device__ static void sum_promoted(Tap tap, int taps, int window_columns, int pitch, unsigned k_blocks,
                                        Accumulators& acc) {
        clear(acc);
#pragma unroll 1
        for (int remaining = taps; remaining > 0; remaining -= 2) {
            Tap next = tap;
            next.advance(window_columns, pitch);
            add_products<0>(tap, next, remaining > 1, k_blocks, acc);
            add_products<1>(tap, next, remaining > 1, k_blocks, acc);
            tap = next;
            tap.advance(window_columns, pitch);
        }
    }

private:
    template <int half_of_tile>
    __device__ static void add_products(Tap const& tap, Tap const& next, bool has_next, unsigned k_blocks,
                                        Accumulators& acc) {
        constexpr int count = HalfAtom::acc_per_thread;
        constexpr std::uint64_t half_offset = HalfAtom::row_offset(half_of_tile * HalfAtom::n);
        typename HalfAtom::Accumulators of_taps;
        multiply<HalfAtom>(tap.filters, tap.x + half_offset, of_taps, false, k_blocks);
        if (has_next) multiply<HalfAtom>(next.filters, next.x + half_offset, of_taps, true, k_blocks);
        wait(of_taps);
#pragma unroll
        for (int e = 0; e < count; ++e) acc[half_of_tile * count + e] += of_taps[e];
    }
};

}  // namespace fusekit::hip::mma
