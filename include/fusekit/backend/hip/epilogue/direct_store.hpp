// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/copy/amd/transposed_filters.hpp"
#include "fusekit/backend/hip/epilogue/pool_store.hpp"
#include "fusekit/backend/hip/statistics/tile_totals.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// Epilogue and store of an output tile: transposes an atom's accumulators through SMEM, applies the plan's epilogue,
/// stores to y so that consecutive threads write consecutive elements in every layout, and accumulates the epilogue's
/// statistics. A thread processes one column of the SMEM buffer: one channel of several pixels if channels are
/// contiguous in y, otherwise one pixel of several channels. `fast` is y's contiguous mode.
template <class Plan, class Atom, detail::Axis fast>
class DirectStore {
    static constexpr int tile_m = Atom::tile_m, tile_n = Atom::tile_n, threads = Atom::threads;
    static constexpr bool along_channels = fast == detail::Axis::channel;
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Transpose = TransposeTile<Atom, along_channels>;
    static constexpr int rounds = Transpose::rounds, rows = Transpose::rows, columns = Transpose::columns;
    /// number of threads that divide the statistics of a row (channel) of the buffer
    static constexpr int partials = threads / rows;
    static constexpr int total_unroll =
        (min)(4, columns / 4 / partials);  // with more, the comparisons exceed AMD's registers
    /// number of partial statistics per channel, each of one thread, that are merged
    static constexpr int parts = along_channels ? threads / columns : partials;
    using Totals = TileTotals<Plan, tile_n, parts, threads>;
    using Total = typename Totals::Total;
    using Tile = OutputTile<Plan, tile_m, tile_n>;
    using Coord = TileCoord<tile_m, tile_n>;
    using Fragment = typename Atom::Fragment;

public:
    union Buffer {
        typename Transpose::Buffer rows;
        typename Totals::Shared totals;
    };

    template <class Params>
    __device__ static void store(Params const& the_params, Buffer& buffer, Tile& tile, Coord const& coord,
                                 Atom const& atom, Fragment const& fragment, unsigned thread) {
        Params const& params = reload(the_params);
        std::int64_t const channel = params.y.layout.stride[1];
        unsigned const column = thread % columns;
        auto* const first = params.y.data + coord.first_k * channel;
        using Y = std::remove_pointer_t<decltype(params.y.data)>;
        auto const store_element = [&](Y* to, float sum, Pixel const& at, unsigned n, State const& state,
                                       auto const& collect) {
            ThreadCoord const pixel_coord({at.n, std::int64_t{coord.first_k} + n, at.p, at.q});
            *to = Y(Epilogue::apply(sum, pixel_coord, state, params.bound.epilogue, collect));
        };
        Total totals[rounds];
        if constexpr (along_channels) {
            bool const in_bounds = column < coord.count_n;
            State const state = tile.state(in_bounds ? column : 0);
            Y* const of_channel = first + column * channel;
            typename Totals::Accumulator accumulator;
            auto const write_row = [&](float sum, unsigned m, float&) {
                Pixel const at = tile.pixels[m];
                if (at.n >= 0 && in_bounds)
                    store_element(of_channel + tile.offsets[m], sum, at, column, state,
                                  [&](float x) { accumulator.add(x); });
            };
            write(buffer.rows, atom, fragment, thread, column_of(params, column), write_row, [](int) {});
            totals[0] = accumulator.total();
        } else {
            Pixel const at = tile.pixels[column];
            Y* const of_pixel = first + tile.offsets[column];
            auto const write_row = [&](float sum, unsigned n, float& collected) {
                if (at.n >= 0 && n < coord.count_n)
                    store_element(of_pixel + std::int64_t{n} * static_cast<int>(channel), sum, at, n, tile.state(n),
                                  [&](float x) { collected = x; });
            };
            write(buffer.rows, atom, fragment, thread, column, write_row, [&](int round) {
                if constexpr (Plan::totals_tiles) totals[round] = total_row(buffer.rows, thread, coord.remaining_m);
            });
        }
        if constexpr (Plan::totals_tiles) {
            auto& shared = buffer.totals.parts;
#pragma unroll
            for (int round = 0; round < (along_channels ? 1 : rounds); ++round) {
                if constexpr (along_channels) shared[thread / columns][column].value() = totals[0];
                else shared[thread % partials][Transpose::tile_row(thread / partials, round)].value() = totals[round];
            }
            Totals::finalize(params, buffer.totals, static_cast<unsigned>(parts), thread, coord.tile(), coord.column(),
                             coord.first_k, coord.count_n);
        }
    }

private:
    /// Returns the column of the SMEM buffer that holds channel `channel` of the tile.
    template <class Params>
    __device__ static unsigned column_of(Params const& params, unsigned channel) {
        using T = std::remove_cvref_t<decltype(*params.x.data)>;
        if constexpr (has_transposed_filters<Plan, Atom, T, fast>) {
            using Filters = TransposedFilters<T, decltype(Atom::Stage::w), tile_n, Atom::tile_k, threads>;
            return params.fits_32bit_offsets ? Filters::tile_row(channel) : channel;
        } else {
            return channel;
        }
    }

    /// Stages the accumulators in `rounds` passes. In pass `round`, calls write_row(sum, row, element) for each row of
    /// the buffer that the thread processes in buffer column `column`, then end(round). `row` is the row of the tile;
    /// `element` refers to the sum in the buffer.
    template <class WriteRow, class End>
    __device__ static void write(typename Transpose::Buffer& buffer, Atom const& atom, Fragment const& fragment,
                                 unsigned thread, unsigned column, WriteRow const& write_row, End const& end) {
        unsigned const first_row = threads == columns ? 0 : thread / columns;
        // unrolled, so that the statistics of each pass stay in registers
        constexpr bool unrolls = Plan::totals_tiles && !along_channels;
        Transpose::template run<unrolls>(buffer, atom, fragment, [&](int round) {
#pragma unroll 4
            for (unsigned i = 0; i < rows * columns / threads; ++i) {
                unsigned const row = first_row + i * (threads / columns);
                float& element = buffer.at(row, column);
                write_row(element, Transpose::tile_row(row, round), element);
            }
            end(round);
        });
    }

    /// Returns the statistics (for example count, mean and squared deviations) of the thread's elements of one buffer
    /// row, which is a channel. write_row() has replaced the row's accumulators by the values that the statistics
    /// operator received. `partials` threads divide the row; only the tile's first `pixels` pixels are counted.
    __device__ static Total total_row(typename Transpose::Buffer const& buffer, unsigned thread, int pixels) {
        typename Totals::Accumulator accumulator;
        auto const* const row = buffer.packets[thread / partials];
        __syncthreads();
#pragma unroll total_unroll
        for (unsigned i = thread % partials; i < columns / 4; i += partials) {
            auto const packet = row[i];
#pragma unroll
            for (unsigned j = 0; j < 4; ++j)
                accumulator.add(packet.values[Atom::tile_column(j)], static_cast<int>(4 * i + j) < pixels);
        }
        return accumulator.total();
    }
};

template <class Plan, class Atom, detail::Axis fast>
    requires(Plan::pools)
class DirectStore<Plan, Atom, fast> : public PoolStore<Plan, Atom, fast == detail::Axis::channel> {};

}  // namespace fusekit::hip
