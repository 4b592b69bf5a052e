// SPDX-License-Identifier: MIT
#include "fusekit/plan/reduction.hpp"

#include <catch2/catch_test_macros.hpp>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;

namespace {

using Spatial = fk::BatchNormTraining<fk::Spatial>;
using PerActivation = fk::BatchNormTraining<fk::PerActivation>;

static_assert(fk::detail::ReductionSteps<Spatial>::waits && fk::detail::ReductionSteps<Spatial>::has_totals);
static_assert(!fk::detail::ReductionSteps<Spatial>::per_pixel && fk::detail::ReductionSteps<PerActivation>::per_pixel);
static_assert(!fk::detail::ReductionSteps<Spatial>::has_operand);

struct FormerName {
    static constexpr bool per_place = true;
};
static_assert(fk::detail::totals_per_pixel<PerActivation>() && fk::detail::totals_per_pixel<FormerName>());
static_assert(!fk::detail::totals_per_pixel<Spatial>() && !fk::detail::totals_per_pixel<fk::Bias>());

}  // namespace

TEST_CASE("the steps of batch statistics agree with the definition") {
    using Steps = fk::detail::ReductionSteps<Spatial>;
    float scale[] = {9, 2}, shift[] = {9, 7}, saved[] = {0, 0}, inverse[] = {0, 0};
    fk::Layout<1> const two = fk::channels(2);
    Spatial::Args const args{.scale = fk::TensorView<float const, 1>(scale, two),
                             .shift = fk::TensorView<float const, 1>(shift, two),
                             .saved_mean = fk::TensorView<float, 1>(saved, two),
                             .saved_inverse_deviation = fk::TensorView<float, 1>(inverse, two),
                             .epsilon = 1.0f};
    fk::OutputCoord const at{0, 1, 0, 0};
    auto const state = Steps::States::prepare(at.k, Steps::state_args(args));
    auto const total_of = [&](float first, float second, float skipped) {
        Steps::Accumulator<float> accumulator{};
        accumulator.start(first);
        Steps::add(accumulator, first, 0.0f, at, state, args);
        Steps::add(accumulator, skipped, 0.0f, at, state, args, false);
        Steps::add(accumulator, second, 0.0f, at, state, args);
        return accumulator.total(2);
    };
    // 2, 10, 6 and 6 have the mean 6 and the variance 8.
    auto const total = merge(total_of(2, 10, 1000), total_of(6, 6, -1000));
    Steps::save(total, at, args);
    CHECK((saved[0] == 0 && saved[1] == 6));
    CHECK(inverse[1] == 1.0f / 3);
    auto const prepared = Steps::finish(total, 4, state, at, args);
    CHECK(Steps::apply(6.0f, 0.0f, at, state, prepared, args) == 7);
    CHECK(Steps::apply(12.0f, 0.0f, at, state, prepared, args) == 2.0f * (1.0f / 3) * 6 + 7);
}

TEST_CASE("per-activation statistics are finished with that activation's parameters") {
    using Steps = fk::detail::ReductionSteps<PerActivation>;
    float scale[] = {9, 2}, shift[] = {9, 7};
    fk::Layout<3> const map = fk::chw(1, 1, 2);
    PerActivation::Args const args{.scale = fk::TensorView<float const, 3>(scale, map),
                                   .shift = fk::TensorView<float const, 3>(shift, map),
                                   .epsilon = 1.0f};
    fk::OutputCoord const at{0, 0, 0, 1};
    PerActivation::Accumulator<float> accumulator{};
    accumulator.start(4);
    accumulator.add(4.0f);
    auto const total = accumulator.total(1);
    auto const once = Steps::finish(total, 1, Steps::prepare(at, args), at, args);
    auto const later = Steps::finish(total, 1, Steps::States::prepare(0, Steps::state_args(args)), at, args);
    for (auto const& prepared : {once, later})
        CHECK(Steps::apply(5.0f, 0.0f, at, 0, prepared, args) == 2 * (5 - 4) + 7);
}
