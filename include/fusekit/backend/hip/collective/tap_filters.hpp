// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/collective/near_words.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// How GemmK is counted where filters have only their taps as neighbours in memory: those of a convolution with space
/// last, in its gradient by x. 16 bytes of a step's row are `packet` taps of one channel. Taps that are left over come
/// last, from a step of their own on: then 16 bytes are one tap of `packet` channels.
template <auto Filter, int Packet, int TileK>
struct TapOrder {
    static constexpr unsigned packet = Packet,
                              taps =
                                  [] {
                                      unsigned all = 1;
                                      for (int mode = 0; mode < Filter.rank; ++mode)
                                          all *= static_cast<unsigned>(Filter.size[mode]);
                                      return all;
                                  }(),
                              together = taps / packet * packet, apart = taps - together;

    /// Whether each 16 bytes exist or do not.
    static constexpr bool suits(std::int64_t channels) { return apart == 0 || channels % packet == 0; }

    /// Steps that take neighbours, and all indices, with those that stand between.
    __device__ static int steps_together(int channels) {
        return static_cast<int>(detail::divide_up(static_cast<unsigned>(channels) * together, TileK));
    }
    __device__ static int gemm_k(int channels) {
        return steps_together(channels) * TileK + channels * static_cast<int>(apart);
    }
    /// The coordinate of an index; past the end c is too large.
    template <class Problem>
    __device__ static KCoord k_coord(Problem const& conv, unsigned index) {
        auto const columns = static_cast<unsigned>(conv.window_columns());
        auto const first_apart = static_cast<unsigned>(steps_together(conv.group_c()) * TileK);
        auto const coord = [&](unsigned c, unsigned tap) {
            return KCoord{static_cast<int>(c), static_cast<int>(tap / columns), static_cast<int>(tap % columns)};
        };
        if constexpr (together > 0)
            if (index < first_apart) return coord(index / together, index % together);
        if constexpr (apart > 0) {
            unsigned const at = index - first_apart, packets = at / packet;
            return coord(packets / apart * packet + at % packet, together + packets % apart);
        }
        return {conv.group_c(), 0, 0};
    }
};

template <class Plan, Element W, int TileK>
using TapOrderOf = TapOrder<Plan::Head::filter, 16 / static_cast<int>(sizeof(W)), TileK>;

/// Whether the filters of a tile's NearOperands are TapFilters.
template <class Plan, class Atom, Element T, detail::Axis fast>
inline constexpr bool has_tap_filters = false;
template <class Plan, class Atom, Element T, detail::Axis fast>
    requires requires {
        requires arch::has<arch::Amd> && has_transposed_conv<Plan> && fast == detail::Axis::pixel;
        requires !detail::spreads<problem::GeometryOf<typename Plan::Head>>;
        requires Atom::stages == 1 && decltype(Atom::Stage::w)::takes_words && sizeof(T) == 2;
        requires std::is_same_v<typename Plan::Head::template WeightElement<T>, T>;
    }
inline constexpr bool has_tap_filters<Plan, Atom, T, fast> = !Plan::has_prologue && !Plan::pools;

/// NearFilters in a TapOrder.
template <Element W, int Size, int TileK, int threads, bool has_scalars, class Order>
class TapFilters : public NearFilters<W, Size, TileK, threads, has_scalars> {
    using Base = NearFilters<W, Size, TileK, threads, has_scalars>;
    static constexpr unsigned packet = Order::packet;

public:
    template <class Problem>
    __device__ TapFilters(unsigned thread, Problem const& conv, int first_filter, int group)
        : Base(thread, conv, first_filter, group),
          steps_together(Order::steps_together(conv.group_c())),
          of_channel(static_cast<std::uint32_t>(conv.w.layout.stride[1]) * std::uint32_t{sizeof(W)}) {}

    template <class Offsets>
    __device__ void load(Offsets const& offsets, unsigned first_k, int step) {
        if (Order::apart == 0 || step < steps_together) Base::load(offsets, first_k);
        else load_apart(offsets, first_k);
    }

private:
    int steps_together;
    std::uint32_t of_channel;

    template <class Offsets>
    __device__ void load_apart(Offsets const& offsets, unsigned first_k) {
        this->each(offsets, first_k, [&](Words<4>& to, Buffer const& buffer, std::uint32_t at) {
#pragma unroll
            for (unsigned i = 0; i < packet; i += 2) {
                std::uint32_t const low = buffer.template load<std::uint16_t>(at, i * of_channel),
                                    high = buffer.template load<std::uint16_t>(at, (i + 1) * of_channel);
                to[i / 2] = low | high << 16;
            }
        });
    }
};

}  // namespace fusekit::hip
