// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/epilogue/accumulator_coord.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// All 8-pixel blocks of an output tile, for TmaStage.
struct AllBlocks {
    static constexpr bool has(int) { return true; }
};
/// 8-pixel blocks [first, first + count) of an output tile.
struct BlockRange {
    int first, count;

    __device__ bool has(int block) const { return block >= first && block < first + count; }
};

/// Applies the epilogue to a warpgroup's accumulators of 64 channels x Atom::n pixels and stages the results in SMEM
/// for a TMA store. A thread has two channels, whose prepared parameters (State) are in its registers. The two channels
/// are 8 apart or, for 8-bit results, adjacent, because TMA loads even and odd filters separately (pairs_filters).
/// `loads`: true if TMA has loaded the tensor of y's shape that an operator reads.
template <class Plan, class Atom, class T, class U, bool loads = reads_in_bulk<Plan, T, U>>
class TmaStage {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Args = typename Epilogue::Args;
    using Accumulators = typename Atom::Accumulators;
    static constexpr bool in_bytes = pairs_filters<U>;
    /// 8-pixel blocks of the tile, and blocks per stmatrix store
    static constexpr int blocks = Atom::n / 8, blocks_per_store = in_bytes ? 4 : 2;
    static constexpr int maxima = Epilogue::maxima;
    static_assert(!loads || (maxima == 0 && !in_bytes));

public:
    static constexpr bool reads_coord = (Epilogue::reads_image && !loads) || Epilogue::per_pixel;
    /// bytes of a staged pixel (a row), and of all staged pixels
    static constexpr int row_bytes = Atom::m * static_cast<int>(sizeof(U)), bytes = Atom::n * row_bytes;

    FUSEKIT_H TmaStage() = default;
    /// Prepares the parameters of the thread's two channels, among the 64 from channel `the_first` of y on. A channel
    /// out of bounds of y gets the parameters of y's last channel, `channels` - 1. Channels before `the_begin` are out
    /// of bounds, too: those of another group.
    __device__ TmaStage(Args const& arguments, int the_first, int channels, unsigned the_thread, int the_begin = 0)
        : thread(the_thread), first(the_first), count(channels), begin(the_begin) {
        if constexpr (Epilogue::channelwise) {
            for (int own = 0; own < 2; ++own)
                states[own] = Epilogue::prepare(std::int64_t{(min)(channel(own), count - 1)}, arguments);
        }
    }

    /// Applies the epilogue and stores the results at the SMEM address `staged`: swizzled rows, each with the 64
    /// channels of a pixel. pixel_of(i), called with increasing i, returns the pixel of y of row i; its n is -1 out of
    /// bounds. `pixels`: number of pixels in bounds, which are the first rows; 0 if unknown. If an operator reads a
    /// tensor of y's shape, TMA must have loaded its tile to `staged` before. The values that a statistics operator
    /// receives replace the accumulators in `acc`. Only `blocks_of_tile` are computed; with other blocks beside them in
    /// a store, these are undefined.
    template <class PixelOf, class Blocks = AllBlocks>
    __device__ void stage(Accumulators& acc, std::uint32_t staged, Args const& arguments, [[maybe_unused]] int pixels,
                          PixelOf&& pixel_of, Blocks const& blocks_of_tile = {}) const {
        if constexpr (maxima > 0 && !reads_coord)
            if (pixels >= Atom::n && first + Atom::m <= count)
                return stage_tile<true>(acc, staged, arguments, [](int) { return Pixel{}; }, blocks_of_tile);
        stage_tile<false>(acc, staged, arguments, pixel_of, blocks_of_tile);
    }

    /// Byte offset, in a staged pixel's row, of its 16-byte chunk `chunk`.
    FUSEKIT_HD static constexpr int chunk_offset(int chunk, int pixel) {
        return static_cast<int>(swizzled(static_cast<unsigned>(chunk), static_cast<unsigned>(pixel))) * 16;
    }

private:
    static constexpr bool needs_coord = reads_coord || maxima > 0;
    unsigned thread = 0;
    int first = 0, count = 0;
    [[maybe_unused]] int begin = 0;
    State states[Epilogue::channelwise ? 2 : 1];

    /// Applies the epilogue and stages the results, for stage(). `is_whole`: true if all pixels and channels of the
    /// tile are in bounds of y, so that no bounds are checked.
    template <bool is_whole, class PixelOf, class Blocks>
    __device__ void stage_tile(Accumulators& acc, std::uint32_t staged, Args const& arguments, PixelOf&& pixel_of,
                               Blocks const& blocks_of_tile) const {
        constexpr int last = blocks - 1, own_words = 4 / blocks_per_store;
        TileMaxima<maxima> largest;
        unsigned const lane = thread % 32, own_block = lane / (32 / blocks_per_store);
        // index of the thread's 16-byte chunk in a pixel's row
        unsigned const chunk = in_bytes ? thread / 32 : thread / 32 * 2 + lane / 8 % 2;
#pragma unroll
        for (int block = 0; block < blocks; block += blocks_per_store) {
            bool any = false;
#pragma unroll
            for (int i = 0; i < blocks_per_store; ++i) any = any || blocks_of_tile.has(block + i);
            if (!any) continue;
            // if the last store has fewer blocks, it repeats the last block
            int const stored = (min)(block + static_cast<int>(own_block), last);
            unsigned const pixel = 8 * static_cast<unsigned>(stored) + lane % 8;
            auto const address = staged + pixel * row_bytes + swizzled(chunk, pixel) * 16;
            std::uint32_t words[4] = {};
            if constexpr (loads) ptx::ldmatrix_x4<true>(address, words);
#pragma unroll
            for (int i = 0; i < blocks_per_store; ++i) {
                if (!blocks_of_tile.has((min)(block + i, last))) continue;
                Pixel pixels[2] = {};
                if (needs_coord && block + i <= last)
                    for (int j = 0; j < 2; ++j)
                        pixels[j] = pixel_of(Atom::column(static_cast<int>(thread), 4 * (block + i) + j));
#pragma unroll
                for (int own = 0; own < own_words; ++own) {
                    std::uint32_t& each = words[i * own_words + own];
                    if (block + i > last) each = words[(i - 1) * own_words + own];
                    else each = word<is_whole>(acc, block + i, own, each, arguments, largest, pixels);
                }
            }
            ptx::stmatrix_x4<true>(address, words);
        }
        largest.keep();
    }

    __device__ int channel(int own) const {
        auto const of_thread = static_cast<int>(thread);
        return first + (in_bytes ? of_thread / 4 * 2 + own : Atom::row(of_thread, 2 * own));
    }
    FUSEKIT_HD static constexpr unsigned swizzled(unsigned chunk, unsigned pixel) {
        return in_bytes ? (chunk ^ pixel / 2) % 4 : (chunk ^ pixel) % 8;
    }

    /// Returns a 32-bit word of results for two adjacent pixels of 8-pixel block `block`: two 16-bit results of the
    /// thread's channel number `own` or, for 8-bit results, four of both its channels. `operand`: the elements of the
    /// loaded tensor at these positions.
    template <bool is_whole>
    __device__ std::uint32_t word(Accumulators& acc, int block, int own, [[maybe_unused]] std::uint32_t operand,
                                  Args const& arguments, TileMaxima<maxima>& largest, Pixel const (&pixels)[2]) const {
        float values[2] = {};
        if constexpr (loads) unpack<U>(operand, values);
        auto const result = [&](int at_own, int i) {
            int const e = 4 * block + 2 * at_own + i;
            Pixel const& at = pixels[i];
            bool const is_of_y = is_whole || (at.n >= 0 && channel(at_own) < count &&
                                              (!Plan::Head::may_be_grouped || channel(at_own) >= begin));
            OutputCoord const coord{at.n, channel(at_own), at.p, at.q};
            if (reads_coord && !is_of_y) return 0.0f;
            return Epilogue::apply(static_cast<float>(acc[e]),
                                   AccumulatorCoord<loads, maxima>(coord, values[i], largest, e, is_of_y),
                                   Epilogue::channelwise ? states[at_own] : State{}, arguments,
                                   [&](float collected) { acc[e] = static_cast<typename Atom::Acc>(collected); });
        };
        if constexpr (in_bytes) return packed_bytes<U>({result(0, 0), result(1, 0), result(0, 1), result(1, 1)});
        else return packed<U>(result(own, 0), result(own, 1));
    }
};

}  // namespace fusekit::hip
