// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

namespace fusekit {

namespace detail {

/// Count, mean and squared deviations from it of some values. Totals combine by their exact identity, with no more
/// cancellation than the values have themselves. Source: Chan, Golub and LeVeque 1979, eq. (2.1).
template <class V>
struct Moments {
    V count{}, mean{}, deviations{};

    /// Where `sum` replaces each of some numbers by its sum over all that take part: theirs, which are of the same
    /// count, become those of all.
    template <int Count, class Sum>
    FUSEKIT_HD static constexpr void combine(Moments (&of)[Count], Sum const& sum) {
        V first[1 + Count], second[Count];
        first[Count] = of[0].count;
        for (int i = 0; i < Count; ++i) first[i] = of[i].count * of[i].mean;
        sum(first);
        for (int i = 0; i < Count; ++i) {
            V const mean = first[i] / at_least_one(first[Count]), apart = of[i].mean - mean;
            second[i] = of[i].deviations + of[i].count * apart * apart;
            of[i].mean = mean;
        }
        sum(second);
        for (int i = 0; i < Count; ++i) of[i] = {first[Count], of[i].mean, second[i]};
    }
    /// Of two.
    FUSEKIT_HD friend constexpr Moments merge(Moments const& a, Moments const& b) {
        V const count = a.count + b.count, mean = (a.count * a.mean + b.count * b.mean) / at_least_one(count);
        V const of_a = a.mean - mean, of_b = b.mean - mean;
        return {count, mean, a.deviations + b.deviations + a.count * of_a * of_a + b.count * of_b * of_b};
    }

    FUSEKIT_HD static constexpr V at_least_one(V count) { return math::select(count > V{}, count, V{} + 1); }
};

/// Moments on their way: sums of x - shift and its square, where shift is one of the values, or near them. As then
/// (shift - mean)^2 is no more than all squared deviations together, cancellation costs a factor of the count at most,
/// and counts are small before moments are combined.
template <class V>
struct RunningMoments {
    V shift{}, sum{}, squares{};

    FUSEKIT_HD constexpr void start(V x) { shift = x; }
    /// Nothing, where not `counts`.
    FUSEKIT_HD constexpr void add(V x, bool counts = true) {
        V const deviation = (counts ? x : shift) - shift;
        sum += deviation;
        squares += deviation * deviation;
    }
    /// Of values with the same shift.
    FUSEKIT_HD constexpr void join(RunningMoments const& other) {
        sum += other.sum;
        squares += other.squares;
    }
    FUSEKIT_HD constexpr Moments<V> total(V count) const {
        V const part = sum / Moments<V>::at_least_one(count), deviations = squares - sum * part;
        return {count, shift + part, math::select(deviations < V{}, V{}, deviations)};
    }
};

}  // namespace detail

}  // namespace fusekit
