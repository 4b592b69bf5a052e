// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/epilogue/nchw_channels.hpp"
#include "fusekit/backend/hip/epilogue/nchw_store.hpp"

namespace fusekit::hip {

/// NchwStore for plans that pool: applies the epilogue to a warpgroup's accumulators, reduces 2 x 2 windows and stores
/// them to planes of y, with any strides. The two columns of a window are in one thread, because rows of a tile are an
/// even number of pixels apart. A warp stages the reduced columns of 8 channels at a time in SMEM, as floats without
/// the gaps between rows; its lanes then reduce the two rows of consecutive windows. The parts of a tile (PlanePart:
/// rows of one image) have an even number of rows.
template <class Plan, class Atom, class U, int parts, int products>
class NchwPoolStore : NchwChannels<Plan, Atom, U, PlaneTiles<products * Atom::n, U>> {
    using Reduce = typename Plan::Pool::Reduce;
    static constexpr int pixels = products * Atom::n, channels = 8, block_pixels = 8;
    /// Elements from a staged channel to the next: stores of 4 lanes to each of 8 channels have no bank conflicts.
    static constexpr int pitch = pixels / 2 + 4;
    static_assert(pitch % 8 == 4 && pixels < 256);
    using Tiles = PlaneTiles<pixels, U>;
    using Base = NchwChannels<Plan, Atom, U, Tiles>;
    using Base::count, Base::first, Base::result, Base::thread, Base::tiles, Base::y;

public:
    struct Shared {
        float staged[parts][channels * pitch];
    };

    template <class Params>
    __device__ NchwPoolStore(Params const& params, Tiles const& the_tiles, int the_first, unsigned the_thread)
        : Base(params, the_tiles, the_first, the_thread), stride(params.y.layout.stride) {}

    /// Applies the epilogue and stores a tile; `part_of(i)` returns the tile's PlanePart number i.
    template <class PartOf>
    __device__ void store(typename Atom::Accumulators const (&acc)[parts * products], PartOf const& part_of,
                          Shared& shared) const {
        store_half<0>(acc, part_of, shared);
        store_half<1>(acc, part_of, shared);
    }

private:
    Index<4> const& stride;

    /// Stages and reduces one half of the warp's 16 channels. The thread has one of them, its channel number `own`.
    template <int own, class PartOf>
    __device__ void store_half(typename Atom::Accumulators const (&acc)[parts * products], PartOf const& part_of,
                               Shared& shared) const {
        int const from = first + static_cast<int>(thread / 32) * 16 + own * channels;
        if (from >= count) return;
        ptx::bar_warp_sync();  // all lanes have read the previous channels
#pragma unroll
        for (int i = 0; i < parts; ++i)
            if (part_of(i).n >= 0) stage<own>(acc, i, shared.staged[i] + static_cast<int>(thread % 32 / 4) * pitch);
        ptx::bar_warp_sync();
#pragma unroll 1
        for (int i = 0; i < parts; ++i)
            if (PlanePart const part = part_of(i); part.n >= 0) reduce_rows(from, part, shared.staged[i]);
    }

    /// Reduces pairs of columns of the thread's channel number `own` in part number `part`, and stores them to `to`.
    /// Elements past the part's last row are undefined.
    template <int own>
    __device__ void stage(typename Atom::Accumulators const (&acc)[parts * products], int part, float* to) const {
        constexpr unsigned scale = 1 << 16;
        constexpr int of_product = Atom::n / block_pixels;
        unsigned const row_pitch = static_cast<unsigned>(tiles.pitch), width = static_cast<unsigned>(tiles.y_width),
                       gap = row_pitch - width,
                       reciprocal = scale / row_pitch + 1;  // exact for indices up to 255
#pragma unroll
        for (int block = 0; block < pixels / block_pixels; ++block) {
            auto const& of_block = acc[part * products + block / of_product];
            int const e = 4 * (block % of_product) + 2 * own;
            unsigned const pixel = static_cast<unsigned>(block * block_pixels) + thread % 4 * 2,
                           row = pixel * reciprocal / scale;
            float const total =
                Reduce::combine(Reduce::combine(Reduce::template neutral<float>(), this->result(of_block[e], own)),
                                this->result(of_block[e + 1], own));
            if (pixel - row * row_pitch < width) to[(pixel - row * gap) / 2] = total;
        }
    }

    /// Reduces the rows of a part's windows, of 8 channels from channel `from` of y on, and stores them to y.
    __device__ void reduce_rows(int from, PlanePart const& part, float const* staged) const {
        auto const columns = static_cast<unsigned>(tiles.y_width) / 2,
                   rows = static_cast<unsigned>((min)(tiles.rows, tiles.y_height - part.row)) / 2;
        int const present = (min)(count - from, channels);
        U* const to = y + part.n * stride[0] + from * stride[1] + part.row / 2 * stride[2];
#pragma unroll 1
        for (unsigned window = thread % 32; window < rows * columns; window += 32) {
            unsigned const p = window / columns, q = window - p * columns;
            float const* const at = staged + 2 * p * columns + q;
            U* to_channel = to + (p * stride[2] + q * stride[3]);
#pragma unroll
            for (int c = 0; c < channels; ++c, to_channel += stride[1])
                if (c < present)
                    *to_channel =
                        U(Reduce::finish(Reduce::combine(at[c * pitch], at[c * pitch + static_cast<int>(columns)]), 4));
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
