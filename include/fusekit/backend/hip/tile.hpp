// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// What a tile holds of an element that is loaded as it is.
struct Widen {
    template <Element T>
    __device__ Accumulator<T> operator()(T value, Row<T> const&, unsigned) const {
        return widened(value);
    }
};

/// A thread's share of a tile of Size rows and TileK indices of GemmK, on its way from memory to shared memory. Rows'
/// elements neighbour along GemmK: channels-last inputs, and filters. A thread takes up to 16 bytes of a row at a
/// time; neighbouring threads complete a line of it. The tile holds convert(value, row, k), k from the tile's first on.
template <Element T, int Size, int TileK, int threads>
class TileAlongK {
public:
    static constexpr int count = smaller(16 / static_cast<int>(sizeof(T)), smaller(TileK, Size* TileK / threads));

    /// `row(i)` is row i of the tile. `packed` says that indices of GemmK neighbour in memory, `count` at a time and
    /// aligned.
    template <class RowAt>
    __device__ TileAlongK(unsigned thread, bool the_packed, RowAt row)
        : packed(the_packed), k(thread % packs * count), first(thread / packs) {
#pragma unroll
        for (int i = 0; i < passes; ++i) rows[i] = row(first + static_cast<unsigned>(i * step));
    }

    template <int Stride>
    __device__ void load(Tap const* taps, Accumulator<T> (&)[TileK][Stride]) {
#pragma unroll
        for (int i = 0; i < passes; ++i) {
            if (packed) {
                values[i] = hip::load<count>(rows[i], taps[k]);
            } else {
#pragma unroll
                for (int j = 0; j < count; ++j)
                    values[i].values[j] = hip::load<1>(rows[i], taps[k + static_cast<unsigned>(j)]).values[0];
            }
        }
    }
    template <int Stride, class Convert>
    __device__ void store(Accumulator<T> (&tile)[TileK][Stride], Convert const& convert) const {
#pragma unroll
        for (int i = 0; i < passes; ++i)
#pragma unroll
            for (unsigned j = 0; j < count; ++j)
                tile[k + j][first + static_cast<unsigned>(i * step)] = convert(values[i].values[j], rows[i], k + j);
    }

private:
    static constexpr int packs = TileK / count, step = threads / packs, passes = Size / step;
    static_assert(packs * count == TileK && threads % packs == 0 && Size % step == 0);

    bool packed;
    unsigned k, first;
    Row<T> rows[passes];
    Packet<T, count> values[passes];
};

/// The same where elements neighbour along the rows: inputs with channels before space. Neighbouring threads take
/// neighbouring pixels: one at a time, or, where windows are single pixels and Params say that they lie so, a pack.
/// Packs of floats that are not converted are copied to shared memory without a stop in registers, where the processor
/// can.
template <Element T, int Size, int TileK, int threads, bool may_be_packed, bool is_converted>
class TileAlongRows {
    static constexpr int share = Size * TileK / threads;
    static_assert(threads % Size == 0 && share * threads == Size * TileK);

public:
    static constexpr int count = smaller(16 / static_cast<int>(sizeof(T)), share);
    static_assert(count % 4 == 0);

    template <class RowAt>
    __device__ TileAlongRows(unsigned thread, bool the_packed, RowAt row_at)
        : packed(may_be_packed && the_packed),
          k(this->packed ? thread / (Size / count) * (share / count) : thread / Size * share),
          index(this->packed ? thread % (Size / count) * count : thread % Size),
          row(row_at(index)) {}

    template <int Stride>
    __device__ void load(Tap const* taps, Accumulator<T> (&tile)[TileK][Stride]) {
        if (!packed) {
            load_to_registers<1>(taps);
        } else if constexpr (copies) {
#pragma unroll
            for (unsigned i = 0; i < share / count; ++i) hip::copy<count>(row, taps[k + i], &tile[k + i][index]);
        } else {
            load_to_registers<count>(taps);
        }
    }
    template <int Stride, class Convert>
    __device__ void store(Accumulator<T> (&tile)[TileK][Stride], Convert const& convert) const {
        if (!packed) {
#pragma unroll
            for (unsigned i = 0; i < share; ++i) tile[k + i][index] = convert(values[i], row, k + i);
        } else if constexpr (copies) {
            wait_for_copies();
        } else {
#pragma unroll
            for (unsigned i = 0; i < share; i += 4) {
                unsigned const at = k + i / count;
                *reinterpret_cast<Packet<Accumulator<T>, 4>*>(&tile[at][index + i % count]) = {
                    {convert(values[i], row, at), convert(values[i + 1], row, at), convert(values[i + 2], row, at),
                     convert(values[i + 3], row, at)}};
            }
        }
    }

private:
    static constexpr bool copies = has_async_copies && std::is_same_v<T, float> && !is_converted;

    bool packed;
    unsigned k, index;
    Row<T> row;
    T values[share];

    template <int Count>
    __device__ void load_to_registers(Tap const* taps) {
#pragma unroll
        for (int i = 0; i < share / Count; ++i) {
            auto const pack = hip::load<Count>(row, taps[k + static_cast<unsigned>(i)]);
#pragma unroll
            for (int j = 0; j < Count; ++j) values[i * Count + j] = pack.values[j];
        }
    }
};

}  // namespace fusekit::hip
