// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/permute.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/atom/packet_products.hpp"
#include "fusekit/backend/hip/mainloop/packet_places.hpp"
#include "fusekit/backend/hip/mainloop/wave_weight_gradient_rows.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_params.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_sums.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_tile.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// WeightGradient of 16 bits on CDNA's matrix units, where the channels of x and dy lie in packets, or their pixels in
/// rows. A block is one wave, whose operands go from memory to registers. It has twice the sums of a wave that shares a
/// tile's operands with others, and no registers for totals, so that a block has `most_pixels` at most.
template <class Plan, Element T, detail::OutputElement U>
class WaveWeightGradient {
public:
    using Tile = WaveWeightGradientTile;

private:
    static constexpr bool runs = has_weight_gradient<Tile, T, arch::Target>;  ///< else the kernel is empty
    static constexpr bool flushes = std::is_same_v<T, half> && std::is_same_v<arch::Target, arch::Gfx90a>;
    using Atom = PacketProducts<std::conditional_t<flushes, RoundedHalfMfma<16, 16>, Mfma<T, 16, 16>>>;
    using TileAt = WeightGradientTileAt<Tile>;
    static constexpr int column_stride = Plan::Head::collapsed.strides[Plan::Head::collapsed_space - 1];
    static constexpr bool has_rows = may_lie_in_rows<T>(Plan::Head::collapsed);
    using Places = PacketPlaces<T, Plan::Head::collapsed_space, Tile, Atom::tile_k>;
    using OfSums = WeightGradientSums<Atom, Tile>;
    using Fragment = typename Atom::Fragment;

public:
    using Params = WeightGradientParams<Plan, T, U>;
    static constexpr int tile_m = Tile::m, tile_n = Tile::n, threads = Tile::threads, blocks = Tile::per_processor,
                         passes = Tile::passes, least_pixels = 256, most_pixels = Tile::most_pixels;
    static_assert(tile_m == Atom::tile_m && tile_n == Atom::tile_n && threads == Atom::threads);
    using Sums = typename OfSums::Shared;

    union Shared {
        Places places;
        std::conditional_t<has_rows, RowPlaces<T, column_stride>, detail::Nothing> places_of_rows;
        Sums sums;
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        if constexpr (runs) {
            Atom const atom(thread);
            Fragment sums = multiply(params, shared, TileAt(params, params.problem(), block), atom, thread);
            auto const same = [](Params const&, unsigned in_tile) { return in_tile; };
            OfSums::store(
                params, shared.sums, atom, block, thread, [&]() -> Fragment const& { return sums; }, same, same,
                [](Params const&, auto const& conv, int column) {
                    return conv.k_coord(static_cast<unsigned>(column), true);
                });
        }
    }

private:
    __device__ __forceinline__ static Fragment multiply(Params const& params, Shared& shared, TileAt const& at,
                                                        Atom const& atom, unsigned thread) {
        if constexpr (has_rows)
            if (params.in_rows)
                return WaveWeightGradientRows<T, column_stride, Atom>::multiply(params, shared.places_of_rows, at, atom,
                                                                                thread);
        return multiply_packets(params, shared.places, at, atom, thread);
    }
    __device__ __forceinline__ static Fragment multiply_packets(Params const& params, Places& places, TileAt const& at,
                                                                Atom const& atom, unsigned thread) {
        Fragment sums = {};
        int const begin = of_wave(at.begin), end = of_wave(at.end);
        if (begin >= end) return sums;
        auto const conv = params.problem();
        auto const dy = detail::typed<T>(params.bound.head.dy);
        auto const taps = TapRange::of_tile(conv, at, static_cast<int>(params.weights()));
        constexpr auto bytes = static_cast<std::uint32_t>(sizeof(T));
        // A column that is no weight is nowhere. For a channel that the group does not have, another is loaded: its
        // sums are not stored.
        int const in_tile = static_cast<int>(atom.packet()) * 8, column = at.first_column + in_tile;
        bool const is_weight = column < params.weights();
        int const tap = is_weight ? column / conv.group_c() : taps.first;
        std::uint32_t const of_x = is_weight ? static_cast<std::uint32_t>(column - tap * conv.group_c()) * bytes : ~0u;
        unsigned const channel = atom.packet() * 4;
        std::uint32_t const of_dy = static_cast<int>(channel) < conv.group_k() - at.first_k ? channel * bytes : 0;
        std::uint32_t const ones = in_tile == at.ones(params) ? word_of_ones<T>() : 0;
        Buffer const in_x(conv.x.data + conv.first_c(at.group) * conv.x.layout.stride[1]),
            in_dy(dy.data + (conv.first_k(at.group) + at.first_k) * dy.layout.stride[1]);
        std::uint32_t const *const x_places = places.in_x[tap - taps.first] + atom.first_pixel(),
                                   *const dy_places = places.in_dy + atom.first_pixel();
        Words<4> x_from, dy_from;
        auto const fill = [&](int pixel) {
            places.fill(reload(params).problem(), taps, pixel, end, opaque_per_thread(thread));
        };
        auto const find = [&](int step) {
            x_from = read_words(x_places + step * Atom::tile_k);
            dy_from = read_words(dy_places + step * Atom::tile_k);
        };
        typename Atom::Loaded next;
        auto const load = [&] {
#pragma unroll
            for (int i = 0; i < Atom::pixels; ++i) {
                next.x[i] = in_x.template load<Words<4>>(saturating_sum(x_from[i], of_x));
                keep_apart();
            }
#pragma unroll
            for (int i = 0; i < Atom::pixels; ++i) {
                next.dy[i] = in_dy.template load<Words<2>>(saturating_sum(dy_from[i], of_dy));
                keep_apart();
            }
        };
        places.find_taps(conv, taps, thread);
        sync_shared_memory<threads>();
        fill(begin);
        sync_shared_memory<threads>();
        find(0);
        load();
        find(1);
        constexpr int table_steps = Places::pixels / Atom::tile_k;
        for (int pixel = begin; pixel < end; pixel += Places::pixels)
#pragma unroll
            for (int i = 0; i < table_steps; ++i) {
                if (i == table_steps - 2) {
                    sync_shared_memory<threads>();
                    if (pixel + Places::pixels < end) fill(pixel + Places::pixels);
                    sync_shared_memory<threads>();
                }
                wait_for(next.dy[Atom::pixels - 1]);
                auto const factors = Atom::factors(next, ones);
                keep_apart();
                load();
                find((i + 2) % table_steps);
                keep_apart();  // find() is not to move down, where it would be waited for on its own
                Atom::multiply(factors, sums);
            }
        return sums;
    }
};

}  // namespace fusekit::hip
