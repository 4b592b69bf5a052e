// SPDX-License-Identifier: MIT
#include "fusekit/math.hpp"

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>
#include <limits>

#include "support/effort.hpp"
#include "support/floats.hpp"

using namespace test;
namespace math = fusekit::math;

namespace {

/// Distance in ulps of the exact result; results beyond the largest float count as infinity, to which they may round.
double ulps(float got, double exact) {
    if (std::isnan(exact)) return std::isnan(got) ? 0 : INFINITY;
    if (std::isinf(exact)) return got == exact ? 0 : INFINITY;
    if (std::fabs(exact) > static_cast<double>(largest) * (1 + 0x1p-25))
        return std::isinf(got) || std::fabs(got) == largest ? 0 : INFINITY;
    if (!std::isfinite(got)) return INFINITY;
    int const exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
    return std::fabs(got - exact) / std::ldexp(1.0, exponent - 23);
}

struct Worst {
    double error = 0;
    float at = 0;
};

/// Largest error of f over every 997th float (support/effort.hpp) from low to high, with type V.
template <class V>
Worst worst(auto f, auto exact, float low, float high) {
    constexpr int lanes = sizeof(V) / sizeof(float);
    Worst worst;
    float in[lanes];
    int count = 0;
    auto const flush = [&] {
        V x;
        if constexpr (lanes == 1) x = in[0];
        else x = std::bit_cast<V>(in);
        V const y = f(x);
        for (int i = 0; i < count; ++i) {
            float got;
            if constexpr (lanes == 1) got = y;
            else got = y[i];
            double const error = ulps(got, exact(static_cast<double>(in[i])));
            if (!(error <= worst.error)) worst = {error, in[i]};
        }
        count = 0;
    };
    for (float& x : in) x = low;
    for (std::uint64_t bits = 0; bits < 0x100000000u; bits += 997 * one_in) {
        float const x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        if (!(x >= low && x <= high)) continue;
        in[count++] = x;
        if (count == lanes) flush();
    }
    for (float const x : {low, high, 0.0f, 1.0f, -1.0f, 0.5f, largest, -largest})
        if (x >= low && x <= high) {
            in[count++] = x;
            if (count == lanes) flush();
        }
    if (count) flush();
    return worst;
}

/// Scalars, native vectors and vectors of four floats are all within `claim` ulps.
void check(char const* name, double claim, auto f, auto exact, float low = -largest, float high = largest) {
    Worst const scalar = worst<float>(f, exact, low, high), native = worst<Vector>(f, exact, low, high);
    Worst const other = worst<VectorOf<16>::Type>(f, exact, low, high);
    std::printf("%-10s %.3f ulps at %a as float, %.3f as a vector; claimed %g\n", name, scalar.error, scalar.at,
                native.error, claim);
    INFO(name << ": worst of float at " << scalar.at << ", of a vector at " << native.at);
    CHECK(scalar.error <= claim);
    CHECK(native.error <= claim);
    CHECK(other.error <= claim);
}

double normal(double x) { return std::erfc(-x * M_SQRT1_2) / 2; }

static_assert(math::max(3.0f, 5.0f) == 5 && math::max(7.0f, 5.0f) == 7 && math::min(3.0f, 5.0f) == 3 &&
              math::min(7.0f, 5.0f) == 5);
static_assert(math::abs(-2.5f) == 2.5f && math::abs(2.5f) == 2.5f && math::select(true, 1.0f, 2.0f) == 1);
static_assert(math::exp(0.0f) == 1 && math::expm1(0.0f) == 0 && math::log1p(0.0f) == 0 && math::tanh(0.0f) == 0);
static_assert(math::logistic(0.0f) == 0.5f && math::normal_cdf(0.0f) == 0.5f);
static_assert(math::log(1.0f) == 0 && math::sin(0.0f) == 0 && math::cos(0.0f) == 1 && math::erf(0.0f) == 0 &&
              math::erf(9.0f) == 1);
static_assert(math::log(0.0f) == -infinity && math::log(infinity) == infinity && math::log(-1.0f) != math::log(-1.0f));
static_assert(math::sqrt(-1.0f) != math::sqrt(-1.0f) && math::sqrt(infinity) == infinity &&
              math::sqrt(0x1p-148f) == 0x1p-74f);
static_assert(math::select(true, 2.5, 1.0f) == 2.5 && math::select(false, 2.5, 0.5f) == 0.5 &&
              math::select(true, 1, 0.5f) == 1);
static_assert(math::sqrt(0.0f) == 0 && math::sqrt(4.0f) == 2 && math::sqrt(9.0f) == 3 && math::sqrt(0.25f) == 0.5f);

}  // namespace

TEST_CASE("elementary functions keep the errors that they state") {
    check("exp", 1, [](auto x) { return math::exp(x); }, [](double x) { return std::exp(x); });
    check("expm1", 2, [](auto x) { return math::expm1(x); }, [](double x) { return std::expm1(x); });
    check("log1p", 2, [](auto x) { return math::log1p(x); }, [](double x) { return std::log1p(x); }, 0, 1);
    check("tanh", 3, [](auto x) { return math::tanh(x); }, [](double x) { return std::tanh(x); });
    check("logistic", 3, [](auto x) { return math::logistic(x); }, [](double x) { return 1 / (1 + std::exp(-x)); });
    check(
        "softplus", 3, [](auto x) { return math::softplus(x); },
        [](double x) { return x > 40 ? x : std::log1p(std::exp(x)); });
    check("sqrt", 1, [](auto x) { return math::sqrt(x); }, [](double x) { return std::sqrt(x); }, -largest);
    check("log", 1, [](auto x) { return math::log(x); }, [](double x) { return std::log(x); });
    check("sin", 2, [](auto x) { return math::sin(x); }, [](double x) { return std::sin(x); }, -1e5f, 1e5f);
    check("cos", 2, [](auto x) { return math::cos(x); }, [](double x) { return std::cos(x); }, -1e5f, 1e5f);
    check("erf", 3, [](auto x) { return math::erf(x); }, [](double x) { return std::erf(x); });
    auto const root = [](auto x) { return math::over_sqrt(decltype(x){} + 1.0f, x); };
    check("over_sqrt", 2, root, [](double x) { return x == 0 ? INFINITY : 1 / std::sqrt(x); });
    for (float const exponent : {2.0f, 0.5f, -1.5f, 3.7f}) {
        auto const f = [exponent](auto x) { return math::pow(x, exponent); };
        check("pow", 1, f, [exponent](double x) { return std::pow(x, exponent); }, 1e-6f);
    }
}

TEST_CASE("the normal distribution function keeps its lower tail") {
    check("normal_cdf", 8, [](auto x) { return math::normal_cdf(x); }, normal, -1, largest);
    double worst = 0;
    for (float x = -8.4f; x < -1; x += 1e-5f) worst = std::max(worst, std::fabs(math::normal_cdf(x) / normal(x) - 1));
    std::printf("normal_cdf %.3g of itself from -8.4 to -1\n", worst);
    CHECK(worst <= 1.1e-5);
    for (float x = -15; x < -8.4f; x += 0x1p-10f)
        CHECK((math::normal_cdf(x) >= 0 && math::normal_cdf(x) <= 1.01 * normal(x) + 1e-45));
    for (float const x : {-15.0f, -16.0f, -100.0f, -1e10f, -largest, -infinity}) CHECK(math::normal_cdf(x) == 0);
}

TEST_CASE("functions of double have relative errors below 1e-15, the normal distribution's tail x^2 ulps") {
    static_assert(math::abs(-2.5) == 2.5);
    double worst = 0, worst_tail = 0;
    auto const compare = [&](double got, long double exact) {
        worst = std::max(worst, static_cast<double>(std::fabs(got / exact - 1)));
    };
    for (long double x = -37; x < 700; x += 0.173L) {
        double const v = static_cast<double>(x);
        long double const exact = v;
        compare(math::exp(v), std::exp(exact));
        compare(math::expm1(v), std::expm1(exact));
        compare(math::tanh(v), std::tanh(exact));
        compare(math::log1p(std::fabs(v)), std::log1p(std::fabs(exact)));
        compare(math::sqrt(std::fabs(v)), std::sqrt(std::fabs(exact)));
        compare(math::log(std::fabs(v)), std::log(std::fabs(exact)));
        compare(math::sin(v), std::sin(exact));
        compare(math::cos(v), std::cos(exact));
        compare(math::erf(v), std::erf(exact));
        compare(math::pow(std::fabs(v), 1.7), std::pow(std::fabs(exact), static_cast<long double>(1.7)));
        long double const cdf = std::erfc(-exact / std::sqrt(2.0L)) / 2, off = std::fabs(math::normal_cdf(v) / cdf - 1);
        worst_tail = std::max(worst_tail, static_cast<double>(off / (2 + std::fmin(exact * exact, 37 * 37))));
    }
    CHECK(worst <= 1e-15);
    CHECK(worst_tail <= 0x1p-52);
}

TEST_CASE("sqrt is exact for perfect squares") {
    int wrong = 0;
    for (int root = 1; root < 4096; ++root)
        for (float const scale : {1.0f, 0x1p-20f, 0x1p40f}) {
            float const exact = static_cast<float>(root) * scale;
            Vector const x = Vector{} + exact * exact;
            wrong += math::sqrt(exact * exact) != exact || math::sqrt(x)[0] != exact;
        }
    CHECK(wrong == 0);
}

TEST_CASE("sin and cos keep their errors next to multiples of pi / 2, where most digits cancel") {
    double worst = 0;
    for (int n = 1; n <= 63661; ++n) {
        float x = static_cast<float>(n * (M_PI / 2));
        for (int i = 0; i < 2; ++i, x = std::nextafter(x, 0.0f)) {
            Vector const v = Vector{} + x;
            worst =
                std::max({worst, ulps(math::sin(x), std::sin(double{x})), ulps(math::cos(v)[0], std::cos(double{x})),
                          ulps(math::sin(-v)[0], -std::sin(double{x})), ulps(math::cos(-x), std::cos(double{x}))});
        }
    }
    std::printf("sin, cos   %.3f ulps next to multiples of pi / 2\n", worst);
    CHECK(worst <= 2);
}

TEST_CASE("select accepts vectors, scalars, or both") {
    Vector x{};
    for (int i = 0; i < lanes; ++i) x[i] = static_cast<float>(i) - 1;
    float const number = -0.0f;
    auto const check = [&](Vector got, auto expected) {
        for (int i = 0; i < lanes; ++i) {
            float const want = expected(x[i]);
            CHECK(std::bit_cast<std::int32_t>(float{got[i]}) == std::bit_cast<std::int32_t>(want));
        }
    };
    check(math::select(x > 0.0f, x, Vector{} + 2.0f), [](float v) { return v > 0 ? v : 2.0f; });
    check(math::select(x > 0, x, 0), [](float v) { return v > 0 ? v : 0.0f; });
    check(math::select(x > 0, number, x), [](float v) { return v > 0 ? -0.0f : v; });
    check(math::select(x > 0, 1.0f, number), [](float v) { return v > 0 ? 1.0f : -0.0f; });
}

TEST_CASE("roots of negative numbers are NaN in every type") {
    Vector const minus_one = Vector{} - 1.0f, one = Vector{} + 1.0f;
    for (int i = 0; i < lanes; ++i) {
        CHECK(std::isnan(math::sqrt(minus_one)[i]));
        CHECK(std::isnan(math::over_sqrt(one, 0.5f * minus_one)[i]));
    }
    CHECK(std::isnan(math::sqrt(-1.0f)));
    CHECK(std::isnan(math::over_sqrt(1.0f, -0.5f)));
    CHECK(std::isnan(math::sqrt(-1.0)));
    CHECK(std::isnan(math::over_sqrt(1.0, -0.5)));
    CHECK(math::over_sqrt(1.0f, infinity) == 0);
    CHECK(math::over_sqrt(1.0, static_cast<double>(infinity)) == 0);
}

TEST_CASE("functions of NaN are NaN, of infinity their limit") {
    auto const both = [](auto f, float x, float expected) {
        float const scalar = f(x), vector = f(Vector{} + x)[0];
        INFO("f(" << x << ") is " << scalar << " as float, " << vector << " as a vector, expected " << expected);
        CHECK((std::isnan(expected) ? std::isnan(scalar) : scalar == expected));
        CHECK((std::isnan(expected) ? std::isnan(vector) : vector == expected));
    };
    auto const exp = [](auto x) { return math::exp(x); };
    auto const expm1 = [](auto x) { return math::expm1(x); };
    auto const log1p = [](auto x) { return math::log1p(x); };
    auto const tanh = [](auto x) { return math::tanh(x); };
    auto const logistic = [](auto x) { return math::logistic(x); };
    auto const softplus = [](auto x) { return math::softplus(x); };
    auto const normal_cdf = [](auto x) { return math::normal_cdf(x); };
    auto const sqrt = [](auto x) { return math::sqrt(x); };
    auto const abs = [](auto x) { return math::abs(x); };
    auto const max = [](auto x) { return math::max(x, 0.0f); };
    auto const min = [](auto x) { return math::min(x, 0.0f); };
    auto const pow = [](auto x) { return math::pow(x, 2.5f); };
    both(exp, not_a_number, not_a_number), both(expm1, not_a_number, not_a_number),
        both(log1p, not_a_number, not_a_number), both(tanh, not_a_number, not_a_number),
        both(logistic, not_a_number, not_a_number);
    both(softplus, not_a_number, not_a_number), both(normal_cdf, not_a_number, not_a_number),
        both(sqrt, not_a_number, not_a_number), both(abs, not_a_number, not_a_number),
        both(max, not_a_number, not_a_number);
    auto const log = [](auto x) { return math::log(x); };
    auto const sin = [](auto x) { return math::sin(x); };
    auto const cos = [](auto x) { return math::cos(x); };
    auto const erf = [](auto x) { return math::erf(x); };
    both(log, not_a_number, not_a_number), both(sin, not_a_number, not_a_number), both(cos, not_a_number, not_a_number),
        both(erf, not_a_number, not_a_number);
    both(log, infinity, infinity), both(log, -infinity, not_a_number), both(log, 0, -infinity),
        both(log, -0.0f, -infinity);
    both(erf, infinity, 1), both(erf, -infinity, -1), both(erf, largest, 1), both(erf, -largest, -1);
    for (float const far : {std::nextafter(1e5f, infinity), largest, infinity})
        both(sin, far, not_a_number), both(cos, -far, not_a_number);
    both(sqrt, infinity, infinity), both(sqrt, -infinity, not_a_number), both(sqrt, -1, not_a_number),
        both(sqrt, -0x1p-149f, not_a_number);
    both(min, not_a_number, not_a_number), both(pow, not_a_number, not_a_number);
    both(exp, infinity, infinity), both(exp, -infinity, 0), both(exp, 200, infinity), both(exp, -200, 0);
    both(expm1, infinity, infinity), both(expm1, -infinity, -1);
    both(tanh, infinity, 1), both(tanh, -infinity, -1), both(tanh, largest, 1), both(tanh, -largest, -1);
    both(logistic, infinity, 1), both(logistic, -infinity, 0), both(logistic, largest, 1), both(logistic, -largest, 0);
    both(softplus, infinity, infinity), both(softplus, -infinity, 0), both(softplus, largest, largest),
        both(softplus, -largest, 0);
    both(normal_cdf, infinity, 1), both(normal_cdf, largest, 1), both(normal_cdf, -infinity, 0);
    both(abs, -infinity, infinity), both(max, -infinity, 0), both(max, infinity, infinity), both(min, infinity, 0);
    both(pow, infinity, infinity), both(sqrt, 0, 0);
}
