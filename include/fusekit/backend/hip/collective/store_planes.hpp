// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/collective/plane_loader.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// Takes the sums of a warpgroup, 64 channels of the places of a tile's parts, through the epilogue to planes of y. A
/// warp has 16 channels: eight at a time lie down in shared memory, gaps between rows of y included, and lanes take
/// eight neighbours of y each from there.
template <class Plan, class Atom, class U, int parts>
class StorePlanes {
    static_assert(sizeof(U) == 2);
    static constexpr int packet = 8, channels = 8;
    /// From a channel to the next: eight channels' words of four neighbouring lanes are in different banks. The first
    /// packet is read where a copy begins before a part's first place.
    static constexpr int lead = packet, row_pitch = (lead + parts * Atom::n + 7) / 16 * 16 + 8;
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Tiles = PlaneTiles<Atom::n>;

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
          first(the_first),
          thread(the_thread) {
        if constexpr (Epilogue::channelwise)
            for (int i = 0; i < 2; ++i)
                states[i] = Epilogue::prepare(std::int64_t{min(channel(i), count - 1)}, arguments);
    }

    /// `part_of(i)` is the tile's part i.
    template <class PartOf>
    __device__ void store(typename Atom::Sums const (&sums)[parts], PartOf const& part_of, Shared& shared) const {
        int const from = first + static_cast<int>(thread / 32) * 16;
        store_half<0>(sums, part_of, shared, from);
        store_half<1>(sums, part_of, shared, from + channels);
    }

private:
    Tiles const& tiles;
    typename Epilogue::Args const& arguments;
    U* y;
    std::int64_t image_stride;
    int count, first;
    unsigned thread;
    State states[Epilogue::channelwise ? 2 : 1];

    __device__ int channel(int own) const { return first + Atom::row(static_cast<int>(thread), 2 * own); }

    /// One of the thread's channels, with those of the warp that neighbour it, which are `from` and the next.
    template <int own, class PartOf>
    __device__ void store_half(typename Atom::Sums const (&sums)[parts], PartOf const& part_of, Shared& shared,
                               int from) const {
        if (from >= count) return;
        ptx::sync_wave();  // what was staged before has been read
#pragma unroll
        for (int i = 0; i < parts; ++i) stage<own>(sums[i], shared.staged + lead + i * Atom::n);
        ptx::sync_wave();
#pragma unroll 1
        for (int i = 0; i < parts; ++i) copy(from, part_of(i), shared.staged + lead + i * Atom::n);
    }

    /// The thread's places of one of its channels.
    template <int own>
    __device__ void stage(typename Atom::Sums const& sums, U* staged) const {
        auto* const to = reinterpret_cast<std::uint32_t*>(staged + thread % 32 / 4 * row_pitch + thread % 4 * 2);
        OutputCoord const place{0, channel(own), 0, 0};
#pragma unroll
        for (int block = 0; block < Atom::n / packet; ++block) {
            float results[2];
#pragma unroll
            for (int j = 0; j < 2; ++j)
                results[j] = Epilogue::apply(sums[4 * block + 2 * own + j], place,
                                             Epilogue::channelwise ? states[own] : State{}, arguments);
            to[block * packet / 2] = packed<U>(results[0], results[1]);
        }
    }

    /// Copies channels of a part, staged from `staged` on, to y, by 16 bytes but where these are shared.
    __device__ void copy(int from, PlanePart const& part, U const* staged) const {
        if (part.n < 0) return;
        int const width = tiles.y_width, plane = tiles.y_height * width, start = part.row * width,
                  length = min(tiles.rows, tiles.y_height - part.row) * width, gap = tiles.pitch - width,
                  packets = (length + 2 * (packet - 1)) / packet, present = min(count - from, channels);
        U* const to = y + part.n * image_stride + std::int64_t{from} * plane + start;
#pragma unroll 1
        for (int i = static_cast<int>(thread % 32); i < present * packets; i += 32) {
            int const c = i / packets, at = i % packets * packet - (c * (plane % packet) + start) % packet;
            if (at >= length) continue;
            Packet<U, packet> values;
            int row = max(at, 0) / width, column = at - row * width, place = at + row * gap;
#pragma unroll
            for (int j = 0; j < packet; ++j, ++place) {
                values.values[j] = staged[c * row_pitch + min(place, Atom::n - 1)];
                if (++column == width) column = 0, place += gap;
            }
            U* const here = to + std::int64_t{c} * plane + at;
            if (at >= 0 && at + packet <= length) {
                *reinterpret_cast<Packet<U, packet>*>(here) = values;
            } else {
#pragma unroll
                for (int j = 0; j < packet; ++j)
                    if (at + j >= 0 && at + j < length) here[j] = values.values[j];
            }
        }
    }
};

}  // namespace fusekit::hip
