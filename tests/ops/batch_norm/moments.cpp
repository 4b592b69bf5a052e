// SPDX-License-Identifier: MIT
#include "fusekit/ops/batch_norm/moments.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

using Moments = fusekit::detail::Moments<float>;
using Accumulator = fusekit::detail::MomentsAccumulator<float>;

namespace {

Moments moments_of(std::vector<float> const& values) {
    Accumulator accumulator;
    if (!values.empty()) accumulator.start(values[0]);
    for (float const value : values) accumulator.add(value);
    return accumulator.total(static_cast<float>(values.size()));
}

void check(Moments const& moments, float count, float mean, float variance) {
    CHECK(moments.count == count);
    CHECK(moments.true_mean() == mean);
    CHECK(moments.variance() == variance);
}

}  // namespace

TEST_CASE("moments of integers are exact") {
    check(moments_of({5}), 1, 5, 0);
    check(moments_of({1, 3, 5, 7}), 4, 4, 5);
    check(moments_of({-8, 8}), 2, 0, 64);
    CHECK(moments_of({1, 3, 5, 7}).unbiased_variance() == 20.0f / 3);
    check(moments_of({1e6f + 1, 1e6f + 3, 1e6f + 5, 1e6f + 7}), 4, 1e6f + 4, 5);  // the shift avoids cancellation
}

TEST_CASE("masked values add nothing to moments") {
    Accumulator accumulator;
    accumulator.start(2);
    for (float const value : {2.0f, 4.0f}) accumulator.add(value, true);
    accumulator.add(1e30f, false);
    check(accumulator.total(2), 2, 3, 1);
}

TEST_CASE("merged moments are those of all values, and of no values nothing") {
    check(merge(moments_of({1, 3}), moments_of({5, 7})), 4, 4, 5);
    check(merge(moments_of({1, 3, 5, 7}), moments_of({4, 4, 4, 4})), 8, 4, 2.5f);
    check(merge(moments_of({1, 3, 5, 7}), Moments{}), 4, 4, 5);
    check(merge(Moments{}, moments_of({1, 3, 5, 7})), 4, 4, 5);
    float const tenth = 0.1f;  // equal means are preserved for any counts
    CHECK(merge(moments_of({tenth, tenth, tenth}), moments_of({tenth})).mean == moments_of({tenth}).mean);
}

TEST_CASE("many moments merge at once") {
    using Merged = fusekit::detail::MergedMoments<float>;
    Merged merged(moments_of({1, 3})), others(moments_of({1, 3}));
    merged.add(moments_of({1, 3}));
    check(merged.total(), 2, 2, 1);
    merged.add(moments_of({5, 7}));
    merged.add(Moments{});
    others.add(moments_of({4, 4, 4, 4}));
    check(merge(merged, others).total(), 8, 4, 2.5f);
    check(merge(others, merged).total(), 8, 4, 2.5f);
    check(merge(others, Merged(moments_of({1, 3}))).total(), 4, 4, 0);
    merged.add(moments_of({NAN}));
    CHECK((std::isnan(merged.total().true_mean()) && std::isnan(merged.total().variance())));
    float const tenth = 0.1f;
    Merged same(moments_of({tenth, tenth, tenth}));
    for (int i = 0; i < 5; ++i) same.add(moments_of({tenth}));
    CHECK((same.total().mean == moments_of({tenth}).mean && same.total().deviations == 0));
}

TEST_CASE("moments of equal count combine by sums") {
    Moments of[2] = {moments_of({1, 3}), moments_of({2, 2})};
    Moments const other[2] = {moments_of({5, 7}), moments_of({6, 10})};
    // Two participants. Round 1 sums counts and weighted means; round 2 sums deviations from the common mean.
    int round = 0;
    Moments::combine(of, [&](auto& values) {
        if (round++ == 0) {
            for (int i = 0; i < 2; ++i) values[i] += other[i].count * Moments::unit * other[i].mean;
            if constexpr (sizeof values == 3 * sizeof(float)) values[2] += other[0].count;
        } else {
            float const means[2] = {4 * Moments::unit, 5 * Moments::unit};
            for (int i = 0; i < 2; ++i) {
                float const apart = other[i].mean - means[i];
                values[i] += other[i].deviations + other[i].count * apart * apart;
            }
        }
    });
    CHECK(round == 2);
    check(of[0], 4, 4, 5);
    check(of[1], 4, 5, 11);
}

TEST_CASE("squares of large values overflow only where the variance does") {
    check(moments_of({-0x1p63f, 0x1p63f, -0x1p63f, 0x1p63f}), 4, 0, 0x1p126f);
    CHECK(std::isinf(moments_of({-0x1p65f, 0x1p65f}).variance()));
    CHECK(std::isnan(moments_of({1, INFINITY}).variance()));
    CHECK(std::isnan(moments_of({1, NAN}).true_mean()));
}
