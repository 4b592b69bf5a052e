// SPDX-License-Identifier: MIT
#include "fusekit/ops/activation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>

#include "support/catalogue.hpp"
#include "support/effort.hpp"
#include "support/floats.hpp"
#include "support/mode_arguments.hpp"

using namespace test;
namespace fk = fusekit;

namespace {

double ulp(double exact) {
    int const exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
    return std::ldexp(1.0, exponent - 23);
}

template <class Bound>
double allowed(Bound const& bound, double x, double exact) {
    return bound.ulps * ulp(exact) + bound.absolute + (x < -1 ? bound.tail * std::fabs(exact) : 0);
}

/// Every 4999th float, as scalar and in vectors, and special values.
template <class Mode>
void check(char const* name, catalogue::ValueBound const& bound) {
    auto const args = catalogue::Line<Mode>::args(bound.args);
    using Op = fk::Activation<Mode>;
    static_assert(fk::Uniform<Op> && fk::Uniform<Op, Vector>);
    oracle::Mode const exact = oracle_of<Mode>(name, args);
    double worst = 0;  // relative to the bound
    float worst_at = 0;
    std::uint64_t wrong = 0, wrong_vector = 0;
    auto const compare = [&](float x, float got, std::uint64_t& count) {
        double const want = exact(static_cast<double>(x));
        double error;
        if (got == want) error = 0;
        else if (std::isnan(want)) error = std::isnan(got) ? 0 : infinity;
        else if (std::fabs(want) > largest)
            error = got == std::copysign(infinity, want) || std::fabs(got) == largest ? 0 : infinity;
        else error = std::fabs(got - want) / allowed(bound, x, want);
        count += !(error <= 1);
        if (!(error <= worst)) worst = error, worst_at = x;
    };
    auto const both = [&](Vector x) {
        Vector const y = Op::apply(x, args);
        for (int i = 0; i < lanes; ++i) {
            compare(x[i], y[i], wrong_vector);
            compare(x[i], Op::apply(static_cast<float>(x[i]), args), wrong);
        }
    };
    sweep_floats(4999 * one_in, 0x1p-11f, both);
    std::printf("%-12s worst error is %.3f of what is allowed, at %a\n", name, worst, worst_at);
    INFO(name << ": worst at " << worst_at << ", " << Op::apply(worst_at, args) << " for "
              << exact(static_cast<double>(worst_at)));
    CHECK(wrong == 0);
    CHECK(wrong_vector == 0);
    CHECK(std::isnan(Op::apply(not_a_number, args)));
}

}  // namespace

TEST_CASE("every activation is its equation, for every float, in scalars and in vectors") {
    catalogue::for_each_activation([]<class Mode>(catalogue::Line<Mode> const& line) {
        for (auto const& bound : line.facts().values)
            if (bound.ulps >= 0) check<Mode>(line.name, bound);
    });
}

TEST_CASE("Power with exponent 0 keeps NaN") {
    CHECK(std::isnan(fk::Power::apply(not_a_number, {.alpha = 1, .beta = 1, .gamma = 0})));
    CHECK(fk::Power::apply(3.0f, {.alpha = 1, .beta = 1, .gamma = 0}) == 1);
}

TEST_CASE("the defaults of an activation's arguments are those of its equation") {
    CHECK(fk::Tanh::Args{}.alpha == 1);
    CHECK(fk::ClippedRelu::apply(9.0f, {}) == 6);
    CHECK(fk::Clamp::apply(-1.0f, {}) == 0);
    CHECK(fk::Clamp::apply(9.0f, {}) == 6);
    CHECK(fk::Power::apply(3.0f, {}) == 3);
    CHECK(fk::LeakyRelu::apply(-100.0f, {}) == -1);
    CHECK(fk::HardSigmoid::apply(0.0f, {}) == 0.5f);
    CHECK(fk::HardSigmoid::apply(3.0f, {}) == 1);
}
