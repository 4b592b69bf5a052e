// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/tile_totals.hpp"

namespace fusekit::hip {

/// Statistics of a warpgroup's products. Values pass through shared memory, 64 columns at a time, so that a thread
/// totals half of the rows of a column.
template <class Plan, class Atom>
class TotalProducts {
    static constexpr int columns = Atom::n > 64 ? 64 : 32, rounds = (Atom::n + columns - 1) / columns,
                         parts = Atom::threads / columns;
    static constexpr int own_rows = Atom::m / parts;
    using Totals = TileTotals<Plan, Atom::n, parts, Atom::threads>;

public:
    using Shared = typename Totals::Shared;

    using Column = Totals;

    static constexpr int buffer_bytes = Atom::m * columns * 4;

    /// Adds a product's values, of which the first `rows` rows count. `buffer` has buffer_bytes. `barrier` is the
    /// warpgroup's.
    template <class Barrier>
    __device__ void add(float const (&values)[Atom::sums_per_thread], int rows, float* buffer, unsigned the_thread,
                        Barrier const& barrier) {
        auto const thread = static_cast<int>(the_thread);
#pragma unroll
        for (int round = 0; round < rounds; ++round) {
#pragma unroll
            for (int e = round * columns / 2; e < min((round + 1) * columns / 2, Atom::sums_per_thread); e += 2) {
                int const row = Atom::row(thread, e), at = Atom::column(thread, e) - round * columns;
                *reinterpret_cast<Packet<float, 2>*>(buffer + place(row, at)) = {values[e], values[e + 1]};
            }
            barrier();
            if (rows >= Atom::m) add_all(accumulators[round], buffer, thread);
            else add_some(accumulators[round], buffer, thread, rows);
            barrier();
        }
    }

    /// Ends tile number `tile` of its column, as TileTotals does.
    template <class Params, class Barrier>
    __device__ void put(Params const& params, Shared& shared, unsigned thread, unsigned tile, int first_k, int count_n,
                        Barrier const& barrier) const {
#pragma unroll
        for (unsigned round = 0; round < rounds; ++round)
            if (unsigned const at = round * columns + thread % columns; at < Atom::n)
                shared.parts[thread / columns][at].value() = accumulators[round].total();
        Totals::put(params, shared, parts, thread, tile, first_k, static_cast<unsigned>(count_n), barrier);
    }

private:
    typename Totals::Accumulator accumulators[rounds];

    /// Adds the thread's rows of its column. Once the first four are added, the compiler knows that the accumulator has
    /// begun, and what it adds then takes a load and three instructions.
    __device__ static void add_all(typename Totals::Accumulator& accumulator, float const* buffer, int thread) {
        int const column = thread % columns, first_row = thread / columns * own_rows;
        auto const add_four = [&](int row) {
#pragma unroll
            for (int i = 0; i < 4; ++i)
                accumulator.add(buffer[(first_row + i) * columns + (column ^ i * 8) + row * columns]);
        };
        add_four(0);
#pragma unroll 2
        for (int row = 4; row < own_rows; row += 4) add_four(row);
    }

    /// The same of those that are among the first `rows` rows.
    __device__ static void add_some(typename Totals::Accumulator& accumulator, float const* buffer, int thread,
                                    int rows) {
        int const column = thread % columns, first_row = thread / columns * own_rows;
#pragma unroll 1
        for (int row = first_row; row < min(first_row + own_rows, rows); ++row)
            accumulator.add(buffer[place(row, column)]);
    }

    /// Four rows of two columns reach different banks.
    __device__ static int place(int row, int column) { return row * columns + (column ^ row % 4 * 8); }
};

}  // namespace fusekit::hip
