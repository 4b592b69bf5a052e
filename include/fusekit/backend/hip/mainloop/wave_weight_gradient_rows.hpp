// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/mainloop/row_loader.hpp"
#include "fusekit/backend/hip/mainloop/row_places.hpp"
#include "fusekit/backend/hip/mainloop/row_slots.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_tile.hpp"

namespace fusekit::hip {

/// WaveWeightGradient's loop where x and dy lie in rows (WeightGradientParams::in_rows): quads of pixels of eight
/// columns and four channels are a lane's factors, as they are loaded and selected. Atom is PacketProducts.
template <Element T, int Stride, class Atom>
class WaveWeightGradientRows {
    using Tile = WaveWeightGradientTile;
    using Places = RowPlaces<T, Stride>;
    using Loader = RowLoader<T, Stride>;
    static constexpr int threads = Tile::threads, tile_k = Atom::tile_k, quads = tile_k / 4;

public:
    template <class Params>
    __device__ __forceinline__ static typename Atom::Fragment multiply(Params const& params, Places& places,
                                                                       WeightGradientTileAt<Tile> const& at,
                                                                       Atom const& atom, unsigned thread) {
        typename Atom::Fragment sums = {};
        auto const conv = params.problem();
        SlotRange const range(params, conv, at.begin);
        int const begin = range.begin, end = range.end;
        if (begin >= end) return sums;
        auto const taps = TapRange::of_tile(conv, at, static_cast<int>(params.weights()));
        int const table = Places::template quads<2 * quads>(taps);
        Loader loader(params, places, taps, table, at, atom.packet(), atom.packet(), atom.first_pixel() / 4);
        auto const factors = [&] {
            typename Atom::Factors result;
#pragma unroll
            for (int i = 0; i < Loader::channels; ++i) result.dy[i] = loader.of_channel(i);
#pragma unroll
            for (int i = 0; i < Loader::columns; ++i) result.x[i] = loader.of_column(i);
            return result;
        };
        auto const multiply_and_load = [&](int next) {
            loader.wait();
            auto const own = factors();
            keep_apart();
            loader.load();
            loader.find(next);
            keep_apart();  // find() is not to move down, where it would be waited for on its own
            Atom::multiply(own, sums);
        };
        auto const fill = [&](int slot) {
            places.template fill<threads, false>(reload(params).problem(), taps, table, table, slot, end,
                                                 opaque_per_thread(thread));
        };
        places.find_taps(conv, taps, thread);
        sync_shared_memory<threads>();
        fill(begin);
        sync_shared_memory<threads>();
        loader.find(0);
        loader.load();
        loader.find(quads);
        // Two steps at a time, as many as the table has.
        constexpr int two_steps = 2 * tile_k, two_quads = 2 * quads;
        int next = two_quads;
        for (int slot = begin; slot < end;) {
            if (next == table) {
                sync_shared_memory<threads>();
                fill(slot + two_steps);
                next = 0;
                sync_shared_memory<threads>();
            }
            int const left = static_cast<int>(detail::divide_up(end - slot, two_steps)),
                      last = (min)(next + left * two_quads, table);
            slot += (last - next) * 4;
            do {
                multiply_and_load(next);
                multiply_and_load(next + quads);
                next += two_quads;
            } while (next != last);
        }
        auto const again = reload(params).problem();
        EdgeSteps<tile_k> const edges(again, begin);
#pragma unroll 1
        for (int slot = edges.from(begin); slot < end; slot = edges.from(slot + tile_k)) {
            sync_shared_memory<threads>();
            places.template fill<threads, true>(again, taps, table, quads, slot, end, opaque_per_thread(thread));
            sync_shared_memory<threads>();
            loader.find(0);
            loader.load_edge();
            loader.wait();
            Atom::multiply(factors(), sums);
        }
        return sums;
    }
};

}  // namespace fusekit::hip
