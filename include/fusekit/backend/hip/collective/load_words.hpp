// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/async_copy.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/backend/hip/collective/prologue.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// A thread's 16-byte chunks, along GemmK, of an operand tile (Size rows x TileK indices of GemmK). A chunk is held in
/// four registers between global memory and SMEM or, if elements are not converted and the processor has asynchronous
/// copies (arch/async_copy.hpp), copied without registers. The elements of a chunk stay packed in 32-bit words:
/// unpacking them before the loads complete would stall. Padding is loaded from an array of zeros in global memory, so
/// that no load is behind a branch.
template <Element T, int Size, int TileK, int threads, class Convert = NoConversion>
class WordsAlongK : ValidBits<Convert::converts> {
public:
    static constexpr int count = 16 / static_cast<int>(sizeof(T));

    /// `row(i)` returns the RowPointer (global address and padding mask) of row i of the tile. `vectorized`: every
    /// `count` consecutive indices of GemmK, from a multiple of `count` on, are contiguous and aligned in global
    /// memory.
    template <class RowAt>
    __device__ WordsAlongK(unsigned thread, bool the_vectorized, RowAt row)
        : vectorized(the_vectorized), k(thread % packets * count), first(thread / packets) {
#pragma unroll
        for (int i = 0; i < passes; ++i) rows[i] = row(first + static_cast<unsigned>(i * step));
        zeros.keep();
    }

    template <class Tile>
    __device__ void load(KOffset const* offsets, [[maybe_unused]] Tile& tile) {
        this->clear();
        if constexpr (copies)
            if (vectorized) return copy(offsets, tile);
        if (vectorized) {
            KOffset const offset = offsets[k];
#pragma unroll
            for (int i = 0; i < passes; ++i) {
                bool const valid = has(rows[i], offset);
                values[i] = zeros.load_if(valid, reinterpret_cast<Words<4> const*>(rows[i].first + offset.offset));
                this->set(i * count, count, valid);
            }
        } else {
#pragma unroll
            for (int i = 0; i < passes; ++i) values[i] = {};
#pragma unroll
            for (int j = 0; j < count; ++j) {
                KOffset const offset = offsets[k + static_cast<unsigned>(j)];
#pragma unroll
                for (int i = 0; i < passes; ++i) {
                    bool const valid = has(rows[i], offset);
                    put(values[i], j, zeros.load_if(valid, rows[i].first + offset.offset));
                    this->set(i * count + j, 1, valid);
                }
                keep_apart();
            }
        }
    }
    template <class Tile>
    __device__ void store(Tile& tile, Convert const& convert) const {
        if constexpr (!Convert::converts) {
            if (copies && vectorized) return;
#pragma unroll
            for (int i = 0; i < passes; ++i) tile.put_words(k, first + static_cast<unsigned>(i * step), values[i]);
        } else {
            constexpr int per_call = 4;
            // convert all elements before the first store: after a store, the compiler would reload the prologue's
            // parameters
            Words<4> converted[passes] = {};
#pragma unroll
            for (int j = 0; j < count; j += per_call) {
                auto const states = convert.template state_packet<per_call>(k + static_cast<unsigned>(j));
#pragma unroll
                for (int i = 0; i < passes * per_call; ++i) {
                    int const pass = i / per_call, at_k = j + i % per_call;
                    put(converted[pass], at_k,
                        convert.template convert<T>(get(values[pass], at_k), this->is_set(pass * count + at_k),
                                                    states[i % per_call]));
                }
            }
#pragma unroll
            for (int i = 0; i < passes; ++i) tile.put_words(k, first + static_cast<unsigned>(i * step), converted[i]);
        }
    }

private:
    static constexpr bool copies = has_async_copies && !Convert::converts;
    static constexpr int packets = TileK / count, step = threads / packets, passes = Size / step;
    static_assert(packets * count == TileK && threads % packets == 0 && Size % step == 0);
    static constexpr int per_word = 4 / static_cast<int>(sizeof(T)), bits = 32 / per_word;
    using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                    std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>>;

    bool vectorized;
    unsigned k, first;
    Zeros zeros;
    RowPointer<T> rows[passes];
    Words<4> values[passes];

    template <class Tile>
    __device__ void copy(KOffset const* offsets, Tile& tile) const {
        KOffset const offset = offsets[k];
#pragma unroll
        for (int i = 0; i < passes; ++i)
            copy_async<16>(tile.at(k, first + static_cast<unsigned>(i * step)), rows[i].first + offset.offset,
                           has(rows[i], offset));
    }
    __device__ static void put(Words<4>& words, int i, T value) {
        words[i / per_word] |= std::uint32_t{config::bit_cast<Bits>(value)} << (i % per_word * bits);
    }
    __device__ static T get(Words<4> const& words, int i) {
        return config::bit_cast<T>(static_cast<Bits>(words[i / per_word] >> (i % per_word * bits)));
    }
};

}  // namespace fusekit::hip
