// SPDX-License-Identifier: MIT
//
// Elementary functions, activations, slopes and conversions, compiled with fast math: all within twice their stated
// errors. Arguments are finite and normal, because fast math assumes finite numbers and may flush subnormals. The
// oracle is compiled without fast math.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "fusekit/math.hpp"
#include "fusekit/tensor/dtype.hpp"
#include "support/catalogue.hpp"
#include "support/mode_arguments.hpp"

namespace fk = fusekit;
namespace math = fusekit::math;

namespace {

int failures = 0;

constexpr float smallest_normal = std::numeric_limits<float>::min(), largest = std::numeric_limits<float>::max();
using Vector [[gnu::vector_size(fusekit::config::vector_bytes)]] = float;
constexpr int lanes = sizeof(Vector) / sizeof(float);

double ulp(double exact) {
    int const exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
    return std::ldexp(1.0, exponent - 23);
}

/// Calls f(x) for 0, for every 100003rd normal float of [low, high], and for multiples of 2^-8 from -12 to 12.
template <class F>
void sweep(float low, float high, F const& f) {
    auto const call = [&](float x) {
        if (x >= low && x <= high) f(x);
    };
    for (std::uint64_t bits = 0x00800000; bits < 0x7f800000; bits += 100003) {
        auto const x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        call(x), call(-x);
    }
    for (int i = -12 * 256; i <= 12 * 256; ++i) call(static_cast<float>(i) / 256);
}

/// Compares f(float) and f(Vector) with exact(double), within allowed(x, exact) and 2^-118: an intermediate result
/// below 2^-126 may be flushed, and is multiplied by at most 240 afterwards (gelutanh's slope). Skips results above the
/// largest float: fast math does not handle infinity.
void check(char const* kind, char const* name, auto f, auto exact, auto allowed, float low = -largest,
           float high = largest) {
    double worst = 0;
    float worst_at = 0, worst_value = 0;
    sweep(low, high, [&](float x) {
        double const want = exact(static_cast<double>(x));
        if (!(std::fabs(want) < static_cast<double>(largest))) return;
        float const scalar = f(x), vector = f(Vector{} + x)[lanes - 1];
        for (float const got : {scalar, vector}) {
            double const error = std::fabs(got - want) / (allowed(static_cast<double>(x), want) + 0x1p-118);
            if (error > worst) worst = error, worst_at = x, worst_value = got;
        }
    });
    bool const right = worst <= 1;
    if (!right)
        std::printf("%s %s: %g at %g for %g, %.3g times what is allowed\n", kind, name,
                    static_cast<double>(worst_value), static_cast<double>(worst_at),
                    exact(static_cast<double>(worst_at)), worst);
    failures += !right;
}

/// An elementary function: within twice its stated ulps.
void check_function(char const* name, double ulps, auto f, auto exact, float low = -largest, float high = largest) {
    check("math::", name, f, exact, [ulps](double, double want) { return 2 * ulps * ulp(want); }, low, high);
}

void check_functions() {
    check_function("exp", 1, [](auto x) { return math::exp(x); }, [](double x) { return std::exp(x); });
    check_function("expm1", 2, [](auto x) { return math::expm1(x); }, [](double x) { return std::expm1(x); });
    check_function("log1p", 2, [](auto x) { return math::log1p(x); }, [](double x) { return std::log1p(x); }, 0, 1);
    check_function("tanh", 3, [](auto x) { return math::tanh(x); }, [](double x) { return std::tanh(x); });
    check_function(
        "logistic", 3, [](auto x) { return math::logistic(x); }, [](double x) { return 1 / (1 + std::exp(-x)); });
    check_function(
        "softplus", 3, [](auto x) { return math::softplus(x); },
        [](double x) { return x > 40 ? x : std::log1p(std::exp(x)); });
    check_function("sqrt", 1, [](auto x) { return math::sqrt(x); }, [](double x) { return std::sqrt(x); }, 0);
    check_function(
        "log", 1, [](auto x) { return math::log(x); }, [](double x) { return std::log(x); }, smallest_normal);
    check_function("sin", 2, [](auto x) { return math::sin(x); }, [](double x) { return std::sin(x); }, -1e5f, 1e5f);
    check_function("cos", 2, [](auto x) { return math::cos(x); }, [](double x) { return std::cos(x); }, -1e5f, 1e5f);
    check_function("erf", 3, [](auto x) { return math::erf(x); }, [](double x) { return std::erf(x); });
    auto const normal = [](double x) { return std::erfc(-x * 0.70710678118654752) / 2; };
    check_function("normal_cdf", 8, [](auto x) { return math::normal_cdf(x); }, normal, -1);
    auto const root = [](auto x) { return math::over_sqrt(decltype(x){} + 1.0f, x); };
    check_function("over_sqrt", 2, root, [](double x) { return 1 / std::sqrt(x); }, smallest_normal);
    for (float const exponent : {2.0f, 0.5f, -1.5f, 3.7f}) {
        auto const f = [exponent](auto x) { return math::pow(x, exponent); };
        check_function("pow", 1, f, [exponent](double x) { return std::pow(x, static_cast<double>(exponent)); }, 1e-6f);
    }
    // Most digits cancel next to multiples of pi / 2.
    for (int n = 1; n <= 63661; n += 7) {
        auto const x = static_cast<float>(n * 1.57079632679489662);
        double const sine = std::sin(double{x}), cosine = std::cos(double{x});
        failures += !(std::fabs(math::sin(x) - sine) <= 4 * ulp(sine) &&
                      std::fabs(math::cos(Vector{} + x)[0] - cosine) <= 4 * ulp(cosine));
    }
}

/// Within twice the bounds of tests/ops/activation.cpp and slope.cpp; exact modes stay exact.
void check_activations() {
    using namespace test;
    catalogue::for_each_activation([]<class Mode>(catalogue::Line<Mode> const& line) {
        for (auto const& bound : line.facts().values) {
            if (bound.ulps < 0) continue;
            auto const args = line.args(bound.args);
            oracle::Mode const exact = oracle_of<Mode>(line.name, args);
            check(
                "value of", line.name, [&](auto x) { return fk::Activation<Mode>::apply(x, args); }, exact,
                [&](double x, double want) {
                    return 2 * (bound.ulps * ulp(want) + bound.absolute + (x < -1 ? bound.tail * std::fabs(want) : 0));
                });
        }
        for (auto const& bound : line.facts().slopes) {
            if (bound.ulps < 0) continue;
            auto const args = line.args(bound.args);
            oracle::Mode const exact = oracle_of<Mode>(line.name, args);
            auto const slope = [&](double x) { return exact.slope(x); };
            check(
                "slope of", line.name, [&](auto x) { return fk::Activation<Mode>::slope(x, args); }, slope,
                [&](double x, double want) {
                    if (bound.margin > 0 && slope(x - bound.margin) != slope(x + bound.margin)) return 1e300;
                    double const gate = x == 0 || !exact.kind().gated ? 0 : exact(x) / x,
                                 magnitude = std::fabs(gate) + std::fabs(want - gate);
                    return 2 * ((bound.ulps + bound.per_x * std::fabs(x)) * 0x1p-23 * magnitude +
                                (x < -1 ? bound.tail * magnitude : 0) + bound.absolute);
                });
        }
    });
}

/// Every number of T with its successor code, and the floats next to their midpoint: conversions are exact, and ties go
/// to the even code.
template <class T, class Code>
void check_conversion(char const* name, unsigned first, unsigned end) {
    int wrong = 0;
    auto const value = [](unsigned code) { return static_cast<float>(std::bit_cast<T>(static_cast<Code>(code))); };
    auto const code = [](float x) { return static_cast<unsigned>(std::bit_cast<Code>(T(x))); };
    for (unsigned low = first; low + 1 < end; ++low) {
        float const middle = value(low) + (value(low + 1) - value(low)) / 2;
        auto const bits = std::bit_cast<std::uint32_t>(middle);
        wrong += code(value(low)) != low || code(middle) != low + low % 2 ||
                 code(std::bit_cast<float>(bits - 1)) != low || code(std::bit_cast<float>(bits + 1)) != low + 1;
    }
    if (wrong) std::printf("%s: %d conversions differ\n", name, wrong);
    failures += wrong != 0;
}

void check_conversions() {
    check_conversion<fk::half, std::uint16_t>("half", 0, 0x7c00);
    check_conversion<fk::bfloat16, std::uint16_t>("bfloat16", 0x480, 0x7f80);
    check_conversion<fk::e4m3, std::uint8_t>("e4m3", 0, 0x7f);
    check_conversion<fk::e5m2, std::uint8_t>("e5m2", 0, 0x7c);
    check_conversion<fk::e4m3_fnuz, std::uint8_t>("e4m3_fnuz", 0, 0x80);
    check_conversion<fk::e5m2_fnuz, std::uint8_t>("e5m2_fnuz", 0, 0x80);
    check_conversion<fk::int8, std::int8_t>("int8", 0, 0x80);
}

}  // namespace

int main() {
    check_functions();
    check_activations();
    check_conversions();
    std::printf("%d failures\n", failures);
    return failures != 0;
}
