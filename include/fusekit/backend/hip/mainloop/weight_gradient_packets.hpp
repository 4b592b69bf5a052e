// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/permute.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/collective/load_pixels.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_tile.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// The pixels of four steps, in fours that follow one another: where their windows begin in x, as offsets of a Buffer;
/// and a bit for each tap that is in padding, and for a tap that always is.
template <Element T>
struct WindowTable {
    static constexpr int no_tap = 31, steps = 4, pixels = steps * WeightGradientAtom<T>::tile_k;
    struct alignas(16) Four {
        std::uint32_t offsets[4], padded_taps[4];
    };
    Four fours[pixels / 4];
};

/// WeightGradient's loop where the channels of x and dy lie in packets, pixels of dy at one stride, and windows have
/// fewer taps than a word has bits (WeightGradientParams::in_packets). A thread has one packet of columns of four
/// pixels: these are one tap of neighbouring channels, or begin with the column of ones.
template <Element T>
class WeightGradientPackets {
    using AtomOf = WeightGradientAtom<T>;
    using Atom = typename AtomOf::Type;
    using Table = WindowTable<T>;
    static constexpr int threads = Atom::threads, tile_k = AtomOf::tile_k;
    static constexpr auto bytes = static_cast<std::uint32_t>(sizeof(T));
    static_assert(AtomOf::stage_count == 1 && AtomOf::addends % Table::pixels == 0 && Table::steps == 4);
    using OfX = TileOfPixels<T, decltype(Atom::Stage::x), WeightGradientTile::m, tile_k, threads>;
    using OfDy = TileOfPixels<T, decltype(Atom::Stage::w), WeightGradientTile::n, tile_k, threads>;
    static constexpr std::integral_constant<Neighbours, OfX::widest> in_packets = {};

public:
    template <class Params, class Totals>
    __device__ __forceinline__ static Totals multiply(Params const& params, typename Atom::Stage& stage, Table& windows,
                                                      Totals totals, WeightGradientTileAt const& at, Atom const& atom,
                                                      unsigned thread) {
        int const begin = of_wave(at.begin), end = of_wave(at.end);
        if (begin >= end) return totals;
        auto const conv = params.problem();
        unsigned const column = OfX::first_row(in_packets, thread);
        KCoord const of_column = conv.k_coord(static_cast<unsigned>(at.first_column) + column, true);
        bool const is_weight = of_column.r < conv.window_rows();
        int const own_tap = is_weight ? of_column.r * conv.window_columns() + of_column.s : Table::no_tap;
        auto const tap = static_cast<std::uint32_t>(own_tap);
        std::uint32_t const column_offset = offset_of(conv, of_column);
        std::uint32_t const ones = static_cast<int>(column) == at.ones(params) ? word_of_ones<T>() : 0;
        auto const dy_data = detail::typed<T>(params.bound.head.dy);
        T const* const first_dy = dy_data.data + (conv.first_k(at.group) + at.first_k) * dy_data.layout.stride[1];
        std::int64_t const dy_pixel = dy_data.layout.stride[3];
        unsigned const channel = OfDy::first_row(in_packets, thread);
        // Sums of channels that the group does not have are not stored.
        unsigned const own_channel = static_cast<int>(channel) < conv.group_k() - at.first_k ? channel : 0;
        Buffer const of_x(first_of_x(conv, at)), of_dy(first_dy + begin * dy_pixel, first_dy + end * dy_pixel);
        auto const dy_step = static_cast<std::uint32_t>(dy_pixel * tile_k) * bytes;
        std::uint32_t dy_offset =
            Buffer::before +
            static_cast<std::uint32_t>(OfDy::first_pixel(in_packets, thread) * dy_pixel + own_channel) * bytes;
        typename Table::Four const* const own_windows = windows.fours + OfX::first_pixel(in_packets, thread) / 4;
        OfX x;
        OfDy dy;
        auto const load = [&](int in_table) {
            auto const& four = own_windows[in_table / 4];
            auto const offsets = read_words(four.offsets), padded_taps = read_words(four.padded_taps);
            int i = 0;
            x.each(in_packets, thread, [&](auto& to, unsigned, unsigned) {
                std::uint32_t const padding = spread_bit(padded_taps[i], tap);
                to = of_x.load<std::remove_reference_t<decltype(to)>>((offsets[i++] + column_offset) | padding);
            });
            std::uint32_t offset = dy_offset;
            dy.each(in_packets, thread, [&](auto& to, unsigned, unsigned) {
                to = of_dy.load<std::remove_reference_t<decltype(to)>>(offset);
                offset += static_cast<std::uint32_t>(dy_pixel) * bytes;
            });
            dy_offset += dy_step;
        };
        auto const store = [&] {
            dy.wait(in_packets);  // whose loads are the last
            x.store(in_packets, thread, stage.x, ones);
            dy.store(in_packets, thread, stage.w);
        };
        auto const fill = [&](int pixel) { fill_table(reload(params), windows, at, pixel, opaque_per_thread(thread)); };
        typename Atom::Fragment sums = {};
        fill(begin);
        sync_shared_memory<threads>();
        load(0);
        store();
        sync_shared_memory<threads>();
        atom.wait(sums);
        auto const multiply_and_load = [&](int next, auto const& between) {
            load(next);
            atom.multiply(stage, sums);
            sync_shared_memory<threads>();
            between();
            store();
            sync_shared_memory<threads>();
            atom.wait(sums);
        };
        int in_table = 0;
        for (int pixel = begin; pixel < end; pixel += 2 * tile_k) {
            multiply_and_load(in_table + tile_k, [&] {
                if (in_table != 0) fill(pixel + 2 * tile_k);
            });
            in_table = 2 * tile_k - in_table;
            multiply_and_load(in_table, [] {});
            if (AtomOf::promotes && (pixel + 2 * tile_k - begin) % AtomOf::addends == 0) {
                totals.add(sums);
                atom.wait(sums);
            }
        }
        if constexpr (AtomOf::promotes) totals.add(sums);
        else totals.take(sums);
        return totals;
    }

private:
    template <class Problem>
    __device__ static T const* first_of_x(Problem const& conv, WeightGradientTileAt const& at) {
        return conv.x.data + conv.first_c(at.group) * conv.x.layout.stride[1];
    }
    template <class Problem>
    __device__ static std::uint32_t offset_of(Problem const& conv, KCoord const& column) {
        std::int64_t const of_channel = column.c * conv.x.layout.stride[1];
        return static_cast<std::uint32_t>(of_channel + conv.input_offset(conv.distance(column.r, column.s))) * bytes;
    }

    /// Pixels from `first` on. Those past the end have padding alone.
    template <class Params>
    __device__ static void fill_table(Params const& params, Table& windows, WeightGradientTileAt const& at, int first,
                                      unsigned thread) {
        auto const conv = params.problem();
        for (unsigned i = thread; i < Table::pixels; i += threads) {
            int const pixel = first + static_cast<int>(i);
            bool const exists = pixel < at.end;
            Pixel const to = conv.pixel(exists ? pixel : at.begin);
            auto const window = conv.window(to);
            std::int64_t const offset = to.n * conv.x.layout.stride[0] + conv.input_offset(window);
            auto& four = windows.fours[i / 4];
            four.offsets[i % 4] = Buffer::before + static_cast<std::uint32_t>(offset) * bytes;
            four.padded_taps[i % 4] = exists ? conv.padded_taps(window) | 1u << Table::no_tap : ~0u;
        }
    }
};

}  // namespace fusekit::hip
