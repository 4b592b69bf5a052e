// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/epilogue/nchw_channels.hpp"

namespace fusekit::hip {

/// Applies the epilogue to a warpgroup's accumulators, 64 channels x the pixels of an output tile, and stores them as
/// 16-bit elements to planes of y (NCHW). A tile consists of `parts` parts (PlanePart: rows of one image). A warp has
/// 16 channels. It stages 8 channels at a time in SMEM, in y's layout, and copies them by bulk stores (cp.async.bulk):
/// one store per channel and part or, if the part is a whole image, one store of all 8 channels.
template <class Plan, class Atom, class U, int parts, int products>
class NchwStore : NchwChannels<Plan, Atom, U, PlaneTiles<products * Atom::n, U>> {
    static_assert(sizeof(U) == 2);
    /// packet: elements in 16 bytes. channels: channels that a warp stages at once. pixels: pixels per part (PlanePart)
    /// of the tile.
    static constexpr int packet = 8, channels = 8, pixels = products * Atom::n;
    /// Elements from a staged channel to the next; a channel may start at any element of its first 16 bytes. With this
    /// pitch, the SMEM stores of four consecutive lanes to eight channels are in different banks.
    static constexpr int pitch = packet + pixels;
    static_assert(pitch % 16 == 8);
    /// True if the 8 staged channels of a part of the tile (PlanePart: rows of one image) may be contiguous in y, so
    /// that one bulk store copies them: if the part is a whole image, which happens for tiles of several parts.
    /// joined() returns the answer at run time.
    static constexpr bool may_join = parts > 1;
    /// has_pixels: true if the plan's filter may be 1x1. has_rows: true if the filter may be larger than 1x1.
    static constexpr bool has_pixels = Plan::Head::longest == 1 || Plan::Head::longest == 1 << 30,
                          has_rows = Plan::Head::longest > 1 || Plan::Head::may_be_padded;
    using Tiles = PlaneTiles<pixels, U>;
    using Base = NchwChannels<Plan, Atom, U, Tiles>;
    using Base::count, Base::first, Base::image_stride, Base::length, Base::plane, Base::result, Base::thread,
        Base::tiles, Base::y;

public:
    /// A warp's staging buffer: 8 channels of each part (PlanePart) of the tile.
    struct Shared {
        alignas(16) U staged[parts][channels * pitch];
    };

    using Base::Base;

    /// Applies the epilogue and stores a tile; `part_of(i)` returns the tile's PlanePart number i. The bulk stores may
    /// read SMEM until ptx::bulk_wait_group_read().
    template <class PartOf>
    __device__ void store(typename Atom::Accumulators const (&acc)[parts * products], PartOf const& part_of,
                          Shared& shared) const {
        int const from = first + static_cast<int>(thread / 32) * 16;
        store_half<0>(acc, part_of, shared, from);
        store_half<1>(acc, part_of, shared, from + channels);
    }

private:
    /// Returns the number of elements in y between the last multiple of 16 bytes and the first element of a PlanePart
    /// (rows of one image) in channel c. `start`: index of that element in the channel.
    __device__ int early(int c, int start) const {
        return static_cast<int>(
            (static_cast<unsigned>(c) * static_cast<unsigned>(plane) + static_cast<unsigned>(start)) % packet);
    }

    __device__ bool joined() const { return may_join && tiles.whole(); }
    /// Returns the index in the staging buffer of the first element of a PlanePart (rows of one image) in staged
    /// channel c, 0 to 7. `start`: index of that element in its channel of y.
    __device__ int first_of(int c, int start) const { return joined() ? c * plane : c * pitch + early(c, start); }

    /// Stages and copies one half of the warp's 16 channels, channels `from` to `from` + 7 of y. The thread has one of
    /// them, its channel number `own`, 0 or 1.
    template <int own, class PartOf>
    __device__ void store_half(typename Atom::Accumulators const (&acc)[parts * products], PartOf const& part_of,
                               Shared& shared, int from) const {
        if (from >= count) return;
        ptx::bulk_wait_group_read();
        ptx::bar_warp_sync();  // the previous bulk stores of all lanes have read the buffer
        int const c = static_cast<int>(thread % 32 / 4);
#pragma unroll
        for (int i = 0; i < parts; ++i) {
            PlanePart const part = part_of(i);
            if (part.n < 0) continue;
            int const at = first_of(c, part.row * tiles.y_width);
            auto* const to = reinterpret_cast<std::uint16_t*>(shared.staged[i]) + at;
            if (has_pixels && (!has_rows || tiles.single) && !joined()) stage_pixels<own>(acc, i, at % 2 != 0, to);
            else stage_pixels_of_rows<own>(acc, i, length(part), to);
        }
        ptx::fence_proxy_async();
        ptx::bar_warp_sync();
#pragma unroll 1
        for (int i = 0; i < parts; ++i) copy(from, part_of(i), shared.staged[i]);
        ptx::bulk_commit_group();
    }

    /// Applies the epilogue to two consecutive pixels of the thread's channel number `own`, in the 8-pixel block
    /// `block` of the tile's part number `part`, and returns the two 16-bit results in a word.
    template <int own>
    __device__ std::uint32_t pair(typename Atom::Accumulators const (&acc)[parts * products], int part,
                                  int block) const {
        constexpr int of_product = Atom::n / packet;
        auto const& of_block = acc[part * products + block / of_product];
        int const first_acc = 4 * (block % of_product) + 2 * own;
        return packed<U>(result(of_block[first_acc], own), result(of_block[first_acc + 1], own));
    }

    /// Stages the thread's pixels of its channel `own` in part number `part`, for 1x1 filters: stores them in pairs to
    /// the staged channel `to`. If the channel's first element has an odd index (`is_odd`), each aligned 32-bit word
    /// has pixels of two lanes, which exchange them.
    template <int own>
    __device__ void stage_pixels(typename Atom::Accumulators const (&acc)[parts * products], int part, bool is_odd,
                                 std::uint16_t* to) const {
        auto* const words = reinterpret_cast<std::uint32_t*>(to - (is_odd ? 1 : 0)) + thread % 4;
        std::uint32_t last = 0;  // last pair of pixels of the previous 8-pixel block
#pragma unroll
        for (int block = 0; block < pixels / packet; ++block) {
            std::uint32_t const word = pair<own>(acc, part, block), other = shuffle_in_quad(word, thread + 3),
                                previous = thread % 4 == 0 ? last : other;
            words[block * packet / 2] = is_odd ? previous >> 16 | word << 16 : word;
            last = other;
        }
        if (is_odd && thread % 4 == 0) words[pixels / 2] = last >> 16;
    }

    /// Stages the thread's pixels of its channel `own` in part number `part`, without the gaps between rows: stores
    /// them to the staged channel `to`. Elements at `end` and later, past the part, are omitted, overwritten by the
    /// next channel, or not copied to y.
    template <int own>
    __device__ void stage_pixels_of_rows(typename Atom::Accumulators const (&acc)[parts * products], int part, int end,
                                         std::uint16_t* to) const {
        constexpr unsigned scale = 1 << 16;
        auto const gap = static_cast<unsigned>(tiles.pitch - tiles.y_width);
        unsigned const width = gap > 0 ? static_cast<unsigned>(tiles.y_width) : pixels, row_pitch = width + gap,
                       second = thread % 4 * 2 + 1,
                       reciprocal = scale / row_pitch + 1;  // exact for indices up to 255
        static_assert(pixels < 256);
#pragma unroll
        for (int block = 0; block < pixels / packet; ++block) {
            unsigned const pixel = static_cast<unsigned>(block * packet) + second, row = pixel * reciprocal / scale,
                           column = pixel - row * row_pitch;
            std::uint32_t const word = pair<own>(acc, part, block);
            // If the two pixels of a pair are in different rows, the first one is in the gap between the rows.
            int const at = static_cast<int>(second) - static_cast<int>(row * gap) + block * packet;
            if (column - 1 < width && (!may_join || at <= end)) to[at - 1] = static_cast<std::uint16_t>(word);
            if (column < width && (!may_join || at < end)) to[at] = static_cast<std::uint16_t>(word >> 16);
        }
    }

    /// Copies the staged channels of a PlanePart (rows of one image), from channel `from` of y on, to y: aligned
    /// 16-byte chunks by bulk stores; the first and last chunk of a channel, which other PlaneParts also write, one
    /// element per lane.
    __device__ void copy(int from, PlanePart const& part, U const* staged) const {
        if (part.n < 0) return;
        int const lane = static_cast<int>(thread % 32), start = part.row * tiles.y_width, elements = length(part),
                  present = (min)(count - from, channels);
        U* const to = y + part.n * image_stride + std::int64_t{from} * plane + start;
        if (joined()) {
            int const end = present * plane;
            if (lane == 0 && end > 0)
                ptx::bulk_store(to, ptx::shared_address(staged), static_cast<unsigned>(end) * sizeof(U));
            return;
        }
        auto const end_of_whole = [&](int c) { return elements - (early(c, start) + elements) % packet; };
        if (int const c = lane, whole = (packet - early(c, start)) % packet, end = end_of_whole(c);
            c < present && whole < end)
            ptx::bulk_store(to + std::int64_t{c} * plane + whole,
                            ptx::shared_address(staged + first_of(c, start) + whole),
                            static_cast<unsigned>(end - whole) * sizeof(U));
        if ((plane | start | elements) % packet == 0) return;
        constexpr int edges = 2 * packet;  // elements in the first and last chunk of a channel
#pragma unroll
        for (int i = 0; i < channels * edges / 32; ++i) {
            int const c = i * (32 / edges) + lane / edges, own = lane % edges, lead = early(c, start),
                      edge = own < packet ? own - lead : end_of_whole(c) + own - packet;
            if (c < present && (own >= packet || lead > 0) && edge >= 0 && edge < elements)
                to[std::int64_t{c} * plane + edge] = staged[first_of(c, start) + edge];
        }
    }
};

}  // namespace fusekit::hip
