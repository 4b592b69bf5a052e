// SPDX-License-Identifier: MIT
#pragma once

#include <bit>

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/collective/plane_loader.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// Takes the sums of a warpgroup, 64 channels of the places of a part, through the epilogue to planes of y. A warp has
/// 16 channels: eight at a time lie down in shared memory as they will lie in y, whose 16 bytes they fill or share.
template <class Plan, class Atom, class U>
class StorePlanes {
    static_assert(sizeof(U) == 2);
    static constexpr int packet = 8, channels = 8;
    /// From a channel to the next: eight channels' words of four neighbouring lanes are in different banks.
    static constexpr int row_pitch = (Atom::n + 8 + 7) / 16 * 16 + 8;
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Tiles = PlaneTiles<Atom::n>;
    static constexpr bool reads_places = Epilogue::located || Epilogue::per_place || Epilogue::stores;

public:
    /// Of a warp.
    struct Shared {
        alignas(16) U staged[channels * row_pitch];
    };

    /// Prepares the thread's two channels; of no channel of y, its last one's. `the_first` is the warpgroup's.
    template <class Params>
    __device__ StorePlanes(Params const& params, Tiles const& the_tiles, int the_first, unsigned the_thread)
        : tiles(the_tiles),
          arguments(params.bound.epilogue),
          y(params.y.data),
          image_stride(params.y.layout.stride[0]),
          count(static_cast<int>(params.y.layout.shape[1])),
          columns(static_cast<int>(params.y.layout.shape[3])),
          first(the_first),
          thread(the_thread) {
        if constexpr (Epilogue::channelwise)
            for (int i = 0; i < 2; ++i)
                states[i] = Epilogue::prepare(std::int64_t{min(channel(i), count - 1)}, arguments);
    }

    __device__ void store(float const (&sums)[Atom::sums_per_thread], PlanePart const& part, Shared& shared) const {
        if (part.n < 0) return;
        int const plane = tiles.y_height * tiles.y_width, start = part.row * tiles.y_width,
                  length = min(tiles.rows, tiles.y_height - part.row) * tiles.y_width, lane = thread % 32;
        bool const whole = length == plane;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            int const from = first + static_cast<int>(thread / 32) * 16 + half * channels;
            int const present = min(count - from, channels);
            if (present <= 0) return;
            auto const before = [&](int c) { return whole ? 0 : ((from + c) % packet * plane + start) % packet; };
            int const pitch = whole ? plane : row_pitch;
            ptx::sync_wave();  // what was staged before has been read
            stage(sums, half, part, shared.staged + lane / 4 * pitch + before(lane / 4), length, start);
            ptx::sync_wave();
            for (int row = 0; row < (whole ? 1 : present); ++row) {
                int const shift = before(row), end = shift + (whole ? present * plane : length);
                U* const to = y + part.n * image_stride + std::int64_t{from + row} * plane + start - shift;
                for (int at = lane * packet; at < end; at += 32 * packet) {
                    auto const values = *reinterpret_cast<Packet<U, packet> const*>(shared.staged + row * pitch + at);
                    if (at >= shift && at + packet <= end) {
                        *reinterpret_cast<Packet<U, packet>*>(to + at) = values;
                    } else {
#pragma unroll
                        for (int i = 0; i < packet; ++i)
                            if (at + i >= shift && at + i < end) to[at + i] = values.values[i];
                    }
                }
            }
        }
    }

private:
    Tiles const& tiles;
    typename Epilogue::Args const& arguments;
    U* y;
    std::int64_t image_stride;
    int count, columns, first;
    unsigned thread;
    State states[Epilogue::channelwise ? 2 : 1];

    __device__ int channel(int own) const { return first + Atom::row(static_cast<int>(thread), 2 * own); }

    /// The thread's places of one of its channels, which lie from `to` on.
    __device__ void stage(float const (&sums)[Atom::sums_per_thread], int own, PlanePart const& part, U* to, int length,
                          int start) const {
        int const gap = tiles.pitch - tiles.y_width, k = channel(own);
        int column = Atom::column(static_cast<int>(thread), 0), offset = column;  // in a row and in the part
        bool const even = tiles.y_width % 2 == 0 || gap == 0,
                   paired = even && gap % 2 == 0 && reinterpret_cast<std::uintptr_t>(to) % 4 == 0 && length % 2 == 0;
#pragma unroll
        for (int e = 2 * own; e < Atom::sums_per_thread; e += 4) {
            int own_column = column, own_offset = offset;
            float results[2] = {};
            bool exists[2] = {};
            int offsets[2] = {};
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                if (gap > 0)
                    while (own_column >= tiles.pitch) own_column -= tiles.pitch, own_offset -= gap;
                if (i == 0) column = own_column, offset = own_offset;
                exists[i] = (gap == 0 || own_column < tiles.y_width) && own_offset < length;
                offsets[i] = own_offset;
                OutputCoord place{part.n, k, 0, 0};
                if constexpr (reads_places)
                    place.p = (start + own_offset) / columns, place.q = (start + own_offset) % columns;
                if (!reads_places || (exists[i] && k < count))
                    results[i] =
                        Epilogue::apply(sums[e + i], place, Epilogue::channelwise ? states[own] : State{}, arguments);
                ++own_column, ++own_offset;
            }
            std::uint32_t const both = packed<U>(results[0], results[1]);
            if (paired) {
                if (exists[0]) *reinterpret_cast<std::uint32_t*>(to + offsets[0]) = both;
            } else {
                if (exists[0]) to[offsets[0]] = std::bit_cast<U>(static_cast<std::uint16_t>(both));
                if (exists[1]) to[offsets[1]] = std::bit_cast<U>(static_cast<std::uint16_t>(both >> 16));
            }
            column += packet, offset += packet;
        }
    }
};

}  // namespace fusekit::hip
