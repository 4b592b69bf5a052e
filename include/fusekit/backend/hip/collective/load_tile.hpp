// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/collective/prologue.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// A thread's elements of an operand tile (Size rows x TileK indices of GemmK), held in registers between the load from
/// global memory and the store to SMEM. For operands that are contiguous along GemmK: channels-last x, and filters. A
/// thread loads up to 16 bytes of a row; consecutive threads load consecutive bytes. store() writes elements in the
/// type that the MMA atom multiplies: unchanged, or converted by Convert.
template <Element T, int Size, int TileK, int threads, class Convert = NoConversion>
class TileAlongK : ValidBits<Convert::converts> {
public:
    static constexpr int count = (min)(16 / static_cast<int>(sizeof(T)), (min)(TileK, Size* TileK / threads));

    /// `row(i)` returns the RowPointer (global address and padding mask) of row i of the tile. `vectorized`: every
    /// `count` consecutive indices of GemmK, from a multiple of `count` on, are contiguous and aligned in global
    /// memory.
    template <class RowAt>
    __device__ TileAlongK(unsigned thread, bool the_vectorized, RowAt row)
        : vectorized(the_vectorized), k(thread % packets * count), first(thread / packets) {
#pragma unroll
        for (int i = 0; i < passes; ++i) rows[i] = row(first + static_cast<unsigned>(i * step));
    }

    template <class Tile>
    __device__ void load(KOffset const* offsets, Tile&) {
        this->clear();
        if (vectorized) {
            KOffset const offset = offsets[k];
#pragma unroll
            for (int i = 0; i < passes; ++i) {
                values[i] = hip::load<count>(rows[i], offset);
                this->set(i * count, count, has(rows[i], offset));
            }
        } else {
#pragma unroll
            for (int j = 0; j < count; ++j) {
                KOffset const offset = offsets[k + static_cast<unsigned>(j)];
#pragma unroll
                for (int i = 0; i < passes; ++i) {
                    values[i].values[j] = hip::load<1>(rows[i], offset).values[0];
                    this->set(i * count + j, 1, has(rows[i], offset));
                }
            }
        }
    }
    template <class Tile>
    __device__ void store(Tile& tile, Convert const& convert) const {
        store_part<0, 1>(tile, convert);
    }
    /// Stores part number `part` of the thread's rows to the SMEM tile, where `parts` parts divide the rows equally.
    /// With conversion, part 0 stores all rows and the others none.
    template <int part, int parts, class Tile>
    __device__ void store_part(Tile& tile, Convert const& convert) const {
        using Operand = typename Tile::Operand;
        auto const put = [&](int i, auto operand) {
            tile.template put_along_k<count>(k, first + static_cast<unsigned>(i * step), operand);
        };
        if constexpr (!Convert::converts) {
#pragma unroll
            for (int i = passes * part / parts; i < passes * (part + 1) / parts; ++i)
                put(i, [&](int j) { return as_operand<Operand>(values[i].values[j]); });
        } else if constexpr (part == 0) {
            constexpr int per_call = (min)(count, 4);
            // convert all elements before the first store: after a store, the compiler would reload the prologue's
            // parameters
            Operand converted[passes][count];
#pragma unroll
            for (int j = 0; j < count; j += per_call) {
                auto const states = convert.template state_packet<per_call>(k + static_cast<unsigned>(j));
#pragma unroll
                for (int i = 0; i < passes * per_call; ++i) {
                    int const pass = i / per_call, at_k = j + i % per_call;
                    converted[pass][at_k] = convert.template convert<Operand>(
                        values[pass].values[at_k], this->is_set(pass * count + at_k), states[i % per_call]);
                }
            }
#pragma unroll
            for (int i = 0; i < passes; ++i) put(i, [&](int j) { return converted[i][j]; });
        }
    }

private:
    static constexpr int packets = TileK / count, step = threads / packets, passes = Size / step;
    static_assert(packets * count == TileK && threads % packets == 0 && Size % step == 0);

    bool vectorized;
    unsigned k, first;
    RowPointer<T> rows[passes];
    Packet<T, count> values[passes];
};

/// A thread's elements of an operand tile (Size rows x TileK indices of GemmK) that is contiguous along its rows, which
/// are pixels: x in NCHW. Consecutive threads load consecutive pixels: one at a time or, for 1x1 windows, several as
/// one vector if ConvParams allow it. Unconverted float vectors are copied asynchronously to SMEM on processors with
/// asynchronous copies. With conversion a thread loads pixels of several rows, so that it needs the prologue's
/// parameters of fewer GemmK indices. Tiles of 128 rows or more recompute the padding mask, because keeping its bits
/// takes 2 % of the time on an H100; smaller tiles keep it, because their threads have no registers left for the
/// offsets.
template <Element T, int Size, int TileK, int threads, bool may_be_vectorized, class Convert = NoConversion>
class TileAlongRows : ValidBits<Convert::converts && (Size < 128)> {
    static constexpr int per_thread = Size * TileK / threads;
    static constexpr bool remembers = Size < 128;
    static_assert(threads % Size == 0 && per_thread * threads == Size * TileK);

public:
    static constexpr int count = (min)(16 / static_cast<int>(sizeof(T)), per_thread);
    static_assert(count % 4 == 0);

    template <class RowAt>
    __device__ TileAlongRows(unsigned thread, bool the_vectorized, RowAt row_at)
        : vectorized(may_be_vectorized && the_vectorized),
          k(this->vectorized ? thread / (Size / count) * (per_thread / count) : thread / step * (per_thread / height)),
          index(this->vectorized ? thread % (Size / count) * count : thread % step) {
#pragma unroll
        for (int i = 0; i < height; ++i)
            rows[i] = row_at(this->vectorized ? index : index + static_cast<unsigned>(i * step));
    }

    template <class Tile>
    __device__ void load(KOffset const* offsets, Tile& tile) {
        if (!vectorized) {
            load_to_registers<1, height>(offsets);
        } else if constexpr (copies<Tile>) {
#pragma unroll
            for (unsigned i = 0; i < per_thread / count; ++i)
                hip::copy<count>(rows[0], offsets[k + i], tile.at(k + i, index));
        } else {
            load_to_registers<count, 1>(offsets);
        }
    }
    template <class Tile>
    __device__ void store(Tile& tile, Convert const& convert) const {
        store_part<0, 1>(tile, convert);
    }
    /// Stores part number `part` of the thread's elements to the SMEM tile, where `parts` parts divide them equally.
    /// Only unconverted single elements that the tile stores along GemmK are divided; otherwise part 0 stores all
    /// elements and the others none.
    template <int part, int parts, class Tile>
    __device__ void store_part(Tile& tile, Convert const& convert) const {
        constexpr bool divides =
            !may_be_vectorized && !Convert::converts && !Tile::contiguous_rows && per_thread % (8 * parts) == 0;
        if constexpr (divides) {
            constexpr int first = part * (per_thread / parts), last = first + per_thread / parts;
#pragma unroll
            for (int i = first; i < last; i += 8)
                tile.template put_along_k<8>(k + static_cast<unsigned>(i), index,
                                             [&](int j) { return as_operand<typename Tile::Operand>(values[i + j]); });
        } else if constexpr (part == 0) {
            if (!vectorized) store_elements<1, height>(tile, convert);
            else if constexpr (copies<Tile>) wait_for_copies();
            else store_elements<count, 1>(tile, convert);
        }
    }

private:
    /// True if the SMEM tile has x's element type and layout and elements are not converted, so that asynchronous
    /// copies can fill it.
    template <class Tile>
    static constexpr bool copies = has_async_copies && std::is_same_v<T, float> && !Convert::converts &&
                                   std::is_same_v<typename Tile::Operand, T> && Tile::contiguous_rows;
    /// rows (pixels) per thread, and the distance between these rows, in rows of the tile
    static constexpr int height = Convert::converts ? 4 : 1, step = Size / height;

    bool vectorized;
    unsigned k, index;
    RowPointer<T> rows[height];
    T values[per_thread];

    /// Loads, for each GemmK index of the thread, Count contiguous elements from each of the thread's Rows rows into
    /// `values`.
    template <int Count, int Rows>
    __device__ void load_to_registers(KOffset const* offsets) {
        this->clear();
#pragma unroll
        for (int first = 0; first < per_thread / Count; first += Rows) {
            KOffset const offset = offsets[k + static_cast<unsigned>(first / Rows)];
#pragma unroll
            for (int i = first; i < first + Rows; ++i) {
                auto const packet = hip::load<Count>(rows[i - first], offset);
                this->set(i, 1, has(rows[i - first], offset));
#pragma unroll
                for (int j = 0; j < Count; ++j) values[i * Count + j] = packet.values[j];
            }
            if (sizeof(T) < 4 && first % (2 * static_cast<int>(sizeof(T))) == 0) keep_apart();
        }
    }
    /// True if the element or vector of the thread's load number i is in bounds of x. Loads are numbered by GemmK
    /// index; those of one index, by row.
    template <int Rows>
    __device__ bool is_valid(int i, Convert const& convert) const {
        if constexpr (remembers) return this->is_set(i);
        else return has(rows[i % Rows], convert.offsets[k + static_cast<unsigned>(i / Rows)]);
    }
    template <int Count, int Rows, class Tile>
    __device__ void store_elements(Tile& tile, Convert const& convert) const {
        using Operand = typename Tile::Operand;
        constexpr int indices = per_thread / Count / Rows, per_call = (min)(indices, 4);
        // convert all elements before the first store: after a store, the compiler would reload the prologue's
        // parameters
        Operand converted[per_thread];
        if constexpr (!Convert::converts) {
#pragma unroll
            for (int i = 0; i < per_thread; ++i) converted[i] = as_operand<Operand>(values[i]);
        } else {
#pragma unroll
            for (int first = 0; first < indices; first += per_call) {
                auto const states = convert.template state_packet<per_call>(k + static_cast<unsigned>(first));
#pragma unroll
                for (int i = 0; i < per_call * Rows * Count; ++i) {
                    int const at = first * Rows * Count + i;
                    converted[at] = convert.template convert<Operand>(values[at], is_valid<Rows>(at / Count, convert),
                                                                      states[i / (Rows * Count)]);
                    if (sizeof(T) < 4 && i % 4 == 3) keep_apart();
                }
            }
        }
        if constexpr (!Tile::contiguous_rows && Count == 1) store_along_k<indices, Rows>(tile, converted);
        else store_along_rows<Count, Rows>(tile, converted);
    }
    /// Stores the thread's elements to an SMEM tile that is contiguous along GemmK, up to eight consecutive indices as
    /// one vector.
    template <int indices, int Rows, class Tile>
    __device__ void store_along_k(Tile& tile, typename Tile::Operand const (&converted)[per_thread]) const {
        constexpr int chunk = (min)(indices, 8);
#pragma unroll
        for (int i = 0; i < indices; i += chunk)
#pragma unroll
            for (int row = 0; row < Rows; ++row)
                tile.template put_along_k<chunk>(k + static_cast<unsigned>(i),
                                                 index + static_cast<unsigned>(row * step),
                                                 [&](int j) { return converted[(i + j) * Rows + row]; });
    }
    template <int Count, int Rows, class Tile>
    __device__ void store_along_rows(Tile& tile, typename Tile::Operand const (&converted)[per_thread]) const {
        constexpr int width = (min)(Count, 4);
#pragma unroll
        for (int i = 0; i < per_thread; i += width) {
            int const load = i / Count;
            Packet<typename Tile::Operand, width> result;
#pragma unroll
            for (int j = 0; j < width; ++j) result.values[j] = converted[i + j];
            tile.put_along_rows(k + static_cast<unsigned>(load / Rows),
                                index + static_cast<unsigned>(load % Rows * step + i % Count), result);
        }
    }
};

}  // namespace fusekit::hip
