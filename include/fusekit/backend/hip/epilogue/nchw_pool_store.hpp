// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/epilogue/nchw_channels.hpp"
#include "fusekit/backend/hip/epilogue/nchw_store.hpp"

namespace fusekit::hip {

/// NchwStore for plans that pool: applies the epilogue to a warpgroup's accumulators, reduces 2 x 2 windows and stores
/// them to planes of y, with any strides. A warp stages the results of 4 channels at a time in SMEM, as floats without
/// the gaps between rows; its lanes then reduce consecutive windows. The parts of a tile (PlanePart: rows of one image)
/// have an even number of rows.
template <class Plan, class Atom, class U, int parts, int products>
class NchwPoolStore : NchwChannels<Plan, Atom, U, PlaneTiles<products * Atom::n, U>> {
    static constexpr int pixels = products * Atom::n, channels = 4, packet = 8;
    /// Elements from a staged channel to the next: stores of 4 lanes to each of 4 channels have no bank conflicts.
    static constexpr int pitch = pixels + 8;
    static_assert(pitch % 16 == 8 && pixels < 256);
    using Tiles = PlaneTiles<pixels, U>;
    using Base = NchwChannels<Plan, Atom, U, Tiles>;
    using Base::count, Base::first, Base::result, Base::thread, Base::tiles, Base::y;

public:
    struct Shared {
        alignas(16) float staged[parts][channels * pitch];
    };

    template <class Params>
    __device__ NchwPoolStore(Params const& params, Tiles const& the_tiles, int the_first, unsigned the_thread)
        : Base(params, the_tiles, the_first, the_thread),
          arguments(params.bound.epilogue),
          stride(params.y.layout.stride) {}

    /// Applies the epilogue and stores a tile; `part_of(i)` returns the tile's PlanePart number i.
    template <class PartOf>
    __device__ void store(typename Atom::Accumulators const (&acc)[parts * products], PartOf const& part_of,
                          Shared& shared) const {
        store_channels<0, 0>(acc, part_of, shared);
        store_channels<0, 1>(acc, part_of, shared);
        store_channels<1, 0>(acc, part_of, shared);
        store_channels<1, 1>(acc, part_of, shared);
    }

private:
    typename Plan::Epilogue::Args const& arguments;
    Index<4> const& stride;

    /// Stages and reduces 4 of the warp's 16 channels: those that the lanes of half a warp have as channel number
    /// `own`.
    template <int own, unsigned half, class PartOf>
    __device__ void store_channels(typename Atom::Accumulators const (&acc)[parts * products], PartOf const& part_of,
                                   Shared& shared) const {
        int const from = first + static_cast<int>(thread / 32) * 16 + own * 8 + static_cast<int>(half) * channels;
        if (from >= count) return;
        ptx::bar_warp_sync();  // all lanes have read the previous channels
#pragma unroll
        for (int i = 0; i < parts; ++i)
            if (thread % 32 / 16 == half && part_of(i).n >= 0)
                stage<own>(acc, i, shared.staged[i] + static_cast<int>(thread % 16 / 4) * pitch);
        ptx::bar_warp_sync();
#pragma unroll 1
        for (int i = 0; i < parts; ++i)
            if (PlanePart const part = part_of(i); part.n >= 0) reduce(from, part, shared.staged[i]);
    }

    /// Stores the thread's pixels of its channel number `own` in part number `part` to `to`. Elements past the part's
    /// last row are undefined.
    template <int own>
    __device__ void stage(typename Atom::Accumulators const (&acc)[parts * products], int part, float* to) const {
        constexpr unsigned scale = 1 << 16;
        constexpr int of_product = Atom::n / packet;
        unsigned const row_pitch = static_cast<unsigned>(tiles.pitch), width = static_cast<unsigned>(tiles.y_width),
                       gap = row_pitch - width,
                       reciprocal = scale / row_pitch + 1;  // exact for indices up to 255
#pragma unroll
        for (int block = 0; block < pixels / packet; ++block) {
            auto const& of_block = acc[part * products + block / of_product];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                unsigned const pixel = static_cast<unsigned>(block * packet + i) + thread % 4 * 2,
                               row = pixel * reciprocal / scale;
                if (pixel - row * row_pitch < width)
                    to[pixel - row * gap] = this->result(of_block[4 * (block % of_product) + 2 * own + i], own);
            }
        }
    }

    /// Reduces the windows of a part, of 4 channels from channel `from` of y on, and stores them to y.
    __device__ void reduce(int from, PlanePart const& part, float const* staged) const {
        using Pair = Packet<float, 2>;
        auto const width = static_cast<unsigned>(tiles.y_width), columns = width / 2,
                   rows = static_cast<unsigned>((min)(tiles.rows, tiles.y_height - part.row)) / 2;
        int const present = (min)(count - from, channels);
        U* const to = y + part.n * stride[0] + from * stride[1] + part.row / 2 * stride[2];
#pragma unroll 1
        for (unsigned window = thread % 32; window < rows * columns; window += 32) {
            unsigned const p = window / columns, q = window - p * columns;
            float const* const at = staged + 2 * (p * width + q);
            std::int64_t const offset = p * stride[2] + q * stride[3];
#pragma unroll
            for (int c = 0; c < channels; ++c) {
                if (c >= present) break;
                auto const upper = *reinterpret_cast<Pair const*>(at + c * pitch),
                           lower = *reinterpret_cast<Pair const*>(at + c * pitch + width);
                detail::WindowTotal<typename Plan::Pool::Reduce> total;
#pragma unroll
                for (int i = 0; i < 4; ++i) total.add((i < 2 ? upper : lower).values[i % 2], i);
                to[offset + c * stride[1]] = U(total.finish(4));
                if constexpr (Plan::Pool::writes_taps)
                    Plan::Pool::store_tap(detail::get<Plan::Epilogue::size - 1>(arguments),
                                          {{part.n, from + c, part.row / 2 + static_cast<int>(p), static_cast<int>(q)}},
                                          total.tap);
            }
        }
    }
};

/// Type: NchwStore or, for plans that pool, NchwPoolStore.
template <class Plan, class Atom, class U, int parts, int products>
struct NchwStoreOf {
    using Type = NchwStore<Plan, Atom, U, parts, products>;
};
template <class Plan, class Atom, class U, int parts, int products>
    requires(Plan::pools)
struct NchwStoreOf<Plan, Atom, U, parts, products> {
    using Type = NchwPoolStore<Plan, Atom, U, parts, products>;
};

}  // namespace fusekit::hip
