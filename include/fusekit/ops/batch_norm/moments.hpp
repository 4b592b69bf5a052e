// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

namespace detail {

/// Statistics of a set of values: count, mean, and sum of squared deviations from the mean. Two Moments merge by an
/// exact identity, with no more cancellation than the values themselves have. Source: Chan, Golub and LeVeque 1979, eq.
/// (2.1).
///
/// The fields mean and deviations are those of the values times `unit`, so that a sum of 2^32 squares is finite if the
/// mean is. `unit` is a power of two: scaling is exact, except that less than 2^-117 of the variance is lost.
template <class V>
struct Moments {
    static constexpr float unit = 0x1p-16f, per_unit = 0x1p16f;
    V count{}, mean{}, deviations{};

    FUSEKIT_H constexpr Moments() = default;
    FUSEKIT_HD constexpr Moments(V the_count, V the_mean, V the_deviations)
        : count(the_count), mean(the_mean), deviations(the_deviations) {}

    /// Mean of the unscaled values.
    FUSEKIT_HD constexpr V true_mean() const { return mean * per_unit; }
    FUSEKIT_HD constexpr V variance() const { return deviations / count * (per_unit * per_unit); }
    /// Unbiased estimate of the variance: divides by count - 1.
    FUSEKIT_HD constexpr V unbiased_variance() const { return deviations / (count - 1) * (per_unit * per_unit); }

    /// All-reduces an array of Moments of equal count over threads. sum(values), a function of the caller, replaces
    /// each number of an array by its sum over all participating threads.
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
    /// Merges the Moments of two disjoint sets of values. If both means are equal, the result's mean is bitwise
    /// identical to them.
    FUSEKIT_HD friend constexpr Moments merge(Moments const& a, Moments const& b) {
        return merge(a, b, b.count / at_least_one(a.count + b.count));
    }
    /// Merges Moments a and b, given `share`, b's fraction of the total count, so that merges of equal counts need one
    /// division.
    FUSEKIT_HD friend constexpr Moments merge(Moments const& a, Moments const& b, V share) {
        V const apart = math::assoc_barrier(b.mean - a.mean), step = apart * share;
        return {a.count + b.count, a.mean + step, a.deviations + b.deviations + a.count * step * apart};
    }

    FUSEKIT_HD static constexpr V at_least_one(V count) { return math::select(count > V{}, count, V{} + 1); }
};

/// Accumulator that merges many Moments with one division: it sums the differences of their means from one of the
/// means, and the squares of these differences, weighted by count. As with any shift, cancellation amplifies the error
/// at most by the number of Moments.
template <class V>
class MergedMoments {
public:
    /// Constructs an empty merge. `one` is any one of the Moments to be added; its mean is the shift.
    FUSEKIT_HD explicit constexpr MergedMoments(Moments<V> const& one) : all{V{}, one.mean, V{}} {}

    FUSEKIT_HD constexpr void add(Moments<V> const& next) {
        V const apart = math::assoc_barrier(next.mean - all.mean), weighted = next.count * apart;
        all.count += next.count;
        all.deviations += next.deviations;
        sum += weighted;
        squares += weighted * apart;
    }
    /// Adds the sums of two partial merges. Precondition: a and b were constructed from the same `one`.
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
    Moments<V> all;  ///< sums of counts and of deviations; `mean` stays the mean of `one`
    V sum{}, squares{};
};

/// Sums of x - shift and of (x - shift)^2. The shift is one of the values x, or close to them: then (shift - mean)^2 is
/// at most the sum of squared deviations, so cancellation amplifies the error at most by the count, which is small
/// until Moments are merged.
template <class V>
struct MomentsAccumulator {
    V shift{}, sum{}, squares{};  ///< of values times Moments::unit

    FUSEKIT_HD constexpr void start(V x) { shift = x * Moments<V>::unit; }
    /// Adds x, or nothing where `counts`, a bool or a lane mask, is false. Scaling and subtraction compile to one FMA.
    template <class Mask = bool>
    FUSEKIT_HD constexpr void add(V x, Mask counts = true) {
        V const deviation = math::select(counts, math::assoc_barrier(x * Moments<V>::unit - shift), V{});
        sum += deviation;
        squares += deviation * deviation;
    }
    FUSEKIT_HD constexpr Moments<V> total(V count) const {
        return total_of(count, sum / Moments<V>::at_least_one(count));
    }
    /// Computes the Moments of the `count` values added. `inverse` is 1 / count, which the caller computes once for
    /// many accumulators.
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
