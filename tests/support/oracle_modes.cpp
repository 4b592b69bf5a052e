// SPDX-License-Identifier: MIT
#include "support/oracle_modes.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <tuple>

#include "support/activation_facts.hpp"

namespace test::oracle {

namespace modes {
namespace {

constexpr auto square(auto x) { return x * x; }
auto logistic(auto x) { return 1 / (1 + std::exp(-x)); }
auto logistic_slope(auto x) { return 1 / square(2 * std::cosh(x / 2)); }
auto softplus(auto x) { return x > 50 ? x : std::log1p(std::exp(x)); }
auto normal(auto x) { return std::erfc(-x / std::sqrt(decltype(x){2})) / 2; }
template <class Real>
Real gelutanh_argument(Real x) {
    return 2 * std::sqrt(2 / std::numbers::pi_v<Real>) * (x + static_cast<Real>(0.044715L) * x * x * x);
}
template <class Real>
Real gelutanh_rate(Real x) {
    return 2 * std::sqrt(2 / std::numbers::pi_v<Real>) * (1 + static_cast<Real>(3 * 0.044715L) * x * x);
}

using catalogue::Facts;

/// Name, kind and case arguments of a mode; its definition, value(x, mode) and slope(x, mode); and the error bounds
/// that tests apply to the library's.
template <class Value, class Slope>
struct Formula {
    char const* name;
    ModeKind kind;
    double arguments[3];
    Value value;
    Slope slope;
    Facts facts;
};
struct Arguments {
    double alpha = 0, beta = 0, gamma = 0;
};
template <class Value, class Slope>
constexpr Formula<Value, Slope> formula(char const* name, ModeKind kind, Arguments arguments, Value value, Slope slope,
                                        Facts facts) {
    return {name, kind, {arguments.alpha, arguments.beta, arguments.gamma}, value, slope, facts};
}

inline constexpr ModeKind exact{.exact = true}, rounded{}, gated{.gated = true},
    gated_with_tail{.gated = true, .tail = 2e-5};
using Given = Mode const&;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double tail = 2e-5;  // relative error of normal_cdf, and of the exp of a rounded polynomial

// Formulas are written without cancellation. Facts are values, slopes, doubles, limits, differences.
// clang-format off
inline constexpr auto formulas = std::tuple(
    formula("passthru", exact, {}, [](auto x, Given) { return x; }, [](auto, Given) { return 1; },
            {{{{}, 0}}, {{{}, 0}}, {{{}, 0}}, {{{}, -inf, inf, 1, 1}}}),
    formula("logistic", rounded, {}, [](auto x, Given) { return logistic(x); },
            [](auto x, Given) { return logistic_slope(x); },
            {{{{}, 4}}, {{{}, 4}}, {{{}, 4}}, {{{}, 0, 1, 0, 0}}}),
    formula("tanh", rounded, {0.5, 2}, [](auto x, Given m) { return m.beta * std::tanh(m.alpha * x); },
            [](auto x, Given m) { return m.alpha * (m.beta / square(std::cosh(m.alpha * x))); },
            {{{{}, 4}, {{0.5f, -3}, 5}}, {{{}, 4}, {{0.5f, -3}, 5}, {{0.3f, 0.7f}, 6, 0.3}},  // 2 alpha |x| half ulps
             {{{}, 4}, {{0.3f, 0.7f}, 6, [](double x) { return x < 0 ? -0.3 * x : 0.3 * x; }}},
             {{{0.5f, 3}, -3, 3, 0, 0}}, {0.75, -3}}),
    formula("relu", exact, {}, [](auto x, Given) { return x > 0 ? x : 0; }, [](auto x, Given) { return x > 0; },
            {{{{}, 0}}, {{{}, 0}}, {{{}, 0}}, {{{}, 0, inf, 0, 1}}}),
    formula("softrelu", rounded, {}, [](auto x, Given) { return softplus(x); },
            [](auto x, Given) { return logistic(x); },
            {{{{}, 4}}, {{{}, 3}}, {{{}, 4}}, {{{}, 0, inf, 0, 1}}}),
    formula("abs", exact, {}, [](auto x, Given) { return std::fabs(x); },
            [](auto x, Given) { return (x > 0) - (x < 0); },
            {{{{}, 0}}, {{{}, 0}}, {{{}, 0}}, {{{}, inf, inf, -1, 1}}}),
    formula("power", rounded, {1, 0.5, 2},
            [](auto x, Given m) {
                auto const base = m.alpha + m.beta * x;
                return base <= 1e-6 ? 0 : std::pow(base, decltype(x){m.gamma});
            },
            [](auto x, Given m) {
                auto const base = m.alpha + m.beta * x;
                return base <= 1e-6 ? 0 : m.beta * m.gamma * std::pow(base, decltype(x){m.gamma} - 1);
            },
            {{{{}, 2}, {{1, 0.5f, 2}, 4, 0, 1e-6}},
             {{{}, 1}, {{1, 0.5f, 2}, 3, 0, 0, 1e-6, 1e-6}, {{0, 0.5f, 1.5f}, 3}}, {{{0, 0.5f, 1.7f}, 3}},
             {{{1, 1, 1}, 0, inf, 0, 1}, {{1, 1, -1}, 0, 0, 0, 0}, {{1, 1, 0}, 0, 1, 0, 0}},
             {3, 0.25, 1.5, {-12, -12}}}),
    formula("clippedrelu", exact, {50}, [](auto x, Given m) { return x < 0 ? 0 : x > m.alpha ? m.alpha : x; },
            [](auto x, Given m) { return x > 0 && x <= m.alpha; },
            {{{{}, 0}, {{0.75f}, 0}}, {{{}, 0}, {{0.75f}, 0}}, {{{0.75f}, 0}}, {{{6}, 0, 6, 0, 0}},
             {2.5, 0, 0, {0, 2.5}}}),
    formula("leakyrelu", exact, {0.25}, [](auto x, Given m) { return x > 0 ? x : m.alpha * x; },
            [](auto x, Given m) { return x > 0 ? 1 : m.alpha; },
            {{{{}, 0.5}, {{0.3f}, 0.5}}, {{{}, 0}, {{0.3f}, 0}}, {{{0.3f}, 0.5}}, {{{0.125f}, -inf, inf, 0.125, 1}},
             {0.25}}),
    formula("elu", rounded, {0.5}, [](auto x, Given m) { return x > 0 ? x : m.alpha * std::expm1(x); },
            [](auto x, Given m) { return x > 0 ? 1 : m.alpha * std::exp(x); },
            {{{{}, 3}, {{2.5f}, 4}}, {{{}, 1}, {{2.5f}, 2}}, {{{2.5f}, 3}}, {{{2.5f}, -2.5, inf, 0, 1}}, {2.5}}),
    formula("clamp", exact, {-2, 50}, [](auto x, Given m) { return x > m.beta ? m.beta : x < m.alpha ? m.alpha : x; },
            [](auto x, Given m) { return x > m.alpha && x <= m.beta; },
            {{{{}, 0}, {{-3, 0.5f}, 0}}, {{{}, 0}, {{-3, 0.5f}, 0}}, {{{-3, 0.5f}, 0}},
             {{{-3, 0.5f}, -3, 0.5, 0, 0}}, {-3, 0.5, 0, {-3, 0.5}}}),
    formula("gelu", gated_with_tail, {}, [](auto x, Given) { return x * normal(x); },
            [](auto x, Given) {
                return normal(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi_v<decltype(x)>);
            },
            {{{{}, 8, tail, 1e-22}}, {{{}, 8, 0, tail, 5e-16}},
             {{{}, 6, [](double x) { return x < 0 ? x * x : 0; }}}, {{{}, 0, inf, 0, 1}}}),
    formula("gelutanh", gated_with_tail, {}, [](auto x, Given) { return x * logistic(gelutanh_argument(x)); },
            [](auto x, Given) {
                auto const u = gelutanh_argument(x);
                return logistic(u) + x * gelutanh_rate(x) * logistic_slope(u);
            },
            {{{{}, 8, tail, 1e-26}}, {{{}, 8, 0, tail, 6e-43}},
             {{{}, 6, [](double x) { return x < 0 ? 2.5 * (1.6 + 0.0714 * x * x) * -x : 0; }}},
             {{{}, 0, inf, 0, 1}}}),
    formula("silu", gated, {}, [](auto x, Given) { return x * logistic(x); },
            [](auto x, Given) { return logistic(x) + x * logistic_slope(x); },
            {{{{}, 5, 0, 1e-42}}, {{{}, 6, 0, 0, 3e-43}}, {{{}, 6}}, {{{}, 0, inf, 0, 1}}}),
    formula("mish", gated, {}, [](auto x, Given) { return x * std::tanh(softplus(x)); },
            [](auto x, Given) {
                return std::tanh(softplus(x)) + x * logistic(x) / square(std::cosh(softplus(x)));
            },
            {{{{}, 6, 0, 1e-42}}, {{{}, 8, 0, 0, 3e-43}}, {{{}, 8}}, {{{}, 0, inf, 0, 1}}}),
    formula("hardswish", rounded, {}, [](auto x, Given) { return x <= -3 ? 0 : x >= 3 ? x : x * (x + 3) / 6; },
            [](auto x, Given) { return x <= -3 ? 0 : x >= 3 ? 1 : (2 * x + 3) / 6; },
            {{{{}, 4}}, {{{}, 1}}, {{{}, 4}}, {{{}, 0, inf, 0, 1}}, {0, 0, 0, {-3, 3}}}),
    formula("hardsigmoid", rounded, {0.125, 0.5},
            [](auto x, Given m) {
                return std::fmin(std::fmax(m.alpha * x + m.beta, decltype(x){0}), decltype(x){1});
            },
            [](auto x, Given m) { return m.alpha * x + m.beta > 0 && m.alpha * x + m.beta < 1 ? m.alpha : 0; },
            {{{{}, 1, 0, 1e-7}, {{0.2f, 0.25f}, 1, 0, 1e-7}},
             {{{}, 0, 0, 0, 0x1p-146, 1e-6}, {{0.2f, 0.25f}, 0, 0, 0, 0x1p-146, 1e-6}}, {{{0.25f, 0.5f}, 1}},
             {{{0.25f, 0.5f}, 0, 1, 0, 0}}, {0.125, 0.5, 0, {-4, 4}}}),
    formula("softsign", rounded, {},
            [](auto x, Given) { return std::isinf(x) ? std::copysign(decltype(x){1}, x) : x / (1 + std::fabs(x)); },
            [](auto x, Given) { return 1 / square(1 + std::fabs(x)); },
            {{{{}, 2}}, {{{}, 3}}, {{{}, 3}}, {{{}, -1, 1, 0, 0}}}));
// clang-format on

/// Calls f with the formula of a name.
template <class F>
void with_formula(std::string const& name, F const& f) {
    bool const found =
        std::apply([&](auto const&... each) { return ((name == each.name && (f(each), true)) || ...); }, formulas);
    if (!found) throw std::invalid_argument("no activation is named " + name);
}

}  // namespace
}  // namespace modes

template <class Real>
Real Mode::operator()(Real x) const {
    Real y = x;
    modes::with_formula(name, [&](auto const& formula) {
        bool const lowest = std::isinf(x) && x < 0;  // x times the gate would be infinity * 0
        if (!std::isnan(x)) y = formula.kind.gated && lowest ? 0 : static_cast<Real>(formula.value(x, *this));
    });
    return y;
}
template double Mode::operator()(double) const;
template long double Mode::operator()(long double) const;

template <class Real>
Real Mode::slope(Real x) const {
    Real slope = x;
    modes::with_formula(name, [&](auto const& formula) {
        bool const far = formula.kind.gated && std::fabs(x) > 800;
        if (!std::isnan(x)) slope = far ? static_cast<Real>(x > 0) : static_cast<Real>(formula.slope(x, *this));
    });
    return slope;
}
template double Mode::slope(double) const;
template long double Mode::slope(long double) const;

ModeKind Mode::kind() const {
    ModeKind found;
    modes::with_formula(name, [&](auto const& formula) { found = formula.kind; });
    return found;
}
Mode Mode::with_arguments() const {
    Mode mode{name};
    modes::with_formula(name, [&](auto const& formula) {
        mode.alpha = formula.arguments[0], mode.beta = formula.arguments[1], mode.gamma = formula.arguments[2];
    });
    return mode;
}

Bounded Mode::operator()(Bounded x) const {
    double const y = (*this)(x.value);
    double const spread =
        std::fmax(std::fabs((*this)(x.value + x.error) - y), std::fabs((*this)(x.value - x.error) - y));
    ModeKind const about = kind();
    if (about.exact) return Bounded::rounded(y, x.error == 0 ? 0 : spread);
    bool const tail = about.tail > 0 && x.value < -1;
    double const relative = tail ? about.tail : 16 * Bounded::unit, absolute = tail ? 1e-22 : 4 * Bounded::smallest;
    return {y, 2 * spread + relative * std::fabs(y) + absolute};
}

}  // namespace test::oracle

test::catalogue::Facts const& test::catalogue::facts_of(std::string const& name) {
    Facts const* found = nullptr;
    oracle::modes::with_formula(name, [&](auto const& formula) { found = &formula.facts; });
    return *found;
}
