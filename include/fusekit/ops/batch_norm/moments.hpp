// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

namespace fusekit {

namespace detail {

/// Count, mean and squared deviations from it of some values. Totals combine by their exact identity, with no more
/// cancellation than the values have themselves. Source: Chan, Golub and LeVeque 1979, eq. (2.1).
///
/// Mean and deviations are those of the values times `unit`: a sum of 2^32 squares is finite then where their mean is.
/// It is a power of two and rounds nothing, but that less than 2^-117 of the variance is lost.
template <class V>
struct Moments {
    static constexpr float unit = 0x1p-16f, per_unit = 0x1p16f;
    V count{}, mean{}, deviations{};

    /// Those of the values themselves.
    FUSEKIT_HD constexpr V true_mean() const { return mean * per_unit; }
    FUSEKIT_HD constexpr V variance() const { return deviations / count * (per_unit * per_unit); }
    /// As an estimate from a sample.
    FUSEKIT_HD constexpr V unbiased_variance() const { return deviations / (count - 1) * (per_unit * per_unit); }

    /// Where `sum` replaces each of some numbers by its sum over all that take part: theirs, which are of the same
    /// count, become those of all.
    template <std::size_t Count, class Sum>
    FUSEKIT_HD static constexpr void combine(Moments (&of)[Count], Sum const& sum) {
        V first[1 + Count], second[Count];
        first[Count] = of[0].count;
        for (std::size_t i = 0; i < Count; ++i) first[i] = of[i].count * unit * of[i].mean;
        sum(first);
        for (std::size_t i = 0; i < Count; ++i) {
            V const middle = first[i] / at_least_one(first[Count]) * per_unit, apart = of[i].mean - middle;
            second[i] = of[i].deviations + of[i].count * apart * apart;
            of[i].mean = middle;
        }
        sum(second);
        for (std::size_t i = 0; i < Count; ++i) of[i] = {first[Count], of[i].mean, second[i]};
    }
    /// Of two. Equal means stay what they are.
    FUSEKIT_HD friend constexpr Moments merge(Moments const& a, Moments const& b) {
        V const both = a.count + b.count, apart = b.mean - a.mean, step = apart * (b.count / at_least_one(both));
        return {both, a.mean + step, a.deviations + b.deviations + a.count * step * apart};
    }

    FUSEKIT_HD static constexpr V at_least_one(V count) { return math::select(count > V{}, count, V{} + 1); }
};

/// Moments on their way: sums of x - shift and its square, where shift is one of the values, or near them. As then
/// (shift - mean)^2 is no more than all squared deviations together, cancellation costs a factor of the count at most,
/// and counts are small before moments are combined.
template <class V>
struct MomentsAccumulator {
    V shift{}, sum{}, squares{};  ///< of values times Moments::unit

    FUSEKIT_HD constexpr void start(V x) { shift = x * Moments<V>::unit; }
    /// Nothing, where not `counts`: a mask of lanes, or bool. One instruction subtracts and scales.
    template <class Mask = bool>
    FUSEKIT_HD constexpr void add(V x, Mask counts = true) {
        V const deviation = math::select(counts, x * Moments<V>::unit - shift, V{});
        sum += deviation;
        squares += deviation * deviation;
    }
    FUSEKIT_HD constexpr Moments<V> total(V count) const {
        V const part = sum / Moments<V>::at_least_one(count), deviations = squares - sum * part;
        return {count, shift + part, math::select(deviations < V{}, V{}, deviations)};
    }
};

}  // namespace detail

}  // namespace fusekit
