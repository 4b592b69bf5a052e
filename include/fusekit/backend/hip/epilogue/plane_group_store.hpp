// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/tma_plane_tiles.hpp"

namespace fusekit::hip {

/// Applies the epilogue to a warpgroup's accumulators, 64 channels x 64 pixels of one plane, and stores them to planes
/// of y (NCHW) of 16-bit elements. A warp stages its 16 channels in SMEM; then consecutive lanes store consecutive
/// vectors of a channel.
template <class Plan, class Atom, class U>
class PlaneGroupStore {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Tiles = TmaPlaneTiles;
    static constexpr int channels = 16;
    /// Elements from a staged channel to the next: 36 words, so that eight channels' words of four lanes are in
    /// different banks.
    static constexpr int pitch = Tiles::pixels + 8;
    static_assert(sizeof(U) == 2);

public:
    struct Shared {
        alignas(16) U staged[channels * pitch];
    };

    /// `first`: the warpgroup's first channel of y.
    template <class Params>
    __device__ PlaneGroupStore(Params const& params, int first, unsigned the_thread)
        : y(params.y.data),
          layout(params.y.layout),
          tiles(params.tma_planes),
          arguments(params.bound.epilogue),
          lane(static_cast<int>(the_thread % 32)),
          from(first + static_cast<int>(the_thread % 128 / 32) * channels),
          count((min)(static_cast<int>(layout.shape[1]) - from, channels)) {
        if constexpr (Epilogue::channelwise) {
            for (int i = 0; i < 2; ++i)
                states[i] = Epilogue::prepare(std::int64_t{(min)(channel(i), static_cast<int>(layout.shape[1]) - 1)},
                                              arguments);
        }
    }

    /// Stores a group of pixels: `pixel` and the following ones of image n. All lanes of the warp call it.
    __device__ void store(typename Atom::Accumulators const& acc, int n, int pixel, Shared& shared) const {
        if (count <= 0) return;
        ptx::bar_warp_sync();  // all lanes have read the previous group
#pragma unroll
        for (int own = 0; own < 2; ++own) {
            auto* const to = reinterpret_cast<std::uint32_t*>(shared.staged + (lane / 4 + 8 * own) * pitch) + lane % 4;
#pragma unroll
            for (int block = 0; block < Atom::n / 8; ++block)
                to[block * 4] =
                    packed<U>(result(acc[4 * block + 2 * own], own), result(acc[4 * block + 2 * own + 1], own));
        }
        ptx::bar_warp_sync();
        int const present = (min)(tiles.plane - pixel, Tiles::pixels);
        U* const to = y + n * layout.stride[0] + from * layout.stride[1] + pixel;
        copy(shared, to, present);
    }

private:
    U* y;
    Layout<4> const& layout;
    Tiles const& tiles;
    typename Epilogue::Args const& arguments;
    int lane, from, count;
    State states[Epilogue::channelwise ? 2 : 1];

    __device__ int channel(int own) const { return from + lane / 4 + 8 * own; }
    __device__ float result(float sum, int own) const {
        return Epilogue::apply(sum, OutputCoord{0, channel(own), 0, 0}, Epilogue::channelwise ? states[own] : State{},
                               arguments);
    }

    /// Copies `present` pixels, a multiple of 8, of the staged channels by packets of 16 bytes.
    __device__ void copy(Shared const& shared, U* to, int present) const {
        constexpr int vector = 8, of_row = Tiles::pixels / vector;
        using Vector = Packet<std::uint16_t, vector>;
#pragma unroll 4
        for (int i = lane; i < channels * of_row; i += 32) {
            int const c = i / of_row, at = i % of_row * vector;
            if (c < count && at < present)
                *reinterpret_cast<Vector*>(to + c * layout.stride[1] + at) =
                    *reinterpret_cast<Vector const*>(shared.staged + c * pitch + at);
        }
    }
};

}  // namespace fusekit::hip
