// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// What a tile holds of an element that is loaded as it is.
struct Widen {
    template <Element T>
    __device__ AccumulatorOf<T> operator()(T value, RowPointer<T> const&, unsigned) const {
        return widened(value);
    }
};

/// A thread's share of a tile of Size rows and TileK indices of GemmK, on its way from memory to shared memory. Rows'
/// elements neighbour along GemmK: channels-last inputs, and filters. A thread takes up to 16 bytes of a row at a
/// time; neighbouring threads complete a line of it. The tile holds convert(value, row, k), k from the tile's first on.
template <Element T, int Size, int TileK, int threads>
class TileAlongK {
public:
    static constexpr int count = min(16 / static_cast<int>(sizeof(T)), min(TileK, Size* TileK / threads));

    /// `row(i)` is row i of the tile. `vectorized` says that indices of GemmK neighbour in memory, `count` at a time
    /// and aligned.
    template <class RowAt>
    __device__ TileAlongK(unsigned thread, bool the_vectorized, RowAt row)
        : vectorized(the_vectorized), k(thread % packets * count), first(thread / packets) {
#pragma unroll
        for (int i = 0; i < passes; ++i) rows[i] = row(first + static_cast<unsigned>(i * step));
    }

    template <int Stride>
    __device__ void load(KOffset const* offsets, AccumulatorOf<T> (&)[TileK][Stride]) {
#pragma unroll
        for (int i = 0; i < passes; ++i) {
            if (vectorized) {
                values[i] = hip::load<count>(rows[i], offsets[k]);
            } else {
#pragma unroll
                for (int j = 0; j < count; ++j)
                    values[i].values[j] = hip::load<1>(rows[i], offsets[k + static_cast<unsigned>(j)]).values[0];
            }
        }
    }
    template <int Stride, class Convert>
    __device__ void store(AccumulatorOf<T> (&tile)[TileK][Stride], Convert const& convert) const {
#pragma unroll
        for (int i = 0; i < passes; ++i)
#pragma unroll
            for (unsigned j = 0; j < count; ++j)
                tile[k + j][first + static_cast<unsigned>(i * step)] = convert(values[i].values[j], rows[i], k + j);
    }

private:
    static constexpr int packets = TileK / count, step = threads / packets, passes = Size / step;
    static_assert(packets * count == TileK && threads % packets == 0 && Size % step == 0);

    bool vectorized;
    unsigned k, first;
    RowPointer<T> rows[passes];
    Packet<T, count> values[passes];
};

/// The same where elements neighbour along the rows: inputs with channels before space. Neighbouring threads take
/// neighbouring pixels: one at a time, or, where windows are single pixels and Params say that they lie so, a packet.
/// Packets of floats that are not converted are copied to shared memory without a stop in registers, where the
/// processor can.
template <Element T, int Size, int TileK, int threads, bool may_be_vectorized, bool is_converted>
class TileAlongRows {
    static constexpr int share = Size * TileK / threads;
    static_assert(threads % Size == 0 && share * threads == Size * TileK);

public:
    static constexpr int count = min(16 / static_cast<int>(sizeof(T)), share);
    static_assert(count % 4 == 0);

    template <class RowAt>
    __device__ TileAlongRows(unsigned thread, bool the_vectorized, RowAt row_at)
        : vectorized(may_be_vectorized && the_vectorized),
          k(this->vectorized ? thread / (Size / count) * (share / count) : thread / Size * share),
          index(this->vectorized ? thread % (Size / count) * count : thread % Size),
          row(row_at(index)) {}

    template <int Stride>
    __device__ void load(KOffset const* offsets, AccumulatorOf<T> (&tile)[TileK][Stride]) {
        if (!vectorized) {
            load_to_registers<1>(offsets);
        } else if constexpr (copies) {
#pragma unroll
            for (unsigned i = 0; i < share / count; ++i) hip::copy<count>(row, offsets[k + i], &tile[k + i][index]);
        } else {
            load_to_registers<count>(offsets);
        }
    }
    template <int Stride, class Convert>
    __device__ void store(AccumulatorOf<T> (&tile)[TileK][Stride], Convert const& convert) const {
        if (!vectorized) {
#pragma unroll
            for (unsigned i = 0; i < share; ++i) tile[k + i][index] = convert(values[i], row, k + i);
        } else if constexpr (copies) {
            wait_for_copies();
        } else {
#pragma unroll
            for (unsigned i = 0; i < share; i += 4) {
                unsigned const at = k + i / count;
                *reinterpret_cast<Packet<AccumulatorOf<T>, 4>*>(&tile[at][index + i % count]) = {
                    {convert(values[i], row, at), convert(values[i + 1], row, at), convert(values[i + 2], row, at),
                     convert(values[i + 3], row, at)}};
            }
        }
    }

private:
    static constexpr bool copies = has_async_copies && std::is_same_v<T, float> && !is_converted;

    bool vectorized;
    unsigned k, index;
    RowPointer<T> row;
    T values[share];

    template <int Count>
    __device__ void load_to_registers(KOffset const* offsets) {
#pragma unroll
        for (int i = 0; i < share / Count; ++i) {
            auto const packet = hip::load<Count>(row, offsets[k + static_cast<unsigned>(i)]);
#pragma unroll
            for (int j = 0; j < Count; ++j) values[i * Count + j] = packet.values[j];
        }
    }
};

}  // namespace fusekit::hip
