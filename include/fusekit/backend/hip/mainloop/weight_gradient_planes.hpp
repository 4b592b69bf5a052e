// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/collective/load_pixels.hpp"
#include "fusekit/backend/hip/collective/pixel_chunks.hpp"
#include "fusekit/backend/hip/collective/plane_walk.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_tile.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// The weight of a column where four columns after one another are the same tap of four channels. `four` is the four of
/// them as if it were one.
__device__ inline KCoord one_of_four(KCoord const& four, unsigned own) {
    return {four.c * 4 + static_cast<int>(own), four.r, four.s};
}

/// Whether windows move pixel by pixel, and have few taps, over floats: 16 bits have WeightGradientRows.
template <Element T, int Space>
FUSEKIT_HD constexpr bool may_lie_in_planes(Filter<Space> const& filter) {
    return Space == 2 && sizeof(T) == 4 && filter.strides[0] == 1 && filter.strides[1] == 1 &&
           filter.size[0] * filter.size[1] <= ChunkMasks<float, 1>::most_taps;
}

using InPlanes = std::integral_constant<Neighbours, Neighbours::planes>;

/// What of so many steps is padding.
inline constexpr int steps_of_planes = 4;
template <Element T>
using MasksOfPlanes = ChunkMasks<T, steps_of_planes * PixelChunk<T>::of_step>;

/// WeightGradient's loop where x and dy lie in planes, whose rows follow one another, and windows move pixel by pixel:
/// under each tap the pixels of an image are neighbours in x, but for those in padding. Four columns after one another
/// have one tap, and four channels of x: what of them is padding is looked up once.
template <Element T>
class WeightGradientPlanes {
    using AtomOf = WeightGradientAtom<T>;
    using Atom = typename AtomOf::Type;
    using Chunk = PixelChunk<T>;
    static constexpr int threads = Atom::threads, table_steps = steps_of_planes;
    static_assert(Atom::tile_k == Chunk::step_pixels);
    using OfX = ChunksOfRows<T, WeightGradientTile::m, threads>;
    using OfDy = ChunksOfRows<T, WeightGradientTile::n, threads>;

public:
    template <class Params, class Totals>
    __device__ __forceinline__ static Totals multiply(Params const& params, typename Atom::Stage& stage,
                                                      MasksOfPlanes<T>& masks, Totals totals,
                                                      WeightGradientTileAt<WeightGradientTile> const& at,
                                                      Atom const& atom, unsigned thread) {
        auto const conv = params.problem();
        int const plane = of_wave(static_cast<int>(Chunk::whole(conv.y[2] * conv.y[3]))), begin = of_wave(at.begin),
                  end = of_wave((min)(begin + params.part_pixels, static_cast<int>(conv.y[0]) * plane));
        if (begin >= end) return totals;
        Index<4> const& in_x = conv.x.layout.stride;
        Index<4> const& in_dy = params.bound.head.dy.layout.stride;
        int const image = begin / plane;
        PlaneWalk<T> walk(conv, image, begin - image * plane, plane, (end - begin) / Chunk::step_pixels);
        auto const row = [](std::int64_t offset) {
            return Buffer::before + static_cast<std::uint32_t>(offset) * static_cast<std::uint32_t>(sizeof(T));
        };
        int const four = static_cast<int>(thread) / Chunk::of_step, taps = conv.taps();
        KCoord const column = one_of_four(conv.k_coord(static_cast<unsigned>(at.first_column / 4 + four), false), 0);
        auto const of_tap = conv.distance(column.r, column.s);
        OfX x(thread, conv.x.data + conv.first_c(at.group) * in_x[1], [&](unsigned i) {
            int const c = column.c + static_cast<int>(i);
            std::int64_t const first = image * in_x[0] + conv.input_offset(conv.window({0, 0, 0}));
            return c < conv.group_c() ? row(first + c * in_x[1] + conv.input_offset(of_tap)) : OfX::nowhere;
        });
        OfDy dy(thread, detail::typed<T>(params.bound.head.dy).data + (conv.first_k(at.group) + at.first_k) * in_dy[1],
                [&](unsigned i) {
                    int const k = static_cast<int>(thread / Chunk::of_step + i * OfDy::step);
                    return k < conv.group_k() - at.first_k ? row(image * in_dy[0] + k * in_dy[1]) : OfDy::nowhere;
                });
        int const ones = of_wave(at.ones(params));
        bool const has_ones = ones >= 0 && ones / 4 == four;
        int const kind = has_ones ? taps : column.r * conv.window_columns() + column.s;
        std::uint32_t const ones_if_any = has_ones ? word_of_ones<T>() : 0;
        auto const fill = [&](int pixel) {
            masks.template fill<threads>(reload(params).problem(), pixel, plane, end, opaque_per_thread(thread));
        };
        ChunkMask const* const of_columns = &masks.masks[x.chunk][kind];
        ChunkMask const* const of_pixels = &masks.masks[x.chunk][taps];
        constexpr int step_masks = Chunk::of_step * static_cast<int>(sizeof(masks.masks[0]) / sizeof(ChunkMask));
        auto const load = [&](int masks_at) {
            if (walk.at != walk.whole) [[likely]] {
                x.load(walk.at);
                dy.load(walk.at);
            } else {
                x.load(walk.at, of_columns[masks_at]);
                dy.load(walk.at, ~of_pixels[masks_at]);
                walk.look_further(x, dy);
                keep_apart();  // or the compiler merges what both branches store last, to variables in memory
            }
            walk.at += Chunk::step_bytes;
        };
        auto const store = [&](int masks_at) {
            dy.wait();
            x.keep(of_columns[masks_at], ones_if_any);
            x.store(stage.x);
            dy.store(stage.w);
        };
        typename Atom::Fragment sums = {};
        fill(begin);
        sync_shared_memory<threads>();
        load(0);
        store(0);
        sync_shared_memory<threads>();
        atom.wait(sums);
        auto const multiply_and_load = [&](int next) {
            load(next);
            atom.multiply(stage, sums);
            sync_shared_memory<threads>();
            store(next);
            sync_shared_memory<threads>();
            atom.wait(sums);
        };
        constexpr int flush_steps = AtomOf::addends / Atom::tile_k;
        static_assert(flush_steps % table_steps == 0 && table_steps == 4);
        int masks_at = 0;
        for (int pixel = begin; pixel < end; pixel += 2 * Chunk::step_pixels) {
            multiply_and_load(masks_at + step_masks);
            if (masks_at != 0) {
                fill(pixel + 2 * Chunk::step_pixels);
                sync_shared_memory<threads>();
                if (AtomOf::promotes && pixel / Chunk::step_pixels % flush_steps >= flush_steps - table_steps)
                    totals.add(sums);
                atom.wait(sums);
            }
            masks_at = 2 * step_masks - masks_at;
            multiply_and_load(masks_at);
        }
        if constexpr (AtomOf::promotes) totals.add(sums);
        else totals.take(sums);
        return totals;
    }
};

}  // namespace fusekit::hip
