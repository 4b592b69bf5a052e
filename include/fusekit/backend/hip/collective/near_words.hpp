// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"

namespace fusekit::hip {

/// An index of GemmK in bytes, of elements of T.
template <Element T>
__device__ std::uint32_t in_bytes(KOffset const& offset) {
    if (offset.mask == KOffset::never) return Buffer::nowhere;
    return static_cast<std::uint32_t>(offset.offset) * std::uint32_t{sizeof(T)};
}

/// Indices of GemmK where both operands are loaded 16 bytes at once: of each load one, the first that it brings.
template <Element T, Element W, int Size>
struct WordOffsets {
    struct alignas(16) Entry {
        std::uint32_t x, mask, w, unused;
    };
    static constexpr unsigned packet = 16 / sizeof(T);
    Entry entries[Size / packet];

    template <class Problem>
    __device__ void put(unsigned i, KOffset const& in_x, KOffset const& in_w, int, Problem const&) {
        entries[i / packet] = {in_bytes<T>(in_x), in_x.mask, in_bytes<W>(in_w), 0};
    }
    __device__ Entry const& x_at(unsigned k) const { return entries[k / packet]; }
    __device__ std::uint32_t w_at(unsigned k) const { return entries[k / packet].w; }
};

/// TileAlongK of 16 bytes of a row of x at once, for NearOperands, which knows its padding where windows are `padded`.
template <Element T, int Size, int TileK, int threads, bool padded>
class NearWords {
    static constexpr int count = 16 / static_cast<int>(sizeof(T));
    static constexpr int packets = TileK / count, step = threads / packets, passes = Size / step;
    static_assert(packets * count == TileK && threads % packets == 0 && Size % step == 0);

public:
    template <class RowAt>
    __device__ NearWords(unsigned thread, RowAt row)
        : k(thread % packets * count), first(thread / packets), buffer(row(first).first) {
#pragma unroll
        for (int i = 0; i < passes; ++i) {
            RowPointer<T> const at = row(first + static_cast<unsigned>(i * step));
            rows[i] = buffer.offset(at.first);
            invalid[i] = ~at.valid;
        }
    }

    template <class Offsets>
    __device__ void load(Offsets const& offsets, unsigned first_k) {
        auto const& entry = offsets.x_at(first_k + k);
#pragma unroll
        for (int i = 0; i < passes; ++i) {
            std::uint32_t const at = rows[i] + entry.x;
            // What is invalid, a number up to 2^31, is nowhere when it is negative: without a comparison.
            values[i] = buffer.template load<Words<4>>(padded ? at | (0 - (entry.mask & invalid[i])) : at);
        }
    }
    template <class Tile>
    __device__ void store(Tile& tile) const {
#pragma unroll
        for (int i = 0; i < passes; ++i) tile.put_words(k, first + static_cast<unsigned>(i * step), values[i]);
    }

private:
    unsigned k, first;
    Buffer buffer;
    std::uint32_t rows[passes], invalid[passes];
    Words<4> values[passes];
};

/// The same of filters. Where there are scalar registers to spare, a thread's loads have one offset, because each has a
/// Buffer that begins at a filter of its own. Behind the last filter are zeros, or it is
/// there again.
template <Element W, int Size, int TileK, int threads, bool has_scalars>
class NearFilters {
    static constexpr int count = 16 / static_cast<int>(sizeof(W));
    static constexpr int packets = TileK / count, step = threads / packets, passes = Size / step;
    static constexpr int together = has_scalars ? passes : 1;
    static_assert(packets * count == TileK && threads % packets == 0 && Size % step == 0);

public:
    template <class Problem>
    __device__ NearFilters(unsigned thread, Problem const& conv, int first_filter, int group)
        : k(thread % packets * count), first(thread / packets) {
        W const* const begin = conv.weight_row(first_filter, group).first;
        if constexpr (has_scalars) {
            W const* const end = conv.end_of_filters(group);
            std::int64_t const stride = conv.filter_stride();
#pragma unroll
            for (int i = 0; i < passes; ++i) buffers[i] = Buffer(begin + i * step * stride, end);
            rows[0] = buffers[0].offset(begin + static_cast<int>(first) * stride);
        } else {
            buffers[0] = Buffer(begin);
#pragma unroll
            for (int i = 0; i < passes; ++i)
                rows[i] =
                    buffers[0].offset(conv.weight_row(first_filter + static_cast<int>(first) + i * step, group).first);
        }
    }

    template <class Offsets>
    __device__ void load(Offsets const& offsets, unsigned first_k) {
        std::uint32_t const offset = offsets.w_at(first_k + k);
#pragma unroll
        for (int i = 0; i < passes; ++i)
            values[i] = buffers[i % together].template load<Words<4>>(rows[i / together] + offset);
    }
    /// Waits for its loads.
    __device__ void wait() { wait_for(values[passes - 1]); }
    template <class Tile>
    __device__ void store(Tile& tile) const {
#pragma unroll
        for (int i = 0; i < passes; ++i) tile.put_words(k, first + static_cast<unsigned>(i * step), values[i]);
    }

private:
    unsigned k, first;
    Buffer buffers[together];
    std::uint32_t rows[passes / together];
    Words<4> values[passes];
};

}  // namespace fusekit::hip
