// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/copy/wgrad/load_pixels.hpp"
#include "fusekit/backend/hip/copy/wgrad/pixel_offsets.hpp"
#include "fusekit/backend/hip/copy/wgrad/tile.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

using InPixels = std::integral_constant<ContiguousMode, ContiguousMode::pixels>;

/// WeightGradient's k-loop on AMD that loads pixels of x one at a time (WeightGradientParams::in_pixels). A thread
/// loads four consecutive pixels of several columns of dw, as single elements of x, and of several channels of y, as
/// vectors of dy. It stores four pixels to LDS as one vector.
template <Element T>
class WeightGradientPixels {
    using AtomOf = WeightGradientAtom<T>;
    using Atom = typename AtomOf::Type;
    using Tile = WeightGradientTile;
    using Offsets = WindowOffsets<T>;
    using Single = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>;
    static constexpr int threads = Atom::threads, tile_k = AtomOf::tile_k, quads = tile_k / 4, step = threads / quads,
                         columns = Tile::m / step, channels = Tile::n / step;
    static_assert(step == Offsets::channels_apart && columns * step == Tile::m && channels * step == Tile::n &&
                  Offsets::pixels % tile_k == 0);

    /// Four consecutive pixels of one row of an operand tile, as 32-bit words.
    using FourPixels = Words<static_cast<int>(sizeof(T))>;
    template <class Rows>
    __device__ static void store_words(Rows& tile, unsigned pixel, unsigned row, FourPixels const& words) {
        __builtin_memcpy(__builtin_assume_aligned(tile.at(pixel, row), sizeof words), &words, sizeof words);
    }
    /// Four consecutive pixels of one row of an operand tile of x, loaded one at a time.
    class Quad {
    public:
        FUSEKIT_H Quad() = default;
        /// Sets pixels 0 to `first` - 1 to zero and the others to `each`.
        __device__ Quad(Single each, unsigned first) {
#pragma unroll
            for (unsigned i = 0; i < 4; ++i) values[i] = i < first ? 0 : each;
        }
        __device__ Single& operator[](int i) { return values[i]; }
        template <class Rows>
        __device__ void store(Rows& tile, unsigned pixel, unsigned row) const {
            constexpr int per_word = 4 / static_cast<int>(sizeof(T));
            FourPixels words;
#pragma unroll
            for (int i = 0; i < 4; i += per_word) {
                words[i / per_word] = values[i];
                if constexpr (per_word == 2) words[i / 2] |= std::uint32_t{values[i + 1]} << 16;
            }
            store_words(tile, pixel, row, words);
        }

    private:
        Single values[4];
    };

public:
    template <class Params, class Totals>
    __device__ __forceinline__ static Totals multiply(Params const& params, typename Atom::Stage& stage,
                                                      Offsets& offsets, Totals totals,
                                                      WeightGradientTileAt<Tile> const& at, Atom const& atom,
                                                      unsigned thread) {
        auto const conv = params.problem();
        auto const slot_count = static_cast<int>(Offsets::whole(conv.y[2] * conv.y[3]) * conv.y[0]);
        int const begin = of_wave(at.begin), end = of_wave((min)(begin + params.split_pixels, slot_count));
        if (begin >= end) return totals;
        auto const dy = detail::typed<T>(params.bound.head.dy);
        Buffer const in_x(conv.x.data + conv.first_c(at.group) * conv.x.layout.stride[1]),
            in_dy(dy.data + (conv.first_k(at.group) + at.first_k) * dy.layout.stride[1]);
        unsigned const pixel_of_step = thread % quads * 4, first_row = thread / quads;
        auto const row = [&](int i) { return first_row + static_cast<unsigned>(i * step); };
        offsets.template fill_columns<threads>(conv, at.first_column, thread);
        offsets.template fill_channels<threads>(dy.layout.stride[1], conv.group_k() - at.first_k, thread);
        int const ones = of_wave(at.ones(params));
        Quad x_quads[columns];
        FourPixels dy_quads[channels];
        auto const fill = [&](int pixel) {
            offsets.template fill<threads>(reload(params).problem(), pixel, end, opaque_per_thread(thread));
        };
        auto const load = [&](unsigned in_table) {
            unsigned const own = in_table + pixel_of_step;
            std::uint32_t const in_dy_from = offsets.quads[own / 4].in_dy;
            auto next = offsets.columns[row(0)];
#pragma unroll
            for (int i = 0; i < columns; ++i) {
                auto const column = next;
                // read one column ahead, so that one wait covers all reads of offsets
                next = offsets.columns[row(i + 1 < columns ? i + 1 : i)];
                Words<4> const in_rows = offsets.read(column.row, own * 4),
                               in_columns = offsets.read(column.column, own * 4);
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    x_quads[i][j] = in_x.template load<Single>(in_rows[j] + in_columns[j] + column.channel);
                    keep_apart();
                }
            }
            auto const of_channels = offsets.channels[first_row];
#pragma unroll
            for (int i = 0; i < channels; ++i) {
                dy_quads[i] = in_dy.template load<FourPixels>(in_dy_from + of_channels.values[i]);
                keep_apart();
            }
        };
        auto const store = [&](unsigned in_table) {
            wait_for(dy_quads[channels - 1]);
#pragma unroll
            for (int i = 0; i < columns; ++i) x_quads[i].store(stage.x, pixel_of_step, row(i));
#pragma unroll
            for (int i = 0; i < channels; ++i) store_words(stage.w, pixel_of_step, row(i), dy_quads[i]);
            if (ones >= 0 && static_cast<unsigned>(ones) % step == first_row)
                Quad(static_cast<Single>(word_of_ones<T>()), offsets.quads[(in_table + pixel_of_step) / 4].had)
                    .store(stage.x, pixel_of_step, static_cast<unsigned>(ones));
        };
        typename Atom::Fragment acc = {};
        fill(begin);
        sync_shared_memory<threads>();
        load(0);
        store(0);
        sync_shared_memory<threads>();
        atom.wait(acc);
        unsigned next = tile_k;  // position of the next k-tile in the table, in pixels
        for (int pixel = begin; pixel < end; pixel += tile_k) {
            load(next);
            atom.multiply(stage, acc);  // (TILE_M, TILE_N) += over TILE_K
            sync_shared_memory<threads>();
            store(next);
            sync_shared_memory<threads>();
            next += tile_k;
            if (next == Offsets::pixels) {
                fill(pixel + 2 * tile_k);
                sync_shared_memory<threads>();
                next = 0;
            }
            if (AtomOf::promotes && (pixel - begin) % AtomOf::addends == AtomOf::addends - tile_k) totals.add(acc);
            atom.wait(acc);
        }
        if constexpr (AtomOf::promotes) totals.add(acc);
        else totals.set(acc);
        return totals;
    }
};

}  // namespace fusekit::hip
