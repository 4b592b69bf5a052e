// SPDX-License-Identifier: MIT
#include "fusekit/plan/gradient.hpp"

#include <catch2/catch_test_macros.hpp>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;

namespace {

using Bias = fk::Bias;
using Norm = fk::BatchNormInference<fk::Spatial>;
using Relu = fk::Activation<fk::Relu>;
using Training = fk::BatchNormTraining<fk::Spatial>;

static_assert(fk::detail::values_needed<Relu>() == 0);
static_assert(fk::detail::values_needed<Bias, Relu>() == 1);
static_assert(fk::detail::values_needed<Bias, Relu, fk::Store>() == 1);
static_assert(fk::detail::values_needed<Bias, fk::Store, Relu>() == 2);

static_assert(fk::detail::Gradient<Relu>::sums == 0 && fk::detail::Gradient<Bias, Relu>::sums == 1 &&
              fk::detail::Gradient<Norm, Relu>::sums == 2);
static_assert(fk::detail::Gradient<fk::BatchNormInference<fk::PerActivation>>::per_pixel &&
              !fk::detail::Gradient<Norm>::per_pixel);

template <class... Ops>
using Steps = fk::detail::ReductionSteps<fk::detail::Gradient<Ops...>>;
static_assert(!Steps<Relu>::has_totals && !Steps<Relu>::waits && Steps<Relu>::has_operand);
static_assert(Steps<Bias, Relu>::has_totals && !Steps<Bias, Relu>::waits && Steps<Training, Relu>::waits);

}  // namespace

TEST_CASE("gradient totals combine pairwise and per column") {
    using Total = fk::detail::Gradient<Norm>::Total<float>;
    Total const both = merge(Total{{1, 2}}, Total{{10, 20}});
    CHECK((both.value[0] == 11 && both.value[1] == 22));
    Total totals[2] = {{{1, 2}}, {{3, 4}}};
    Total::combine(totals, [](float(&all)[4]) {
        for (float& value : all) value *= 10;
    });
    CHECK(
        (totals[0].value[0] == 10 && totals[0].value[1] == 20 && totals[1].value[0] == 30 && totals[1].value[1] == 40));
}

TEST_CASE("Backward multiplies dy by every slope and accumulates each operator's parameter gradients") {
    using Head = fk::detail::Gradient<Bias, fk::Scale, Relu>;
    using Of = Steps<Bias, fk::Scale, Relu>;
    float bias[] = {0, -5}, sum[] = {0, 0}, x[] = {0};
    Head::Args const args{{{{fk::TensorView<float const, 1>(bias, fk::channels(2))}}, {{3.0f}}, {{}}},
                          fk::TensorView<float const>(x, fk::nchw(1, 1, 1, 1)),
                          {{{fk::TensorView<float, 1>(sum, fk::channels(2))}}, {{}}, {{}}}};
    fk::OutputCoord const at{0, 1, 0, 0};
    auto const state = Of::prepare(at, args);
    auto const prepared = Of::finish(Of::Total<float>{}, 1, state, at, args);
    CHECK(Of::apply(2.0f, 7.0f, at, state, prepared, args) == 6);  // relu(3 (7 - 5)) has the slope 3
    CHECK(Of::apply(2.0f, 4.0f, at, state, prepared, args) == 0);
    Of::Total<float> total{};
    Of::add(total, 2.0f, 7.0f, at, state, args);
    Of::add(total, 5.0f, 8.0f, at, state, args);
    Of::add(total, 9.0f, 4.0f, at, state, args);         // slope 0
    Of::add(total, 9.0f, 8.0f, at, state, args, false);  // masked
    Of::save(total, at, args);
    CHECK((sum[0] == 0 && sum[1] == 3 * 2 + 3 * 5));
}

TEST_CASE("a gradient is named after its operators") {
    CHECK(fk::detail::Gradient<Bias, Relu>::name() == "Gradient<Bias, Activation<Relu>>");
}
