// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/backend/hip/copy/phased_filters.hpp"
#include "fusekit/backend/hip/offset_coord.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// First position of a tile of PhasedHalo, and its image.
struct PhasedTile {
    int n, p, q;

    __device__ PhasedTile(PhasedHaloTiles const& tiles, unsigned tile) {
        unsigned const line = tiles.by_across.divide(tile), image = tiles.by_down.divide(line);
        q = static_cast<int>(tile - line * tiles.by_across.value()) * tiles.columns;
        p = static_cast<int>(line - image * tiles.by_down.value()) * tiles.rows();
        n = static_cast<int>(image);
    }
};

/// Store of a warpgroup's tile of PhasedHalo: stages the accumulators of 32 positions at a time in SMEM, applies the
/// epilogue and stores columns in memory order: those of a phase row of consecutive positions are contiguous in y.
/// Accumulators that are not finite are computed again in multiply-adds: the MMAs multiplied zeros, of taps that a
/// phase lacks or in the padding, by other elements, which gives NaN if these are infinite or NaN.
template <class Plan, class Atom, class T, class U>
class PhasedStore {
    using Epilogue = typename Plan::Epilogue;
    using Params = ConvParams<Plan, T, U>;
    static constexpr int positions = 32;  ///< positions of a pass
    /// Floats from a staged position to the next: lanes that stage 8 rows of 4 positions use different banks.
    static constexpr int pitch = PhasedHaloShape::most_columns + 4;
    static constexpr int values = positions / 8 * 4;  ///< accumulators of a thread in a pass

public:
    struct Shared {
        alignas(16) float staged[positions * pitch];
    };

    __device__ PhasedStore(Params const& the_params, PhasedColumns const& the_columns, Shared& the_shared,
                           unsigned the_thread)
        : params(the_params),
          tiles(the_params.phased_halo),
          of_y(Plan::Head::geometry(the_params.bound.head).of_y()),
          columns(the_columns),
          shared(the_shared),
          thread(the_thread) {}

    /// All threads of the warpgroup call it; `barrier` synchronizes them.
    template <class Barrier>
    __device__ void store(typename Atom::Accumulators const& acc, PhasedTile const& tile,
                          Barrier const& barrier) const {
#pragma unroll 1
        for (int pass = 0; pass < PhasedHaloShape::positions / positions; ++pass) {
            barrier();  // all threads have read the previous pass
            switch (pass) {
                case 0: stage<0>(acc); break;
                case 1: stage<1>(acc); break;
                case 2: stage<2>(acc); break;
                default: stage<3>(acc); break;
            }
            barrier();
            if (tiles.paired) store_pass<2>(tile, pass * positions, tiles.by_pairs);
            else store_pass<1>(tile, pass * positions, tiles.by_width);
        }
    }

private:
    Params const& params;
    PhasedHaloTiles const& tiles;
    Filter<2> const of_y;
    PhasedColumns const& columns;
    Shared& shared;
    unsigned thread;

    template <int pass>
    __device__ void stage(typename Atom::Accumulators const& acc) const {
        auto const in_thread = static_cast<int>(thread);
#pragma unroll
        for (int e = 0; e < values; ++e) {
            int const row = Atom::row(in_thread, e), position = Atom::column(in_thread, e);
            shared.staged[position * pitch + row] = acc[pass * values + e];
        }
    }

    /// Stores `count` consecutive columns of a position at a time. `by_width`: divides by width / count.
    template <int count>
    __device__ void store_pass(PhasedTile const& tile, int first, FastDivmod const& by_width) const {
        Index<4> const &shape = params.y.layout.shape, &stride = params.y.layout.stride;
        int const height = static_cast<int>(shape[2]), width = static_cast<int>(shape[3]);
        unsigned const all = static_cast<unsigned>(columns.rows * positions) * by_width.value();
#pragma unroll 1
        for (unsigned index = thread; index < all; index += Atom::threads) {
            unsigned const line = by_width.divide(index);
            int const in_row = static_cast<int>(index - line * by_width.value()) * count,
                      in_pass = static_cast<int>(line) % positions, row = static_cast<int>(line) / positions,
                      position = first + in_pass, down = position >> tiles.pitch_bits,
                      right = position & (tiles.pitch() - 1),
                      p = (tile.p + down) * of_y.strides[0] + columns.row + row - tiles.origin[0];
            if (right >= tiles.columns || in_row >= columns.width ||
                static_cast<unsigned>(p) >= static_cast<unsigned>(height))
                continue;
            float const* const from = shared.staged + in_pass * pitch + row * tiles.width + in_row;
            U* const row_of_y = params.y.data + (tile.n * stride[0] + p * stride[2]);
            float results[count] = {};
            bool exists[count];
            std::int64_t distances[count];
#pragma unroll
            for (int e = 0; e < count; ++e) {
                int const column = columns.column + in_row + e,
                          j = static_cast<int>(tiles.by_channels.divide(static_cast<unsigned>(column))),
                          c = column - j * static_cast<int>(tiles.by_channels.value()),
                          q = (tile.q + right) * of_y.strides[1] + j - tiles.origin[1];
                exists[e] = static_cast<unsigned>(q) < static_cast<unsigned>(width);
                distances[e] = q * stride[3] + c;
                float sum = from[e];
                if (config::bit_cast<std::uint32_t>(sum) << 1 >= 0xff000000u && exists[e])
                    sum = sum_of(tile.n, c, tile.p + down, tile.q + right, columns.row + row, j);
                OffsetCoord const coord({tile.n, c, p, q}, p * stride[2] + distances[e], stride);
                if constexpr (Epilogue::pixelwise) {
                    if (!exists[e]) continue;
                }
                results[e] =
                    Epilogue::apply(sum, coord, Epilogue::prepare(c, params.bound.epilogue), params.bound.epilogue);
            }
            if constexpr (count == 2) {
                if (exists[0] && exists[1]) {
                    *reinterpret_cast<std::uint32_t*>(row_of_y + distances[0]) = packed<U>(results[0], results[1]);
                    continue;
                }
            }
#pragma unroll
            for (int e = 0; e < count; ++e)
                if (exists[e]) row_of_y[distances[e]] = U(results[e]);
        }
    }

    /// Sum of channel c of y at phase (i, j) of position (p, q), over the taps of the phase that are in bounds of x.
    __device__ float sum_of(int n, int c, int p, int q, int i, int j) const {
        auto const w = detail::typed<T>(Plan::Head::filters(params.bound.head));
        Index<4> const &shape = params.x.layout.shape, &of_x = params.x.layout.stride, &of_w = w.layout.stride;
        float sum = 0;
#pragma unroll 1
        for (int t = 0; t < tiles.taps[0]; ++t) {
            int const r = i - tiles.shift[0] + (tiles.taps[0] - 1 - t) * of_y.strides[0], h = p + tiles.first[0] + t;
            if (!contains(of_y.size[0], r) || !contains(shape[2], h)) continue;
#pragma unroll 1
            for (int u = 0; u < tiles.taps[1]; ++u) {
                int const s = j - tiles.shift[1] + (tiles.taps[1] - 1 - u) * of_y.strides[1],
                          column = q + tiles.first[1] + u;
                if (!contains(of_y.size[1], s) || !contains(shape[3], column)) continue;
                T const* const x = params.x.data + (n * of_x[0] + h * of_x[2] + column * of_x[3]);
                T const* const tap = w.data + (c * of_w[0] + r * of_w[2] + s * of_w[3]);
#pragma unroll 1
                for (int k = 0; k < tiles.channels; ++k)
                    sum += static_cast<float>(x[k]) * static_cast<float>(tap[k * of_w[1]]);
            }
        }
        return sum;
    }
    template <class Int>
    __device__ static bool contains(Int extent, int i) {
        return static_cast<unsigned>(i) < static_cast<unsigned>(extent);
    }
};

}  // namespace fusekit::hip
