// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

namespace detail {

/// The count, the mean, and the sum of squared deviations from the mean, of some values. Two totals merge by an exact
/// identity, which cancels no more digits than the values do. Source: Chan, Golub and LeVeque 1979, eq. (2.1).
///
/// Mean and deviations are those of the values times `unit`, so that a sum of 2^32 squares is finite where their mean
/// is. `unit` is a power of two: it rounds nothing, except that less than 2^-117 of the variance is lost.
template <class V>
struct Moments {
    static constexpr float unit = 0x1p-16f, per_unit = 0x1p16f;
    V count{}, mean{}, deviations{};

    FUSEKIT_H constexpr Moments() = default;
    FUSEKIT_HD constexpr Moments(V the_count, V the_mean, V the_deviations)
        : count(the_count), mean(the_mean), deviations(the_deviations) {}

    /// The mean of the values themselves.
    FUSEKIT_HD constexpr V true_mean() const { return mean * per_unit; }
    FUSEKIT_HD constexpr V variance() const { return deviations / count * (per_unit * per_unit); }
    /// The variance estimated from a sample: divided by count - 1.
    FUSEKIT_HD constexpr V unbiased_variance() const { return deviations / (count - 1) * (per_unit * per_unit); }

    /// Combines the totals of all that take part, which have the same count: `sum` replaces each of some numbers by its
    /// sum over all of them.
    template <std::size_t Count, class Sum>
    FUSEKIT_HD static constexpr void combine(Moments (&of)[Count], Sum const& sum) {
        V first[1 + Count], second[Count];
        first[Count] = of[0].count;
        for (std::size_t i = 0; i < Count; ++i) first[i] = of[i].count * unit * of[i].mean;
        sum(first);
        for (std::size_t i = 0; i < Count; ++i) {
            V const middle = first[i] / at_least_one(first[Count]) * per_unit,
                    apart = math::assoc_barrier(of[i].mean - middle);
            second[i] = of[i].deviations + of[i].count * apart * apart;
            of[i].mean = middle;
        }
        sum(second);
        for (std::size_t i = 0; i < Count; ++i) of[i] = {first[Count], of[i].mean, second[i]};
    }
    /// Merges two totals. Equal means stay exactly what they are.
    FUSEKIT_HD friend constexpr Moments merge(Moments const& a, Moments const& b) {
        return merge(a, b, b.count / at_least_one(a.count + b.count));
    }
    /// The same where it is known which `share` of all is b's: many totals of the same counts share a division.
    FUSEKIT_HD friend constexpr Moments merge(Moments const& a, Moments const& b, V share) {
        V const apart = math::assoc_barrier(b.mean - a.mean), step = apart * share;
        return {a.count + b.count, a.mean + step, a.deviations + b.deviations + a.count * step * apart};
    }

    FUSEKIT_HD static constexpr V at_least_one(V count) { return math::select(count > V{}, count, V{} + 1); }
};

/// Merges many moments with one division. It sums their means' differences from one of these means, and the squares of
/// these differences, each times a count. As with a shift, cancellation costs a factor of the number of moments at
/// most.
template <class V>
class MergedMoments {
public:
    /// Has no moments yet. `one` is among those that will be merged.
    FUSEKIT_HD explicit constexpr MergedMoments(Moments<V> const& one) : all{V{}, one.mean, V{}} {}

    FUSEKIT_HD constexpr void add(Moments<V> const& next) {
        V const apart = math::assoc_barrier(next.mean - all.mean), weighted = next.count * apart;
        all.count += next.count;
        all.deviations += next.deviations;
        sum += weighted;
        squares += weighted * apart;
    }
    /// Both were made from the same moments.
    FUSEKIT_HD friend constexpr MergedMoments merge(MergedMoments a, MergedMoments const& b) {
        a.all.count += b.all.count;
        a.all.deviations += b.all.deviations;
        a.sum += b.sum;
        a.squares += b.squares;
        return a;
    }
    FUSEKIT_HD constexpr Moments<V> total() const {
        V const part = sum / Moments<V>::at_least_one(all.count), between = squares - sum * part;
        return {all.count, all.mean + part, all.deviations + math::select(between < V{}, V{}, between)};
    }

private:
    Moments<V> all;  ///< but with the mean of `one`
    V sum{}, squares{};
};

/// Sums of x - shift and of its square, where shift is one of the values, or near them. Then (shift - mean)^2 is at
/// most the sum of all squared deviations, so cancellation costs a factor of the count at most, and counts are small
/// until moments are merged.
template <class V>
struct MomentsAccumulator {
    V shift{}, sum{}, squares{};  ///< of values times Moments::unit

    FUSEKIT_HD constexpr void start(V x) { shift = x * Moments<V>::unit; }
    /// Adds nothing where `counts`, a mask of lanes or a bool, is false. One instruction subtracts and scales.
    template <class Mask = bool>
    FUSEKIT_HD constexpr void add(V x, Mask counts = true) {
        V const deviation = math::select(counts, math::assoc_barrier(x * Moments<V>::unit - shift), V{});
        sum += deviation;
        squares += deviation * deviation;
    }
    FUSEKIT_HD constexpr Moments<V> total(V count) const {
        return total_of(count, sum / Moments<V>::at_least_one(count));
    }
    /// The same with 1 / count, which many accumulators share.
    FUSEKIT_HD constexpr Moments<V> total(V count, V inverse) const { return total_of(count, sum * inverse); }

private:
    FUSEKIT_HD constexpr Moments<V> total_of(V count, V part) const {
        V const deviations = squares - sum * part;
        return {count, shift + part, math::select(deviations < V{}, V{}, deviations)};
    }
};

}  // namespace detail

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
