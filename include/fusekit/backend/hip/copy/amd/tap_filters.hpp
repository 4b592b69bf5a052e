// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/copy/amd/buffer_loads.hpp"
#include "fusekit/backend/hip/copy/amd/tap_order.hpp"

namespace fusekit::hip {

/// Loader of w (KCRS) in the order of a TapOrder: by 16-byte loads of consecutive taps or, for the tail taps (those
/// that do not fill 16 bytes), by one load of Order::pair elements for every Order::unit channels.
template <Element W, int Size, int threads, bool has_scalars, class Order>
class TapFilters : public FilterPackets<W, Size, Order::tile_k, threads, has_scalars> {
    using Base = FilterPackets<W, Size, Order::tile_k, threads, has_scalars>;
    using Base::own, Base::passes, Base::values;
    static constexpr int units = Order::packet / Order::pair;  ///< number of tail-tap loads that fill 16 bytes
    using Pair = std::conditional_t<sizeof(W) == 4, std::uint32_t, std::uint16_t>;

public:
    template <class Problem>
    __device__ TapFilters(unsigned thread, Problem const& conv, int first_filter, int group)
        : Base(thread, conv, first_filter, group),
          of_channel(static_cast<std::uint32_t>(conv.w.layout.stride[1]) * std::uint32_t{sizeof(W)}) {}

    /// Bytes in w from the channels of a k-tile to those of the next k-tile with the same taps.
    __device__ std::uint32_t stride() const { return Order::channels * of_channel; }
    /// Loads the k-tile that find() located last, or a later k-tile with the same taps whose channels are `soffset`
    /// bytes later in w. Tail taps ignore `soffset`; precondition: their k-tiles are loaded in order.
    __device__ void load(std::uint32_t soffset) {
        if constexpr (Order::packed) {
            Base::load(soffset);
        } else {
            this->each([&](int pass, Buffer const& buffer, std::uint32_t at) {
#pragma unroll
                for (unsigned i = 0; i < units; ++i)
                    singles[pass][i] = buffer.template load<Pair>(at, i * Order::unit * of_channel);
            });
#pragma unroll
            for (std::uint32_t& at : own) at += stride();
        }
    }
    /// Waits until this thread's loads have completed.
    __device__ void wait() {
        if constexpr (Order::packed) Base::wait();
        else wait_for(singles[passes - 1][units - 1]);
    }
    template <class Tile>
    __device__ void store(Tile& tile) {
        if constexpr (!Order::packed) {
#pragma unroll
            for (int i = 0; i < passes * units; ++i) {
                std::uint32_t const single = singles[i / units][i % units];
                int const word = i % units * 4 / units;
                if (units == 8 && i % 2 == 1) values[i / units][word] |= single << 16;
                else values[i / units][word] = single;
            }
        }
        Base::store(tile);
    }

private:
    std::uint32_t of_channel;
    Pair singles[Order::packed ? 1 : passes][units];
};

}  // namespace fusekit::hip
