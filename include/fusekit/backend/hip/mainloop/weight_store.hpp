// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_params.hpp"
#include "fusekit/backend/hip/schedule/bulk_weights.hpp"

namespace fusekit::hip {

/// True if store_weights() stores elements of type U. fits_weight_store(): true if it can store dw, whose vectors of 8
/// channels are aligned.
template <class U>
inline constexpr bool has_weight_store = false;
template <Element U>
inline constexpr bool has_weight_store<U> = sizeof(U) == 2;
template <class U>
FUSEKIT_H bool fits_weight_store([[maybe_unused]] TensorView<U> const& dw) {
    if constexpr (has_weight_store<U>) return problem::vectorizable(dw, 8, 1);
    else return false;
}

/// Coordinate in dw of a block of 64 columns: of channel c on at tap (r, s); channels at `end` and later are omitted.
struct WeightBlock {
    int c, r, s, end;
};

/// Stores a warpgroup's accumulators, 64 channels of y from k on x blocks of 64 columns at block_of(number), from
/// registers. Filters at `end` and later are omitted. The four lanes that have the same rows exchange their pairs of
/// columns, so that each stores 8 adjacent channels. Precondition: fits_weight_store().
template <class Atom, class Params, class BlockOf>
__device__ void store_weights(Params const& params, typename Atom::Accumulators const& acc, int k, int end,
                              unsigned thread, BlockOf const& block_of) {
    using U = std::remove_reference_t<decltype(params.y(0, 0, 0, 0))>;
    auto const own = static_cast<int>(thread);
#pragma unroll
    for (int number = 0; number < Atom::n / weight_block; ++number) {
        WeightBlock const block = block_of(number);
#pragma unroll
        for (int half_row = 0; half_row < 2; ++half_row) {
            int const row = k + Atom::row(own, 2 * half_row);
#pragma unroll
            for (int part = 0; part < weight_block / 32; ++part) {
                std::uint32_t words[4];
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    int const e = number * weight_block / 2 + part * 16 + 4 * i + 2 * half_row,
                              c = block.c + Atom::column(own, e) % weight_block;
                    words[i] = 0;
                    if (row < end && c < block.end)  // operators may read tensors there
                        words[i] = packed<U>(params.result(acc[e], {row, c, block.r, block.s}),
                                             params.result(acc[e + 1], {row, c + 1, block.r, block.s}));
                }
                transpose_in_quad(words, thread % 4);
                int const c = block.c + part * 32 + own % 4 * 8;
                if (row < end && c < block.end)
                    *reinterpret_cast<Packet<std::uint32_t, 4>*>(&params.y(row, c, block.r, block.s)) = {
                        {words[0], words[1], words[2], words[3]}};
            }
        }
    }
}

/// Stores the accumulators of 64-row block number `of` of a WeightTile, and those of its column of ones to the bias
/// gradient.
template <class Atom, class Params, class Problem, class Tile>
__device__ void store_weight_tile(Params const& params, Problem const& conv, Tile const& tile,
                                  typename Atom::Accumulators const& acc, int of, unsigned thread) {
    int const k = tile.first_k + of * weight_block;
    store_weights<Atom>(params, acc, k, tile.end_k, thread, [&](int number) {
        int const block = tile.first_block + number, tap = block / tile.channel_blocks, r = tap / conv.window_columns();
        return WeightBlock{block % tile.channel_blocks * weight_block, r, tap - r * conv.window_columns(),
                           block < tile.blocks ? conv.group_c() : 0};
    });
    if (!tile.has_ones || thread % 4 != 0) return;
#pragma unroll
    for (int number = 0; number < Atom::n / weight_block; ++number)
#pragma unroll
        for (int e = 0; e < 4; e += 2)
            if (int const row = k + Atom::row(static_cast<int>(thread), e);
                tile.first_block + number == tile.blocks && row < tile.end_k)
                params.store_bias(acc[number * (weight_block / 2) + e], row);
}

}  // namespace fusekit::hip
