// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/epilogue/tma_stage.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// Pairs of 8-pixel blocks of an accumulator tile that are the two rows of 2 x 2 windows. RowsInHalves: the first half
/// of the tile has pixels of even rows, the second half those below them. AlternatingRows: each block is a row of 8
/// columns.
struct RowsInHalves {
    FUSEKIT_HD static constexpr int upper(int pair, int) { return pair; }
    FUSEKIT_HD static constexpr int lower(int pair, int pairs) { return pairs + pair; }
};
struct AlternatingRows {
    FUSEKIT_HD static constexpr int upper(int pair, int) { return 2 * pair; }
    FUSEKIT_HD static constexpr int lower(int pair, int) { return 2 * pair + 1; }
};

/// Argument of PoolStage::stage() for pools that write no taps.
struct IgnoresTap {
    __device__ void operator()(int, int, int) const {}
};

/// Applies the epilogue to a warpgroup's accumulators of 64 channels x Atom::n pixels, reduces each 2 x 2 window to one
/// result and stages the results in SMEM for a TMA store. All four accumulators of a window are in one thread: Pairs
/// has the blocks of its two rows, and a thread's two pixels of a block are its two columns. TmaStage for plans that
/// pool; their epilogue depends on channels alone.
template <class Plan, class Atom, class U, class Pairs>
class PoolStage {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Args = typename Epilogue::Args;
    static constexpr int pairs = Atom::n / 16;  ///< of 8-pixel blocks; each has 4 windows
    static constexpr int pairs_per_store = 4;
    static_assert(sizeof(U) == 2 && Atom::n % 16 == 0);

public:
    static constexpr bool reads_coord = false;
    /// bytes of a staged result (a row), and of all staged results
    static constexpr int row_bytes = Atom::m * static_cast<int>(sizeof(U)), bytes = Atom::n / 4 * row_bytes;

    FUSEKIT_H PoolStage() = default;
    /// Prepares the parameters of the thread's two channels, among the 64 from channel `the_first` of y on. A channel
    /// out of bounds of y gets the parameters of y's last channel, `channels` - 1.
    __device__ PoolStage(Args const& arguments, int the_first, int channels, unsigned the_thread)
        : thread(the_thread), first(the_first) {
        if constexpr (Epilogue::channelwise) {
            for (int own = 0; own < 2; ++own)
                states[own] = Epilogue::prepare(std::int64_t{(min)(channel(own), channels - 1)}, arguments);
        }
    }

    /// Stores the results at the SMEM address `staged`: swizzled rows, each with the 64 channels of a window. Window
    /// 4 i + j has columns 2 j and 2 j + 1 of pair i of blocks. Calls store_tap(window, channel, tap) for each result
    /// of the thread, if the pool writes taps.
    template <class StoreTap = IgnoresTap>
    __device__ void stage(typename Atom::Accumulators const& acc, std::uint32_t staged, Args const& arguments,
                          StoreTap const& store_tap = {}) const {
        constexpr int last = pairs - 1;
        int const lane = static_cast<int>(thread % 32);
        // index of the thread's 16-byte chunk in a window's row
        int const chunk = static_cast<int>(thread / 32) * 2 + lane / 8 % 2;
#pragma unroll
        for (int pair = 0; pair < pairs; pair += pairs_per_store) {
            // stmatrix stores the windows of pairs i and i + 1 in turn; past the last pair, it repeats the last
            int const stored = (min)(pair + lane / 16 * 2 + lane % 2, last), window = 4 * stored + lane % 8 / 2;
            std::uint32_t words[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                float results[2];
#pragma unroll
                for (int j = 0; j < 2; ++j) {
                    int const of = (min)(pair + i / 2 * 2 + j, last);
                    auto const total = pooled(acc, of, i % 2, arguments);
                    results[j] = total.finish(4);
                    if constexpr (Plan::Pool::writes_taps) store_tap(4 * of + lane % 4, channel(i % 2), total.tap);
                }
                words[i] = packed<U>(results[0], results[1]);
            }
            ptx::stmatrix_x4<true>(
                staged + static_cast<std::uint32_t>(window * row_bytes + chunk_offset(chunk, window)), words);
        }
    }

    /// Byte offset, in a staged window's row, of its 16-byte chunk `chunk`.
    FUSEKIT_HD static constexpr int chunk_offset(int chunk, int window) { return (chunk ^ window) % 8 * 16; }

private:
    unsigned thread = 0;
    int first = 0;
    State states[Epilogue::channelwise ? 2 : 1];

    __device__ int channel(int own) const { return first + Atom::row(static_cast<int>(thread), 2 * own); }

    /// Total of the thread's window in a pair of blocks, for its channel number `own`: the epilogue's values, row by
    /// row.
    __device__ detail::WindowTotal<typename Plan::Pool::Reduce> pooled(typename Atom::Accumulators const& acc, int pair,
                                                                       int own, Args const& arguments) const {
        ThreadCoord const at({0, channel(own), 0, 0});
        detail::WindowTotal<typename Plan::Pool::Reduce> total;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            int const block = i < 2 ? Pairs::upper(pair, pairs) : Pairs::lower(pair, pairs);
            float const sum = static_cast<float>(acc[4 * block + 2 * own + i % 2]);
            total.add(Epilogue::apply(sum, at, Epilogue::channelwise ? states[own] : State{}, arguments), i);
        }
        return total;
    }
};

/// Type: TmaStage or, for plans that pool, PoolStage.
template <class Plan, class Atom, class T, class U, class Pairs>
struct StageOf {
    using Type = TmaStage<Plan, Atom, T, U>;
};
template <class Plan, class Atom, class T, class U, class Pairs>
    requires(Plan::pools)
struct StageOf<Plan, Atom, T, U, Pairs> {
    using Type = PoolStage<Plan, Atom, U, Pairs>;
};

}  // namespace fusekit::hip
