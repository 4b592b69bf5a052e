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

/// Indices of GemmK where both operands are loaded in packets of 16 bytes: of each the first, and how many steps follow
/// one another there under its tap. An entry has as many bytes as a packet, so that places in a row are places here.
template <Element T, Element W, int Size>
struct WordOffsets {
    struct alignas(16) Entry {
        std::uint32_t x, mask, w;
        int steps;
    };
    static constexpr unsigned packet = 16 / sizeof(T);
    Entry entries[Size / packet];

    __device__ void put(unsigned i, KOffset const& in_x, KOffset const& in_w, int steps) {
        entries[i / packet] = {in_bytes<T>(in_x), in_x.mask, in_bytes<W>(in_w), steps};
    }
    /// Of the packet of index k of a step that begins at so many bytes.
    __device__ Entry const& at(int place, unsigned k) const {
        auto const* const bytes = reinterpret_cast<unsigned char const*>(entries);
        return *reinterpret_cast<Entry const*>(bytes + (place + static_cast<int>(k / packet * sizeof(Entry))));
    }
    __device__ std::uint32_t w_at(int place, unsigned k) const { return at(place, k).w; }
};

/// Stores a step's operands. The filters were loaded last, so waiting for them waits for both.
template <class Inputs, class Filters, class Stage>
__device__ __forceinline__ void store_operands(Inputs const& inputs, Filters& filters, Stage& stage) {
    filters.wait();
    inputs.store(stage.x);
    filters.store(stage.w);
}

/// A thread's share of a tile for ChannelOperands: 16 bytes at its place along GemmK of every `step`-th row.
template <Element T, int Size, int TileK, int threads>
class WordsOfRows {
    static constexpr int count = 16 / static_cast<int>(sizeof(T)), packets = TileK / count;
    static_assert(packets * count == TileK && threads % packets == 0);

public:
    template <class Tile>
    __device__ void store(Tile& tile) const {
#pragma unroll
        for (int pass = 0; pass < passes; ++pass) tile.put_words(k, row(pass), values[pass]);
    }

protected:
    static constexpr int step = threads / packets, passes = Size / step;
    static_assert(Size % step == 0);

    unsigned k, first;
    Words<4> values[passes];

    __device__ explicit WordsOfRows(unsigned thread) : k(thread % packets * count), first(thread / packets) {}
    __device__ unsigned row(int pass) const { return first + static_cast<unsigned>(pass * step); }
};

/// TileAlongK of 16 bytes of a row of x at once, which knows its padding where windows are `padded`.
template <Element T, int Size, int TileK, int threads, bool padded>
class NearWords : public WordsOfRows<T, Size, TileK, threads> {
    using Base = WordsOfRows<T, Size, TileK, threads>;
    using Base::first, Base::k, Base::passes, Base::row, Base::values;

public:
    template <class RowAt>
    __device__ NearWords(unsigned thread, RowAt row_at) : Base(thread), buffer(row_at(first).first) {
#pragma unroll
        for (int i = 0; i < passes; ++i) {
            RowPointer<T> const at = row_at(row(i));
            rows[i] = buffer.offset(at.first);
            invalid[i] = ~at.valid;
        }
    }

    /// Takes the offsets of a step.
    template <class Offsets>
    __device__ void find(Offsets const& offsets, int place) {
        auto const& entry = offsets.at(place, k);
#pragma unroll
        for (int i = 0; i < passes; ++i) {
            own[i] = rows[i] + entry.x;
            // What is invalid, a number up to 2^31, is nowhere when it is negative: without a comparison.
            if constexpr (padded) own[i] |= 0 - (entry.mask & invalid[i]);
        }
    }
    /// Loads that step, or one whose channels lie `further` bytes on.
    __device__ void load(std::uint32_t further) {
#pragma unroll
        for (int i = 0; i < passes; ++i) values[i] = buffer.template load<Words<4>>(own[i], further);
    }

private:
    Buffer buffer;
    std::uint32_t rows[passes], invalid[passes], own[passes];
};

/// The same of filters. Where there are scalar registers to spare, a thread's loads have one offset, because each has a
/// Buffer that begins at a filter of its own. Behind the last filter are zeros, or it is there again.
template <Element W, int Size, int TileK, int threads, bool has_scalars>
class NearFilters : public WordsOfRows<W, Size, TileK, threads> {
    using Base = WordsOfRows<W, Size, TileK, threads>;
    using Base::first, Base::row, Base::step;

protected:
    using Base::k, Base::passes, Base::values;

private:
    static constexpr int together = has_scalars ? passes : 1;

public:
    template <class Problem>
    __device__ NearFilters(unsigned thread, Problem const& conv, int first_filter, int group) : Base(thread) {
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
                rows[i] = buffers[0].offset(conv.weight_row(first_filter + static_cast<int>(row(i)), group).first);
        }
    }

    template <class Offsets>
    __device__ void find(Offsets const& offsets, int place) {
        std::uint32_t const offset = offsets.w_at(place, k);
#pragma unroll
        for (int i = 0; i < passes / together; ++i) own[i] = rows[i] + offset;
    }
    __device__ void load(std::uint32_t further = 0) {
        each([&](int pass, Buffer const& buffer, std::uint32_t at) {
            values[pass] = buffer.template load<Words<4>>(at, further);
        });
    }
    /// Waits for its loads.
    __device__ void wait() { wait_for(values[passes - 1]); }

protected:
    std::uint32_t own[passes / together];  ///< where a step's loads that have a Buffer each begin

    /// Calls f(pass, Buffer, offset there) for each pass.
    template <class F>
    __device__ void each(F const& f) const {
#pragma unroll
        for (int i = 0; i < passes; ++i) f(i, buffers[i % together], own[i / together]);
    }

private:
    Buffer buffers[together];
    std::uint32_t rows[passes / together];
};

}  // namespace fusekit::hip
