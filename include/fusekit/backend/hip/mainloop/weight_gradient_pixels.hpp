// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/collective/load_pixels.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_tile.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

using InPixels = std::integral_constant<Neighbours, Neighbours::pixels>;

/// Where elements are that are loaded one by one, in bytes, as offsets of Buffers.
template <Element T>
struct PixelPlaces {
    static constexpr int pixels = 64;
    /// Where the windows of some pixels begin in x, which of their slices, rows and columns are padding, and where the
    /// pixels are in dy. Pixels past the end have padding alone, and are nowhere in dy.
    alignas(16) std::uint32_t in_x[pixels], invalid[pixels], in_dy[pixels];
    /// A column's tap and channel from where a window begins, and the bits of its slice, row and column.
    struct alignas(8) Column {
        std::uint32_t in_x, mask;
    } columns[WeightGradientTile::m];
    std::uint32_t channels[WeightGradientTile::n];  ///< of y

    /// Nowhere, with the offset of any channel added to it.
    static constexpr std::uint32_t nowhere = Buffer::nowhere + Buffer::before;

    __device__ static std::uint32_t in_bytes(std::int64_t elements) {
        return static_cast<std::uint32_t>(elements) * static_cast<std::uint32_t>(sizeof(T));
    }
    /// Called once, and followed by a barrier.
    template <int threads, class Problem>
    __device__ void fill_columns(Problem const& conv, int first, unsigned thread) {
        for (unsigned i = thread; i < WeightGradientTile::m; i += threads) {
            KCoord const of = conv.k_coord(static_cast<unsigned>(first) + i, false);
            KOffset const offset = conv.template k_offsets<true>(of).x;
            columns[i] = {in_bytes(offset.offset), offset.mask};
        }
    }
    /// Likewise. A channel that the group does not have is another; its sums are not stored.
    template <int threads>
    __device__ void fill_channels(std::int64_t stride, int count, unsigned thread) {
        for (unsigned i = thread; i < WeightGradientTile::n; i += threads)
            channels[i] = static_cast<int>(i) < count ? in_bytes(i * stride) : 0;
    }
    /// Takes pixels from `first` on.
    template <int threads, class Problem>
    __device__ void fill(Problem const& conv, int group, int first, int end, unsigned thread) {
        for (unsigned i = thread; i < pixels; i += threads) {
            int const pixel = first + static_cast<int>(i);
            bool const exists = pixel < end;
            Pixel const to = conv.pixel(exists ? pixel : 0);
            auto const window = conv.template input_row<true, true>(to, group);
            std::int64_t const from = window.first - (conv.x.data + conv.first_c(group) * conv.x.layout.stride[1]);
            in_x[i] = Buffer::before + in_bytes(from);
            invalid[i] = exists ? ~window.valid : ~0u;
            in_dy[i] = exists ? Buffer::before + in_bytes(conv.output_offset(to)) : nowhere;
        }
    }
};

/// WeightGradient's loop for AMD's processors where pixels are loaded one by one, of x and dy that are near, so that
/// what a column has in padding is found by its bits (WeightGradientParams::in_pixels). A thread has four pixels after
/// one another of several columns, and of several channels of y, and stores these four together.
template <Element T>
class WeightGradientPixels {
    using AtomOf = WeightGradientAtom<T>;
    using Atom = typename AtomOf::Type;
    using Tile = WeightGradientTile;
    using Places = PixelPlaces<T>;
    using Single = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>;
    static constexpr int threads = Atom::threads, tile_k = AtomOf::tile_k, quads = tile_k / 4, step = threads / quads,
                         columns = Tile::m / step, channels = Tile::n / step;
    static_assert(columns * step == Tile::m && channels * step == Tile::n && Places::pixels % tile_k == 0);

    /// Four pixels of a row of a tile.
    class Quad {
    public:
        Quad() = default;
        __device__ explicit Quad(Single each) : values{each, each, each, each} {}
        __device__ Single& operator[](int i) { return values[i]; }
        template <class Rows>
        __device__ void store(Rows& tile, unsigned pixel, unsigned row) const {
            constexpr int per_word = 4 / static_cast<int>(sizeof(T));
            Words<4 / per_word> words;
#pragma unroll
            for (int i = 0; i < 4; i += per_word) {
                words[i / per_word] = values[i];
                if constexpr (per_word == 2) words[i / 2] |= std::uint32_t{values[i + 1]} << 16;
            }
            __builtin_memcpy(__builtin_assume_aligned(tile.at(pixel, row), sizeof words), &words, sizeof words);
        }
        __device__ void wait() { wait_for(values[3]); }

    private:
        Single values[4];
    };

public:
    template <class Params, class Totals>
    __device__ __forceinline__ static Totals multiply(Params const& params, typename Atom::Stage& stage, Places& places,
                                                      Totals totals, WeightGradientTileAt<Tile> const& at,
                                                      Atom const& atom, unsigned thread) {
        int const begin = of_wave(at.begin), end = of_wave(at.end);
        if (begin >= end) return totals;
        auto const conv = params.problem();
        auto const dy = detail::typed<T>(params.bound.head.dy);
        Buffer const in_x(conv.x.data + conv.first_c(at.group) * conv.x.layout.stride[1]),
            in_dy(dy.data + (conv.first_k(at.group) + at.first_k) * dy.layout.stride[1]);
        unsigned const pixel_of_step = thread % quads * 4, first_row = thread / quads;
        auto const row = [&](int i) { return first_row + static_cast<unsigned>(i * step); };
        places.template fill_columns<threads>(conv, at.first_column, thread);
        places.template fill_channels<threads>(dy.layout.stride[1], conv.group_k() - at.first_k, thread);
        int const ones = of_wave(at.ones(params));
        Quad x_quads[columns], dy_quads[channels];
        auto const fill = [&](int pixel) {
            places.template fill<threads>(reload(params).problem(), at.group, pixel, end, opaque_per_thread(thread));
        };
        auto const load = [&](unsigned in_table) {
            unsigned const own = in_table + pixel_of_step;
            Words<4> const windows = read_words(places.in_x + own), invalid = read_words(places.invalid + own),
                           pixels = read_words(places.in_dy + own);
#pragma unroll
            for (int i = 0; i < columns; ++i) {
                auto const column = places.columns[row(i)];
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    std::uint32_t const from = windows[j] + column.in_x;
                    // What is invalid, a number up to 2^31, is nowhere when it is negative: without a comparison.
                    x_quads[i][j] = in_x.template load<Single>(from | (0 - (column.mask & invalid[j])));
                    keep_apart();  // a load right after others may overwrite no address of theirs, or it waits
                }
            }
#pragma unroll
            for (int i = 0; i < channels; ++i) {
                std::uint32_t const channel = places.channels[row(i)];
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    dy_quads[i][j] = in_dy.template load<Single>(pixels[j] + channel);
                    keep_apart();
                }
            }
        };
        auto const store = [&] {
            dy_quads[channels - 1].wait();
#pragma unroll
            for (int i = 0; i < columns; ++i) x_quads[i].store(stage.x, pixel_of_step, row(i));
#pragma unroll
            for (int i = 0; i < channels; ++i) dy_quads[i].store(stage.w, pixel_of_step, row(i));
            if (ones >= 0 && static_cast<unsigned>(ones) % step == first_row)
                Quad(static_cast<Single>(word_of_ones<T>())).store(stage.x, pixel_of_step, static_cast<unsigned>(ones));
        };
        typename Atom::Fragment sums = {};
        fill(begin);
        sync_shared_memory<threads>();
        load(0);
        store();
        sync_shared_memory<threads>();
        atom.wait(sums);
        unsigned next = tile_k;  // of the table
        for (int pixel = begin; pixel < end; pixel += tile_k) {
            load(next);
            atom.multiply(stage, sums);
            sync_shared_memory<threads>();
            store();
            sync_shared_memory<threads>();
            next += tile_k;
            if (next == Places::pixels) {
                fill(pixel + 2 * tile_k);
                sync_shared_memory<threads>();
                next = 0;
            }
            if (AtomOf::promotes && (pixel - begin) % AtomOf::addends == AtomOf::addends - tile_k) totals.add(sums);
            atom.wait(sums);
        }
        if constexpr (AtomOf::promotes) totals.add(sums);
        else totals.take(sums);
        return totals;
    }
};

}  // namespace fusekit::hip
