// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/collective/plane_channels.hpp"

namespace fusekit::hip {

/// Takes the sums of a warpgroup, 64 channels of the places of a tile's parts, through the epilogue to planes of y. A
/// warp has 16 channels: eight at a time lie down in shared memory as they will in y, 16 bytes for 16 bytes, and lanes
/// take these to y. Single pixels lie down two by two, and so those that begin at an odd place an element too early.
template <class Plan, class Atom, class U, int parts, int products>
class StorePlanes : PlaneChannels<Plan, Atom, U, PlaneTiles<products * Atom::n, U>> {
    static_assert(sizeof(U) == 2);
    static constexpr int packet = 8, channels = 8, pixels = products * Atom::n;  ///< of a part
    /// Elements from a part to the next, of which the first is one of the first packet; and from a channel to the next:
    /// what four neighbouring lanes write of eight channels is in different banks.
    static constexpr int part_pitch = packet + pixels, row_pitch = (parts * part_pitch + 7) / 16 * 16 + 8;
    static constexpr int lanes = part_pitch / packet > 16 ? 32 : 16;  ///< that have packets of one channel
    static_assert(part_pitch / packet <= lanes);
    using Tiles = PlaneTiles<pixels, U>;
    using Base = PlaneChannels<Plan, Atom, U, Tiles>;
    using Base::count, Base::first, Base::image_stride, Base::length, Base::plane, Base::result, Base::thread,
        Base::tiles, Base::y;

public:
    /// Of a warp.
    struct Shared {
        alignas(16) U staged[channels * row_pitch];
    };

    using Base::Base;

    /// `part_of(i)` is the tile's part i.
    template <class PartOf>
    __device__ void store(typename Atom::Sums const (&sums)[parts * products], PartOf const& part_of,
                          Shared& shared) const {
        int const from = first + static_cast<int>(thread / 32) * 16;
        store_half<0>(sums, part_of, shared, from);
        store_half<1>(sums, part_of, shared, from + channels);
    }

private:
    /// How many elements after a multiple of 16 bytes a part begins in a channel, counted from a multiple of eight.
    __device__ int early(int c, int start) const {
        return static_cast<int>(
            (static_cast<unsigned>(c) * static_cast<unsigned>(plane) + static_cast<unsigned>(start)) % packet);
    }

    /// One of the thread's channels, with those of the warp that neighbour it, which are `from` and the next.
    template <int own, class PartOf>
    __device__ void store_half(typename Atom::Sums const (&sums)[parts * products], PartOf const& part_of,
                               Shared& shared, int from) const {
        if (from >= count) return;
        ptx::sync_wave();  // what was staged before has been read
#pragma unroll
        for (int i = 0; i < parts; ++i) {
            PlanePart const part = part_of(i);
            int const c = static_cast<int>(thread % 32 / 4);
            if (part.n < 0) continue;
            int const before = early(c, part.row * tiles.y_width);
            U* const to = shared.staged + c * row_pitch + i * part_pitch + before;
            if (tiles.single) stage_pixels<own>(sums, i, to - before % 2);
            else stage<own>(sums, i, length(part), to);
        }
        ptx::sync_wave();
#pragma unroll 1
        for (int i = 0; i < parts; ++i) copy(from, part_of(i), shared.staged + i * part_pitch);
    }

    /// What the epilogue makes of two neighbouring places of one of the thread's channels in a part.
    template <int own>
    __device__ std::uint32_t pair(typename Atom::Sums const (&sums)[parts * products], int part, int block) const {
        constexpr int of_product = Atom::n / packet;
        auto const& of_block = sums[part * products + block / of_product];
        int const first_sum = 4 * (block % of_product) + 2 * own;
        return packed<U>(result(of_block[first_sum], own), result(of_block[first_sum + 1], own));
    }

    /// The thread's single pixels of one of its channels in a part, and what products have after the last of them.
    template <int own>
    __device__ void stage_pixels(typename Atom::Sums const (&sums)[parts * products], int part, U* to) const {
        auto* const pairs = reinterpret_cast<std::uint32_t*>(to) + thread % 4;
#pragma unroll
        for (int block = 0; block < pixels / packet; ++block) pairs[block * packet / 2] = pair<own>(sums, part, block);
    }

    /// The thread's places of one of its channels in a part, without the gaps between rows, up to the end.
    template <int own>
    __device__ void stage(typename Atom::Sums const (&sums)[parts * products], int part, int end, U* to) const {
        int const pitch = tiles.pitch, width = tiles.y_width, gap = pitch - width, rows_of_step = packet / pitch,
                  columns_of_step = packet % pitch, first_place = static_cast<int>(thread) % 4 * 2;
        int column = first_place % pitch, at = first_place - first_place / pitch * gap;
#pragma unroll
        for (int block = 0; block < pixels / packet; ++block) {
            std::uint32_t const both = pair<own>(sums, part, block);
            bool const wraps = column + 1 == pitch;
            int const next = at + 1 - (wraps ? gap : 0);
            auto* const elements = reinterpret_cast<std::uint16_t*>(to);
            if (column < width && at < end) elements[at] = static_cast<std::uint16_t>(both);
            if ((wraps || column + 1 < width) && next < end) elements[next] = static_cast<std::uint16_t>(both >> 16);
            column += columns_of_step, at += packet - rows_of_step * gap;
            if (column >= pitch) column -= pitch, at -= gap;
        }
    }

    /// Copies channels of a part, staged from `staged` on, to y: 16 bytes a lane; and of the first and the last 16
    /// bytes, which are other parts' too, an element a lane.
    __device__ void copy(int from, PlanePart const& part, U const* staged) const {
        if (part.n < 0) return;
        int const lane = static_cast<int>(thread % 32), own = lane % lanes, start = part.row * tiles.y_width,
                  elements = length(part), present = min(count - from, channels);
        U* const to = y + part.n * image_stride + std::int64_t{from} * plane + start;
#pragma unroll 2
        for (int c = lane / lanes; c < present; c += 32 / lanes) {
            int const before = early(c, start), too_early = tiles.single ? before % 2 : 0, at = own * packet - before,
                      last = ((before + elements) & -packet) - before,
                      edge = own < packet ? at + own * (1 - packet) : last + own - packet;
            U const* const values = staged + c * row_pitch;
            U* const here = to + std::int64_t{c} * plane;
            if (at >= 0 && at + packet <= elements) {
                auto const* const words = reinterpret_cast<std::uint32_t const*>(values + own * packet);
                auto chunk = *reinterpret_cast<Packet<std::uint32_t, packet / 2> const*>(words);
                if (too_early) {
                    std::uint32_t before_it = words[-1];
#pragma unroll
                    for (std::uint32_t& word : chunk.values) {
                        std::uint32_t const later = word << 16 | before_it >> 16;
                        before_it = word, word = later;
                    }
                }
                *reinterpret_cast<Packet<std::uint32_t, packet / 2>*>(here + at) = chunk;
            }
            if (own < 2 * packet && (own >= packet || before > 0) && edge >= 0 && edge < elements)
                here[edge] = values[before - too_early + edge];
        }
    }
};

}  // namespace fusekit::hip
