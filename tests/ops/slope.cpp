// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>

#include "fusekit/fusekit.hpp"
#include "support/catalogue.hpp"
#include "support/effort.hpp"
#include "support/finite_differences.hpp"
#include "support/floats.hpp"
#include "support/mode_arguments.hpp"

using namespace test;
namespace fk = fusekit;

namespace {

/// Error bound of a slope. `ulps`: one rounding per operation, relative to the magnitude of the sum's terms; `per_x`
/// times |x|: ulps from the rounded argument of exp; `tail`, for x < -1: the relative error of math::normal_cdf and of
/// the exp of a rounded polynomial; `absolute`: a few of the smallest float (times 1 + |x gate'| / gate of a gated
/// mode, 104 or 280 if its exp is subnormal), the remainder of a cancelling argument, or the smallest normal_cdf times
/// 40.
template <class Bound>
double allowed(Bound const& bound, double x, double magnitude) {
    return (bound.ulps + bound.per_x * std::fmin(std::fabs(x), largest)) * 0x1p-23 * magnitude +
           (x < -1 ? bound.tail * magnitude : 0) + bound.absolute;
}

/// y = x * gate has the slope gate + x * gate', which cancels near its zero; other slopes are one product.
double magnitude(oracle::Mode const& mode, double x, double slope) {
    if (x == 0 || !std::isfinite(x) || !mode.kind().gated) return std::fabs(slope);
    double const gate = mode(x) / x;
    return std::fabs(gate) + std::fabs(slope - gate);
}

/// Every 20011th float, and multiples of 2^-9 in [-12, 12], except within a margin of a kink.
template <class Mode>
void check(char const* name, catalogue::SlopeBound const& bound) {
    auto const args = catalogue::Line<Mode>::args(bound.args);
    using Op = fk::Activation<Mode>;
    static_assert(fk::Differentiable<Op> && fk::Differentiable<Op, Vector>);
    oracle::Mode const exact = oracle_of<Mode>(name, args);
    double worst = 0;  // relative to the bound
    float worst_at = 0;
    std::uint64_t wrong = 0, wrong_vector = 0;
    auto const compare = [&](float x, float got, std::uint64_t& count) {
        double const at = x, want = exact.slope(at), size = magnitude(exact, at, want);
        if (bound.margin > 0 && exact.slope(at - bound.margin) != exact.slope(at + bound.margin)) return;
        double error = std::fabs(got - want) / allowed(bound, at, size);
        if (got == want || (std::isnan(want) && std::isnan(got))) error = 0;
        else if (std::fabs(want) > largest) error = std::fabs(got) < largest ? infinity : 0;
        count += !(error <= 1);
        if (!(error <= worst)) worst = error, worst_at = x;
    };
    auto const all = [&](Vector x) {
        Vector const y = Op::slope(x, args);
        for (int i = 0; i < lanes; ++i) {
            compare(x[i], y[i], wrong_vector);
            compare(x[i], Op::slope(static_cast<float>(x[i]), args), wrong);
        }
    };
    sweep_floats(20011 * one_in, 0x1p-9f, all);
    std::printf("slope of %-12s worst error is %.3f of what is allowed, at %a\n", name, worst, worst_at);
    INFO(name << ": worst at " << worst_at << ", " << Op::slope(worst_at, args) << " for "
              << exact.slope(double{worst_at}));
    CHECK(wrong == 0);
    CHECK(wrong_vector == 0);
    CHECK(std::isnan(Op::slope(not_a_number, args)));
}

/// Operators without a slope, or with one that does not match apply.
struct NoSlope {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    static float apply(float x, Args const&) { return x; }
};
struct SlopeOfAnotherForm : NoSlope {
    static float slope(float, fk::OutputCoord, Args const&) { return 1; }
};
struct SlopeOfAnotherType : NoSlope {
    static double slope(float, Args const&) { return 1; }
};
struct UserSlope : NoSlope {
    static float slope(float, Args const&) { return 1; }
};
struct ModeWithoutSlope {
    struct Args {};
    template <class V>
    static V apply(V x, Args const&) {
        return x;
    }
};
static_assert(fk::Differentiable<UserSlope> && !fk::Differentiable<UserSlope, Vector>);
static_assert(fk::EpilogueOp<NoSlope> && !fk::Differentiable<NoSlope> && !fk::Differentiable<SlopeOfAnotherForm>);
static_assert(!fk::Differentiable<SlopeOfAnotherType> && !fk::Differentiable<fk::Activation<ModeWithoutSlope>>);
static_assert(!fk::Differentiable<fk::Conv<fk::dynamic>> && !fk::Differentiable<int>);
static_assert(fk::Differentiable<fk::Bias, Vector> && fk::Differentiable<fk::Residual, Vector>);
static_assert(fk::Differentiable<fk::Scale, Vector> && fk::Differentiable<fk::BatchNormInference<fk::Spatial>, Vector>);
static_assert(fk::Differentiable<fk::BatchNormInference<fk::PerActivation>>);

static_assert(fk::Bias::slope(3.0f, {.bias = 7}) == 1 && fk::Scale::slope(3.0f, {.factor = 0.25f}) == 0.25f);
static_assert(fk::BatchNormInference<fk::Spatial>::slope(3.0f, {.mean = 1, .scale = 0.5f, .shift = 2}) == 0.5f);
static_assert(fk::BatchNormInference<fk::PerActivation>::slope(3.0f, {.mean = 1, .scale = 0.5f, .shift = 2}) == 0.5f);

template <class Mode>
constexpr float at(float x, typename Mode::Args const& args = {}) {
    return fk::Activation<Mode>::slope(x, args);
}

/// Slopes at kinks, in constant expressions.
static_assert(at<fk::Passthru>(0) == 1 && at<fk::Relu>(0) == 0 && at<fk::Relu>(0x1p-149f) == 1);
static_assert(at<fk::Abs>(0) == 0 && at<fk::Abs>(-0x1p-149f) == -1 && at<fk::Abs>(0x1p-149f) == 1);
static_assert(at<fk::ClippedRelu>(0) == 0 && at<fk::ClippedRelu>(6) == 1 && at<fk::ClippedRelu>(6.000001f) == 0);
static_assert(at<fk::LeakyRelu>(0, {.alpha = 0.25f}) == 0.25f && at<fk::LeakyRelu>(1, {.alpha = 0.25f}) == 1);
static_assert(at<fk::Elu>(0, {.alpha = 0.5f}) == 0.5f && at<fk::Elu>(0x1p-149f, {.alpha = 0.5f}) == 1);
static_assert(at<fk::Clamp>(-2, {.alpha = -2, .beta = 3}) == 0 && at<fk::Clamp>(3, {.alpha = -2, .beta = 3}) == 1);
static_assert(at<fk::Clamp>(-1, {.alpha = -2, .beta = 3}) == 1 && at<fk::Clamp>(4, {.alpha = -2, .beta = 3}) == 0);
static_assert(at<fk::HardSwish>(-3) == 0 && at<fk::HardSwish>(3) == 1 && at<fk::HardSwish>(0) == 0.5f);
static_assert(at<fk::HardSwish>(-1.5f) == 0 && at<fk::HardSwish>(1.5f) == 1);
static_assert(at<fk::HardSigmoid>(-2, {.alpha = 0.25f, .beta = 0.5f}) == 0);
static_assert(at<fk::HardSigmoid>(2, {.alpha = 0.25f, .beta = 0.5f}) == 0);
static_assert(at<fk::HardSigmoid>(1, {.alpha = 0.25f, .beta = 0.5f}) == 0.25f);

/// Points at which a smooth mode's slope is a float.
static_assert(at<fk::Logistic>(0) == 0.25f && at<fk::Tanh>(0, {.alpha = 2, .beta = 3}) == 6);
static_assert(at<fk::SoftRelu>(0) == 0.5f && at<fk::Softsign>(0) == 1 && at<fk::Softsign>(-3) == 0.0625f);
static_assert(at<fk::Gelu>(0) == 0.5f && at<fk::GeluTanh>(0) == 0.5f && at<fk::Silu>(0) == 0.5f);

}  // namespace

TEST_CASE("every activation's slope is its derivative, for every float, in scalars and in vectors") {
    catalogue::for_each_activation([]<class Mode>(catalogue::Line<Mode> const& line) {
        for (auto const& bound : line.facts().slopes)
            if (bound.ulps >= 0) check<Mode>(line.name, bound);
    });
}

TEST_CASE("the oracle's slopes agree with finite differences of its equations") {
    catalogue::for_each_activation([](auto const& line) {
        auto const& [alpha, beta, gamma, kinks] = line.facts().differences;
        oracle::Mode const mode{line.name, alpha, beta, gamma};
        long double worst = 0, worst_at = 0;
        int points = 0;
        for (long double x = -9.97L; x < 10; x += 0.0371L) {
            long double const h = 1.0L / 16;
            if (std::fabs(x) < 2 * h || std::fabs(x - kinks[0]) < 2 * h || std::fabs(x - kinks[1]) < 2 * h) continue;
            // remainder: h^8 / 4^6 = 6e-14 times a ninth Taylor coefficient, below 10 for these modes; and rounding,
            // 2^-63 of |f| < 30 over h / 8
            long double const error = std::fabs(derivative(mode, x, h).value - mode.slope(x));
            if (error > worst) worst = error, worst_at = x;
            ++points;
        }
        std::printf("%-12s differences are %.3Lg from the slope at most\n", mode.name.c_str(), worst);
        INFO(mode.name << " at " << static_cast<double>(worst_at));
        CHECK(points > 400);
        CHECK(worst < 1e-12L);
    });
}

TEST_CASE("a slope has its limit at infinity, and no NaN for any number") {
    CHECK(at<fk::Logistic>(infinity) == 0);
    CHECK(at<fk::Logistic>(-infinity) == 0);
    CHECK(at<fk::Tanh>(-infinity) == 0);
    CHECK(at<fk::SoftRelu>(infinity) == 1);
    CHECK(at<fk::SoftRelu>(-infinity) == 0);
    CHECK(at<fk::Softsign>(largest) == 0);
    CHECK(at<fk::Softsign>(infinity) == 0);
    CHECK(at<fk::Elu>(-infinity) == 0);
    CHECK(at<fk::Power>(infinity, {.alpha = 0, .beta = 1, .gamma = 2}) == infinity);
    CHECK(at<fk::Power>(infinity, {.alpha = 0, .beta = 1, .gamma = 0.5f}) == 0);
    CHECK(std::isnan(at<fk::Power>(not_a_number, {.alpha = 0, .beta = 1, .gamma = 1})));
    for (float const x : {infinity, largest, 1e20f, 1e4f}) {
        CHECK(at<fk::Gelu>(x) == 1);
        CHECK(at<fk::GeluTanh>(x) == 1);
        CHECK(at<fk::Silu>(x) == 1);
        CHECK(at<fk::Mish>(x) == 1);
        CHECK(at<fk::HardSwish>(x) == 1);
        CHECK(std::fabs(at<fk::Gelu>(-x)) < 1e-16f);
        CHECK(at<fk::GeluTanh>(-x) == 0);
        CHECK(at<fk::Silu>(-x) == 0);
        CHECK(at<fk::Mish>(-x) == 0);
        CHECK(at<fk::HardSwish>(-x) == 0);
    }
}
