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
            int const first = pass * positions;
            if (tiles.vector == 8) store_dense<8>(tile, first);
            else if (tiles.vector == 4) store_dense<4>(tile, first);
            else if (tiles.vector == 2) store_dense<2>(tile, first);
            else store_elements(tile, first);
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

    __device__ static bool is_finite(float value) { return config::bit_cast<std::uint32_t>(value) << 1 < 0xff000000u; }

    /// Stores vectors of `count` columns to y whose pixels are dense, so that a phase row's columns of all positions
    /// are consecutive elements of a row of y, and a vector is in bounds or out of bounds as a whole.
    template <int count>
    __device__ void store_dense(PhasedTile const& tile, int first) const {
        Index<4> const& stride = params.y.layout.stride;
        int const height = static_cast<int>(params.y.layout.shape[2]), channels = static_cast<int>(stride[3]),
                  elements = static_cast<int>(params.y.layout.shape[3]) * channels,
                  row_stride = static_cast<int>(stride[2]),
                  begin = tile.q * tiles.row_columns + columns.column - tiles.origin[1] * channels,
                  per_position = static_cast<int>(tiles.by_vectors.value()),
                  first_position = static_cast<int>(tiles.by_vectors.divide(thread)),
                  first_vector = static_cast<int>(thread) - first_position * per_position,
                  positions_apart = static_cast<int>(tiles.by_vectors.divide(Atom::threads)),
                  vectors_apart = Atom::threads - positions_apart * per_position,
                  rounds = divide_up_32(positions * per_position, Atom::threads);
        U* const image = params.y.data + tile.n * stride[0];
#pragma unroll 1
        for (int row = 0; row < columns.rows; ++row) {
            int in_pass = first_position, vector = first_vector;
            int const i = columns.row + row;
#pragma unroll 4
            for (int round = 0; round < rounds; ++round) {
                int const position = first + in_pass, down = position >> tiles.pitch_bits,
                          right = position & (tiles.pitch() - 1), in_row = vector * count,
                          p = (tile.p + down) * of_y.strides[0] + i - tiles.origin[0],
                          element = begin + right * tiles.row_columns + in_row;
                if (in_pass < positions && right < tiles.columns && in_row < columns.width && contains(height, p) &&
                    contains(elements, element)) {
                    Packet<float, count> sums = *reinterpret_cast<Packet<float, count> const*>(
                        shared.staged + in_pass * pitch + row * tiles.width + in_row);
                    bool finite = true;
#pragma unroll
                    for (int e = 0; e < count; ++e) finite = finite && is_finite(sums.values[e]);
                    if (!finite) recompute(sums, tile, down, right, i, columns.column + in_row);
                    *reinterpret_cast<Packet<std::uint32_t, count / 2>*>(image + std::int64_t{p} * row_stride +
                                                                         element) = results(sums, tile.n, p, element);
                }
                in_pass += positions_apart, vector += vectors_apart;
                if (vector >= per_position) vector -= per_position, ++in_pass;
            }
        }
    }
    template <int count>
    __device__ void recompute(Packet<float, count>& sums, PhasedTile const& tile, int down, int right, int i,
                              int column) const {
#pragma unroll 1
        for (int e = 0; e < count; ++e) {
            float sum = 0;
#pragma unroll
            for (int other = 0; other < count; ++other) sum = other == e ? sums.values[other] : sum;
            if (is_finite(sum)) continue;
            auto const j = static_cast<int>(tiles.by_channels.divide(static_cast<unsigned>(column + e)));
            int const c = column + e - j * static_cast<int>(tiles.by_channels.value());
            sum = sum_of(tile.n, c, tile.p + down, tile.q + right, i, j);
#pragma unroll
            for (int other = 0; other < count; ++other) sums.values[other] = other == e ? sum : sums.values[other];
        }
    }
    /// Results of consecutive elements of row p of y, from index `element` of the row on.
    template <int count>
    __device__ Packet<std::uint32_t, count / 2> results(Packet<float, count> const& sums, int n, int p,
                                                        int element) const {
        Packet<std::uint32_t, count / 2> words;
        Index<4> const& stride = params.y.layout.stride;
        int q = 0, c = 0;
        if constexpr (Epilogue::channelwise || Epilogue::pixelwise) {
            q = static_cast<int>(tiles.by_channels.divide(static_cast<unsigned>(element)));
            c = element - q * static_cast<int>(tiles.by_channels.value());
        }
        float rounded[count];
#pragma unroll
        for (int e = 0; e < count; ++e) {
            OffsetCoord const coord({n, c, p, q}, p * stride[2] + element + e, stride);
            rounded[e] = Epilogue::apply(sums.values[e], coord, Epilogue::prepare(c, params.bound.epilogue),
                                         params.bound.epilogue);
            if (++c == static_cast<int>(tiles.by_channels.value())) c = 0, ++q;
        }
#pragma unroll
        for (int e = 0; e < count; e += 2) words.values[e / 2] = packed<U>(rounded[e], rounded[e + 1]);
        return words;
    }

    /// Stores single elements to y of any strides.
    __device__ void store_elements(PhasedTile const& tile, int first) const {
        Index<4> const &shape = params.y.layout.shape, &stride = params.y.layout.stride;
        int const height = static_cast<int>(shape[2]), width = static_cast<int>(shape[3]);
        unsigned const all = static_cast<unsigned>(columns.rows * positions) * tiles.by_width.value();
#pragma unroll 1
        for (unsigned index = thread; index < all; index += Atom::threads) {
            unsigned const line = tiles.by_width.divide(index);
            int const in_row = static_cast<int>(index - line * tiles.by_width.value()),
                      in_pass = static_cast<int>(line) % positions, row = static_cast<int>(line) / positions,
                      position = first + in_pass, down = position >> tiles.pitch_bits,
                      right = position & (tiles.pitch() - 1), i = columns.row + row,
                      p = (tile.p + down) * of_y.strides[0] + i - tiles.origin[0], column = columns.column + in_row,
                      j = static_cast<int>(tiles.by_channels.divide(static_cast<unsigned>(column))),
                      c = column - j * static_cast<int>(tiles.by_channels.value()),
                      q = (tile.q + right) * of_y.strides[1] + j - tiles.origin[1];
            if (right >= tiles.columns || in_row >= columns.width || !contains(height, p) || !contains(width, q))
                continue;
            float sum = shared.staged[in_pass * pitch + row * tiles.width + in_row];
            if (!is_finite(sum)) sum = sum_of(tile.n, c, tile.p + down, tile.q + right, i, j);
            std::int64_t const distance = p * stride[2] + q * stride[3] + c;
            OffsetCoord const coord({tile.n, c, p, q}, distance, stride);
            params.y.data[tile.n * stride[0] + distance] =
                U(Epilogue::apply(sum, coord, Epilogue::prepare(c, params.bound.epilogue), params.bound.epilogue));
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
