// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/copy/wgrad/load_pixels.hpp"
#include "fusekit/backend/hip/copy/wgrad/row_loads.hpp"
#include "fusekit/backend/hip/copy/wgrad/row_offsets.hpp"
#include "fusekit/backend/hip/copy/wgrad/tile.hpp"

namespace fusekit::hip {

using InRows = std::integral_constant<ContiguousMode, ContiguousMode::rows>;

/// WeightGradient's k-loop on AMD for 16-bit elements if four consecutive pixels of a row of y read adjacent elements
/// of a row of x, or every other element at column stride 2 (WeightGradientParams::in_rows). A thread loads four such
/// pixels for eight columns of dw, which are adjacent channels of x at one tap, and for four channels of y. Operand
/// tiles have the layout of WeightGradientPackets.
template <Element T, int Stride>
class WeightGradientRows {
    using AtomOf = WeightGradientAtom<T>;
    using Atom = typename AtomOf::Type;
    using Tile = WeightGradientTile;
    using Offsets = RowOffsets<T, Stride>;
    using Loader = RowLoads<T, Stride>;
    static constexpr int threads = Atom::threads, tile_k = AtomOf::tile_k, quads = tile_k / 4;
    static constexpr unsigned x_apart = Tile::m / Loader::columns, dy_apart = Tile::n / Loader::channels;
    static_assert(threads / quads == x_apart && x_apart == dy_apart && threads % quads == 0);

public:
    template <class Params, class Totals>
    __device__ __forceinline__ static Totals multiply(Params const& params, typename Atom::Stage& stage,
                                                      Offsets& offsets, Totals totals,
                                                      WeightGradientTileAt<Tile> const& at, Atom const& atom,
                                                      unsigned thread) {
        auto const conv = params.problem();
        SlotRange const range(params, conv, at.begin);
        int const begin = range.begin, end = range.end;
        if (begin >= end) return totals;
        auto const taps = TapRange::of_tile(conv, at, static_cast<int>(params.weights()));
        int const table = Offsets::template quads<2 * quads>(taps);
        unsigned const row = thread / quads, pixel = thread % quads * 4;
        Loader loader(params, offsets, taps, table, at, row, row, thread % quads);
        auto const fill = [&](int slot) {
            offsets.template fill<threads, false>(reload(params).problem(), taps, table, table, slot, end,
                                                  opaque_per_thread(thread));
        };
        auto const store = [&] {
            loader.wait();
            store_rows<x_apart, Loader::columns>(stage.x, pixel, row, [&](int i) { return loader.of_column(i); });
            store_rows<dy_apart, Loader::channels>(stage.w, pixel, row, [&](int i) { return loader.of_channel(i); });
        };
        typename Atom::Fragment acc = {};
        offsets.find_taps(conv, taps, thread);
        sync_shared_memory<threads>();
        fill(begin);
        sync_shared_memory<threads>();
        loader.find(0);
        loader.load();
        loader.find(quads);
        store();
        sync_shared_memory<threads>();
        atom.wait(acc);
        auto const multiply_and_load = [&](int next) {
            loader.load();
            loader.find(next);
            keep_apart();  // otherwise a load after the MMAs would need its own wait
            atom.multiply(stage, acc);  // (TILE_M, TILE_N) += over TILE_K
            sync_shared_memory<threads>();
            store();
            sync_shared_memory<threads>();
            atom.wait(acc);
        };
        // Each iteration multiplies two k-tiles; the table is filled again when its end is reached.
        constexpr int two_steps = 2 * tile_k, two_quads = 2 * quads;
        int next = two_quads, added = begin;  // added: first slot (PaddedRows) whose pixel is not in the running sums
        for (int slot = begin; slot < end;) {
            if (next == table) {
                fill(slot + two_steps);
                next = 0;
                if (AtomOf::promotes && slot + 4 * table - added > AtomOf::addends) {
                    totals.add(acc);
                    added = slot;
                }
                sync_shared_memory<threads>();
                atom.wait(acc);
            }
            int const remaining = static_cast<int>(detail::divide_up(end - slot, two_steps)),
                      last = (min)(next + remaining * two_quads, table);
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
            offsets.template fill<threads, true>(again, taps, table, quads, slot, end, opaque_per_thread(thread));
            sync_shared_memory<threads>();
            loader.find(0);
            loader.load_edge();
            store();
            sync_shared_memory<threads>();
            atom.multiply(stage, acc);  // (TILE_M, TILE_N) += over TILE_K
            sync_shared_memory<threads>();
            atom.wait(acc);
        }
        if constexpr (AtomOf::promotes) totals.add(acc);
        else totals.set(acc);
        return totals;
    }

private:
    /// Stores four pixels, from pixel `pixel` of the k-tile on, of each of `count` rows of an operand tile: rows `row`,
    /// `row` + apart, .... The distances are compile-time constants, so that the compiler merges stores.
    template <unsigned apart, int count, class Rows, class WordsOf>
    __device__ static void store_rows(Rows& tile, unsigned pixel, unsigned row, WordsOf const& words_of) {
        constexpr unsigned distance = apart * tile_k;
        static_assert(Rows::element_index(0, apart) == distance);
        T* const first = tile.at(pixel, row);
#pragma unroll
        for (int i = 0; i < count; ++i) {
            Words<2> const words = words_of(i);
            __builtin_memcpy(__builtin_assume_aligned(first + static_cast<unsigned>(i) * distance, sizeof words),
                             &words, sizeof words);
        }
    }
};

}  // namespace fusekit::hip
