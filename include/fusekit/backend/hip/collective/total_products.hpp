// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/ops/batch_norm/moments.hpp"
#include "fusekit/plan/statistics.hpp"

namespace fusekit::hip {

/// What a thread has totalled of a column: two rows of each of a warpgroup's products. An operator's Paired totals
/// them, or, where it has none, its Accumulator.
template <class Op>
struct ColumnTotal {
    struct Weights {
        bool first, second;
    };
    typename Op::template Accumulator<float> accumulator{};

    __device__ static Weights weights(int, bool first, bool second) { return {first, second}; }
    /// Changes a pair in which one value or none counts to a pair that add() takes.
    __device__ void replace(float&, float&, Weights const&) const {}
    __device__ void add(float a, float b, Weights const& count) {
        accumulator.add(a, count.first);
        accumulator.add(b, count.second);
    }
    __device__ auto total(int count) const { return accumulator.total(static_cast<float>(count)); }
};
template <class Op>
    requires std::is_same_v<decltype(typename Op::template Paired<float>{}.total(1.0f)),
                            typename Op::template Total<float>>
struct ColumnTotal<Op> {
    using Paired = typename Op::template Paired<float>;
    struct Weights {
        typename Paired::Weights of_pair;
        bool first, second;
    };
    Paired paired{};

    __device__ static Weights weights(int before, bool first, bool second) {
        return {Paired::weights(static_cast<float>(before), second), first, second};
    }
    __device__ void replace(float& a, float& b, Weights const& weights) const {
        a = weights.first ? a : paired.nothing();
        b = weights.second ? b : a;
    }
    __device__ void add(float a, float b, Weights const& weights) { paired.add(a, b, weights.of_pair); }
    __device__ auto total(int count) const { return paired.total(static_cast<float>(count)); }
};

/// The total of the lane whose number differs in the bits of `mask`.
template <class Total>
__device__ Total total_of_lane_xor(Total const& total, unsigned mask) {
    Total other;
#pragma unroll
    for (unsigned word = 0; word < sizeof(Total) / sizeof(float); ++word)
        reinterpret_cast<float*>(&other)[word] = of_lane_xor(reinterpret_cast<float const*>(&total)[word], mask);
    return other;
}

/// Statistics of a warpgroup's products, in registers: a thread totals the rows that it has of its columns, of one tile
/// after another. Empty where a plan totals nothing.
template <class Plan, class Atom>
struct TotalProducts {};

template <class Plan, class Atom>
    requires(Plan::totals_tiles)
class TotalProducts<Plan, Atom> {
    static constexpr int columns = Atom::n / 4;  ///< of a thread
    using Op = typename detail::Collector<typename Plan::Epilogue>::Op;
    using Column = ColumnTotal<Op>;

public:
    using Total = typename Op::template Total<float>;

    /// Begins a product, whose first `rows` rows count. Call add() for all values next, then end().
    __device__ void begin(int rows, unsigned thread) {
        all = rows >= Atom::m;
        weights = Column::weights(count, Atom::row(static_cast<int>(thread), 0) < rows,
                                  Atom::row(static_cast<int>(thread), 2) < rows);
    }
    /// Adds `some` values from sum `e` on. The branch also keeps the compiler from totalling many columns at a time,
    /// for which it has no registers.
    template <int some>
    __device__ void add(float (&values)[Atom::sums_per_thread], int e) {
        if (!all)
#pragma unroll
            for (int i = e / 2; i < (e + some) / 2; ++i)
                of_columns[i].replace(values[first_sum(i)], values[first_sum(i) + 2], weights);
#pragma unroll
        for (int i = e / 2; i < (e + some) / 2; ++i)
            of_columns[i].add(values[first_sum(i)], values[first_sum(i) + 2], weights);
    }
    __device__ void end() { count += (weights.first ? 1 : 0) + (weights.second ? 1 : 0); }

    /// Merges the totals of a warp's lanes, and writes one for each column, after `barrier`. All lanes call it.
    template <class Barrier>
    __device__ void put(Uninitialized<Total> (&to)[Atom::n], unsigned thread, Barrier const& barrier) const {
        Total totals[columns];
#pragma unroll
        for (int i = 0; i < columns; ++i) totals[i] = of_columns[i].total(count);
        int first = 0;
        bool counts = true;
        constexpr int left = halved(halved(halved(columns)));
        merge_lanes<columns, 16>(totals, thread % 32, first, counts);
        barrier();
#pragma unroll
        for (int i = 0; i < left; ++i)
            if (counts) to[Atom::column(static_cast<int>(thread), first_sum(first + i))].value() = totals[i];
    }

private:
    Column of_columns[columns];
    int count = 0;  ///< of what each of them has
    // Of the product that is added: whether y has all of its rows, and what the thread's count.
    bool all;
    typename Column::Weights weights;

    FUSEKIT_HD static constexpr int halved(int count) { return count % 2 == 0 ? count / 2 : count; }

    /// The number of a thread's first sum in its column `i`. The second is two further.
    FUSEKIT_HD static constexpr int first_sum(int i) { return i / 2 * 4 + i % 2; }

    /// Merges `left` totals with those of the lane that differs in `bit`, and so on. Two lanes take half of the columns
    /// each; where their number is odd, both take all, and one of them `counts`. `first` is the number of the first.
    template <int left, unsigned bit>
    __device__ static void merge_lanes(Total (&totals)[columns], unsigned lane, int& first, bool& counts) {
        if constexpr (bit >= 4) {
            constexpr int next = halved(left), apart = left - next;
            bool const upper = (lane & bit) != 0;
            float const other_count = count_of(totals[0], bit);
#pragma unroll
            for (int i = 0; i < next; ++i) {
                Total const kept = select(upper, totals[i + apart], totals[i]),
                            given = select(upper, totals[i], totals[i + apart]);
                totals[i] = merge(kept, of_lane(given, bit, other_count));
            }
            if (apart > 0) first += upper ? apart : 0;
            else counts = counts && !upper;
            merge_lanes<next, bit / 2>(totals, lane, first, counts);
        }
    }

    /// In registers, number by number.
    __device__ static Total select(bool first, Total const& a, Total const& b) {
        Total total;
#pragma unroll
        for (unsigned word = 0; word < sizeof(Total) / sizeof(float); ++word) {
            float const of_a = reinterpret_cast<float const*>(&a)[word],
                        of_b = reinterpret_cast<float const*>(&b)[word];
            reinterpret_cast<float*>(&total)[word] = first ? of_a : of_b;
        }
        return total;
    }

    /// A total of another lane. All Moments of a lane have the same count, which is passed once.
    static constexpr bool are_moments = std::is_same_v<Total, detail::Moments<float>>;
    __device__ static float count_of([[maybe_unused]] Total const& total, unsigned bit) {
        if constexpr (are_moments) return of_lane_xor(total.count, bit);
        return 0;
    }
    __device__ static Total of_lane(Total const& total, unsigned bit, [[maybe_unused]] float count) {
        if constexpr (are_moments) return {count, of_lane_xor(total.mean, bit), of_lane_xor(total.deviations, bit)};
        else return total_of_lane_xor(total, bit);
    }
};

}  // namespace fusekit::hip
