// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/epilogue/nchw_channels.hpp"
#include "fusekit/backend/hip/epilogue/nchw_split_store.hpp"
#include "fusekit/backend/hip/gather_tiles.hpp"

namespace fusekit::hip {

/// Store of a warpgroup's tile of GatheredPlanes to y: 64 channels x GatherTiles::pixels positions. Each warp applies
/// the epilogue to 8 channels at a time and stages them in SMEM without the gaps; then lanes store consecutive pairs of
/// elements of a channel.
template <class Plan, class Atom, class U>
class GatheredStore : NchwChannels<Plan, Atom, U, GatherTiles> {
    using Base = NchwChannels<Plan, Atom, U, GatherTiles>;
    using Base::count, Base::first, Base::image_stride, Base::plane, Base::result, Base::thread, Base::tiles, Base::y;
    static constexpr int pixels = GatherTiles::pixels, products = pixels / Atom::n, channels = 8;
    /// Elements from a staged channel to the next: 124 words, so that a store of four lanes' words to each of eight
    /// channels has no bank conflicts.
    static constexpr int pitch = pixels + 8;
    static_assert(sizeof(U) == 2 && pixels % 2 == 0);

public:
    /// Staging buffers of a warpgroup, one per warp. position[i]: index of the tile's position i in a staged channel,
    /// without gaps; -1 if it is in a gap.
    struct Shared {
        alignas(16) U staged[4][channels * pitch];
        std::int16_t position[pixels];
    };

    using Base::Base;

    /// Applies the epilogue and stores the tile whose first position is `start`. All threads of the warpgroup call it;
    /// `barrier` synchronizes them.
    template <class Barrier>
    __device__ void store(typename Atom::Accumulators const (&acc)[products], unsigned start, Shared& shared,
                          Barrier const& barrier) const {
        std::uint32_t const begin = tiles.elements_before(start), end = tiles.elements_before(start + pixels);
        barrier();  // all threads have stored the previous tile
#pragma unroll 1
        for (unsigned i = thread; i < pixels; i += Atom::threads)
            shared.position[i] = static_cast<std::int16_t>(
                tiles.is_pixel(start + i) ? static_cast<int>(tiles.elements_before(start + i) - begin + (begin & 1))
                                          : -1);
        barrier();
        int const from = first + static_cast<int>(thread / 32) * 16;
        // Not unrolled, so that the code exists once. The loop selects accumulators, instead of moving them, because
        // ptxas spills where a loop modifies the registers of MMAs.
#pragma unroll 1
        for (int own = 0; own < 2; ++own) {
            typename Atom::Accumulators sums[products];
#pragma unroll
            for (int i = 0; i < products; ++i)
#pragma unroll
                for (int e = 0; e < Atom::acc_per_thread; e += e % 4 == 0 ? 1 : 3)
                    sums[i][e] = own == 0 ? acc[i][e] : acc[i][e + 2];
            store_half(own, sums, shared, from + own * channels, begin, end);
        }
    }

private:
    /// Stages and stores one half of the warp's 16 channels: channels `from` to `from` + 7 of y, elements [begin, end)
    /// of each, counted over all images. The thread has one of them, its channel number `own`, whose accumulators are
    /// elements 0 and 1 of every four of `sums`.
    __device__ void store_half(int own, typename Atom::Accumulators const (&sums)[products], Shared& shared, int from,
                               std::uint32_t begin, std::uint32_t end) const {
        if (from >= count) return;
        auto* const staged = reinterpret_cast<std::uint16_t*>(shared.staged[thread / 32]);
        auto* const to = staged + thread % 32 / 4 * pitch;
        ptx::bar_warp_sync();  // lanes have stored the previous half
#pragma unroll
        for (int i = 0; i < products; ++i)
#pragma unroll
            for (int block = 0; block < Atom::n / 8; ++block) {
                auto const* const position = shared.position + i * Atom::n + block * 8 + thread % 4 * 2;
                int const one = position[0], two = position[1];
                std::uint32_t const word =
                    packed<U>(result(sums[i][4 * block], own), result(sums[i][4 * block + 1], own));
                if (one >= 0) to[one] = static_cast<std::uint16_t>(word);
                if (two >= 0) to[two] = static_cast<std::uint16_t>(word >> 16);
            }
        ptx::bar_warp_sync();
        bool const pairs = ((image_stride | plane) & 1) == 0;  // then pairs of elements have aligned addresses
        int const present = (min)(count - from, channels);
#pragma unroll 1
        for (std::uint32_t pair = thread % 32, element = (begin & ~1u) + 2 * pair; element < end;
             pair += 32, element += 64) {
            U* const first_of = address(from, element);
            U* const second_of = address(from, element + 1);
            bool const one = element >= begin, two = element + 1 < end;
#pragma unroll 4
            for (int c = 0; c < present; ++c) {
                std::uint32_t const word = *reinterpret_cast<std::uint32_t const*>(staged + c * pitch + 2 * pair);
                if (pairs && one && two) {
                    *reinterpret_cast<std::uint32_t*>(first_of + std::int64_t{c} * plane) = word;
                } else {
                    if (one)
                        *reinterpret_cast<std::uint16_t*>(first_of + std::int64_t{c} * plane) =
                            static_cast<std::uint16_t>(word);
                    if (two)
                        *reinterpret_cast<std::uint16_t*>(second_of + std::int64_t{c} * plane) =
                            static_cast<std::uint16_t>(word >> 16);
                }
            }
        }
    }

    /// Address of an element of a channel of all images.
    __device__ U* address(int channel, std::uint32_t element) const {
        std::uint32_t const n = tiles.of_plane.divide(element), within = element - n * tiles.of_plane.value();
        return y + n * image_stride + std::int64_t{channel} * plane + within;
    }
};

/// Offsets in y of four consecutive positions of a tile, from the first image, for NchwSplitStore::store_quads().
struct GatheredQuad : PixelQuadOffsets<std::int64_t> {
    static constexpr int image = 0;

    __device__ GatheredQuad(GatherTiles const& tiles, unsigned first, std::int64_t image_stride) {
        for (unsigned i = 0; i < 4; ++i) {
            std::uint32_t const element = tiles.elements_before(first + i), n = tiles.of_plane.divide(element);
            elements[i] = tiles.is_pixel(first + i) ? n * image_stride + (element - n * tiles.of_plane.value()) : -1;
        }
    }
};

}  // namespace fusekit::hip
