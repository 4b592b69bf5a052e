// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"

namespace fusekit::hip {

/// Converts an offset of an index of GemmK, in elements from the start of an operand row, to bytes. Returns
/// Buffer::out_of_bounds, at which buffer loads return zero, for an index past the end of GemmK.
template <Element T>
__device__ std::uint32_t in_bytes(KOffset const& offset) {
    if (offset.mask == KOffset::never) return Buffer::out_of_bounds;
    return static_cast<std::uint32_t>(offset.offset) * std::uint32_t{sizeof(T)};
}

/// LDS table of offsets with one entry for each 16 bytes (8 half elements) along GemmK: the byte offsets in x and w,
/// the padding mask (KOffset), and `steps`, the number of consecutive k-tiles, from the entry's own on, whose indices
/// have the same filter tap. An entry has 16 bytes, so that the byte offset of an element in a k-tile's row is also the
/// byte offset of its entry in the table.
template <Element T, Element W, int Size>
struct PacketOffsets {
    struct alignas(16) Entry {
        std::uint32_t x, mask, w;
        int steps;
    };
    static constexpr unsigned packet = 16 / sizeof(T);
    Entry entries[Size / packet];

    __device__ void put(unsigned i, KOffset const& in_x, KOffset const& in_w, int steps) {
        entries[i / packet] = {in_bytes<T>(in_x), in_x.mask, in_bytes<W>(in_w), steps};
    }
    /// Returns the table entry of index k of a k-tile; `table_offset` is the byte offset, in the table, of the k-tile's
    /// first entry.
    __device__ Entry const& at(int table_offset, unsigned k) const {
        auto const* const bytes = reinterpret_cast<unsigned char const*>(entries);
        return *reinterpret_cast<Entry const*>(bytes + (table_offset + static_cast<int>(k / packet * sizeof(Entry))));
    }
    __device__ std::uint32_t w_at(int table_offset, unsigned k) const { return at(table_offset, k).w; }
};

/// Stores a thread's elements of both operands of a k-tile from registers to the LDS stage. The thread loaded filters
/// last, so that one wait covers both operands.
template <class Inputs, class Filters, class Stage>
__device__ __forceinline__ void store_operands(Inputs const& inputs, Filters& filters, Stage& stage) {
    filters.wait();
    inputs.store(stage.x);
    filters.store(stage.w);
}

/// A thread's elements of an operand tile in registers: 16 bytes along GemmK, from index `k` of the k-tile on, of every
/// `step`-th row of the tile, from row `first` on.
template <Element T, int Size, int TileK, int threads>
class RowPackets {
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

    __device__ explicit RowPackets(unsigned thread) : k(thread % packets * count), first(thread / packets) {}
    __device__ unsigned row(int pass) const { return first + static_cast<unsigned>(pass * step); }
};

/// Loads a thread's elements of operand x (pixels, GemmK) by 16-byte buffer loads. With `padded`, taps that are out of
/// bounds of x read zero.
template <Element T, int Size, int TileK, int threads, bool padded>
class InputPackets : public RowPackets<T, Size, TileK, threads> {
    using Base = RowPackets<T, Size, TileK, threads>;
    using Base::first, Base::k, Base::passes, Base::row, Base::values;

public:
    template <class RowAt>
    __device__ InputPackets(unsigned thread, RowAt row_at) : Base(thread), buffer(row_at(first).first) {
#pragma unroll
        for (int i = 0; i < passes; ++i) {
            RowPointer<T> const at = row_at(row(i));
            rows[i] = buffer.offset(at.first);
            invalid[i] = ~at.valid;
        }
    }

    /// Reads from the LDS table the byte offsets of the thread's loads for the k-tile whose entries begin at byte
    /// `table_offset`.
    template <class Offsets>
    __device__ void find(Offsets const& offsets, int table_offset) {
        auto const& entry = offsets.at(table_offset, k);
#pragma unroll
        for (int i = 0; i < passes; ++i) {
            own[i] = rows[i] + entry.x;
            // -mask forces the offset out of range: a branch-free predicate.
            if constexpr (padded) own[i] |= 0 - (entry.mask & invalid[i]);
        }
    }
    /// Loads the thread's elements of the k-tile that find() located last, or of a later k-tile with the same tap whose
    /// channels are `soffset` bytes later in x.
    __device__ void load(std::uint32_t soffset) {
#pragma unroll
        for (int i = 0; i < passes; ++i) values[i] = buffer.template load<Words<4>>(own[i], soffset);
    }

private:
    Buffer buffer;
    std::uint32_t rows[passes], invalid[passes], own[passes];
};

/// Loads a thread's elements of operand w (filters, GemmK) by 16-byte buffer loads, in `passes` passes: in each, all
/// threads load some rows. With `has_scalars`, each pass has a Buffer that begins at the pass's first filter, so that
/// all loads of a thread share one vector-register offset, and rows past the last filter read zero (buffer out of
/// bounds). Without `has_scalars` those rows read the last filter.
template <Element W, int Size, int TileK, int threads, bool has_scalars>
class FilterPackets : public RowPackets<W, Size, TileK, threads> {
    using Base = RowPackets<W, Size, TileK, threads>;
    using Base::first, Base::row, Base::step;

protected:
    using Base::k, Base::passes, Base::values;

private:
    static constexpr int buffer_count = has_scalars ? passes : 1;

public:
    template <class Problem>
    __device__ FilterPackets(unsigned thread, Problem const& conv, int first_filter, int group) : Base(thread) {
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
    __device__ void find(Offsets const& offsets, int table_offset) {
        std::uint32_t const offset = offsets.w_at(table_offset, k);
#pragma unroll
        for (int i = 0; i < passes / buffer_count; ++i) own[i] = rows[i] + offset;
    }
    __device__ void load(std::uint32_t soffset = 0) {
        each([&](int pass, Buffer const& buffer, std::uint32_t at) {
            values[pass] = buffer.template load<Words<4>>(at, soffset);
        });
    }
    /// Waits until this thread's loads have completed.
    __device__ void wait() { wait_for(values[passes - 1]); }

protected:
    /// byte offsets of the thread's loads of a k-tile, one per pass, or one for all passes; relative to the passes'
    /// Buffers
    std::uint32_t own[passes / buffer_count];

    /// Calls f(pass, Buffer, byte offset in this Buffer) for each pass.
    template <class F>
    __device__ void each(F const& f) const {
#pragma unroll
        for (int i = 0; i < passes; ++i) f(i, buffers[i % buffer_count], own[i / buffer_count]);
    }

private:
    Buffer buffers[buffer_count];
    std::uint32_t rows[passes / buffer_count];
};

}  // namespace fusekit::hip
