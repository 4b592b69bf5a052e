// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "fusekit/ops/activation.hpp"

/// The activations of the library: what all tests of them read. One line is one activation, and holds what tests expect
/// of it. The oracle has its formula (support/oracle_modes.cpp) under the line's name.
namespace test::catalogue {

namespace fk = fusekit;

// What tests allow is said where it is used: bounds are derived, from the operations that a formula rounds, in
// tests/ops/activation.cpp, tests/ops/slope.cpp and tests/backend/host/double.cpp. Those with `ulps` below 0 are none.

/// How far a value may be from the exact one: in ulps of it; as a share of it for x < -1; absolutely.
template <class Args>
struct ValueBound {
    Args args{};
    double ulps = -1, tail = 0, absolute = 0;
};

/// How far a slope may be from the exact one, and how far from a kink it is looked at.
template <class Args>
struct SlopeBound {
    Args args{};
    double ulps = -1, per_x = 0, tail = 0, absolute = 0x1p-146, margin = 0;
};

/// Both in double.
template <class Args>
struct DoubleBound {
    Args args{};
    double ulps = -1;
    double (*tail)(double x) = [](double) { return 0.0; };
};

/// What a mode and its slope are where x has left all that bends: of -infinity and of infinity. NaN is none.
template <class Args>
struct Limits {
    Args args{};
    double low = std::numeric_limits<double>::quiet_NaN(), high = 0, slope_low = 0, slope_high = 0;
};

/// The oracle's arguments, and where the slope jumps, for differences.
struct Differences {
    double alpha = 0, beta = 0, gamma = 0, kinks[2] = {};
};

template <class TheMode>
struct Line {
    using Mode = TheMode;
    using Args = typename Mode::Args;

    char const* name;  ///< of the oracle's formula, and of cases
    bool is_miopens;  ///< one of MIOpen's modes, or one of ours
    ValueBound<Args> values[2];
    SlopeBound<Args> slopes[3];
    DoubleBound<Args> doubles[2];
    Limits<Args> limits[3];
    Differences differences = {};
};

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr bool miopens = true, ours = false;
inline constexpr double tail = 2e-5;  // what normal_cdf, and the exp of a rounded polynomial, lose

// clang-format off
inline constexpr auto activations = std::tuple(
    Line<fk::Passthru>{"passthru", miopens, {{{}, 0}}, {{{}, 0}}, {{{}, 0}}, {{{}, -inf, inf, 1, 1}}},
    Line<fk::Logistic>{"logistic", miopens, {{{}, 4}}, {{{}, 4}}, {{{}, 4}}, {{{}, 0, 1, 0, 0}}},
    Line<fk::Tanh>{"tanh", miopens, {{{}, 4}, {{0.5f, -3}, 5}},
                   {{{}, 4}, {{0.5f, -3}, 5}, {{0.3f, 0.7f}, 6, 0.3}},  // 2 alpha |x| half ulps
                   {{{}, 4}, {{0.3f, 0.7f}, 6, [](double x) { return x < 0 ? -0.3 * x : 0.3 * x; }}},
                   {{{0.5f, 3}, -3, 3, 0, 0}}, {0.75, -3}},
    Line<fk::Relu>{"relu", miopens, {{{}, 0}}, {{{}, 0}}, {{{}, 0}}, {{{}, 0, inf, 0, 1}}},
    Line<fk::SoftRelu>{"softrelu", miopens, {{{}, 4}}, {{{}, 3}}, {{{}, 4}}, {{{}, 0, inf, 0, 1}}},
    Line<fk::Abs>{"abs", miopens, {{{}, 0}}, {{{}, 0}}, {{{}, 0}}, {{{}, inf, inf, -1, 1}}},
    Line<fk::Power>{"power", miopens, {{{}, 2}, {{1, 0.5f, 2}, 4, 0, 1e-6}},
                    {{{}, 1}, {{1, 0.5f, 2}, 3, 0, 0, 1e-6, 1e-6}, {{0, 0.5f, 1.5f}, 3}},
                    {{{0, 0.5f, 1.7f}, 3}},
                    {{{1, 1, 1}, 0, inf, 0, 1}, {{1, 1, -1}, 0, 0, 0, 0}, {{1, 1, 0}, 0, 1, 0, 0}},
                    {3, 0.25, 1.5, {-12, -12}}},
    Line<fk::ClippedRelu>{"clippedrelu", miopens, {{{}, 0}, {{0.75f}, 0}}, {{{}, 0}, {{0.75f}, 0}}, {{{0.75f}, 0}},
                          {{{6}, 0, 6, 0, 0}}, {2.5, 0, 0, {0, 2.5}}},
    Line<fk::LeakyRelu>{"leakyrelu", miopens, {{{}, 0.5}, {{0.3f}, 0.5}}, {{{}, 0}, {{0.3f}, 0}}, {{{0.3f}, 0.5}},
                        {{{0.125f}, -inf, inf, 0.125, 1}}, {0.25}},
    Line<fk::Elu>{"elu", miopens, {{{}, 3}, {{2.5f}, 4}}, {{{}, 1}, {{2.5f}, 2}}, {{{2.5f}, 3}},
                  {{{2.5f}, -2.5, inf, 0, 1}}, {2.5}},
    Line<fk::Clamp>{"clamp", miopens, {{{}, 0}, {{-3, 0.5f}, 0}}, {{{}, 0}, {{-3, 0.5f}, 0}}, {{{-3, 0.5f}, 0}},
                    {{{-3, 0.5f}, -3, 0.5, 0, 0}}, {-3, 0.5, 0, {-3, 0.5}}},
    Line<fk::Gelu>{"gelu", ours, {{{}, 8, tail, 1e-22}}, {{{}, 8, 0, tail, 5e-16}},
                   {{{}, 6, [](double x) { return x < 0 ? x * x : 0; }}}, {{{}, 0, inf, 0, 1}}},
    Line<fk::GeluTanh>{"gelutanh", ours, {{{}, 8, tail, 1e-26}}, {{{}, 8, 0, tail, 6e-43}},
                       {{{}, 6, [](double x) { return x < 0 ? 2.5 * (1.6 + 0.0714 * x * x) * -x : 0; }}},
                       {{{}, 0, inf, 0, 1}}},
    Line<fk::Silu>{"silu", ours, {{{}, 5, 0, 1e-42}}, {{{}, 6, 0, 0, 3e-43}}, {{{}, 6}}, {{{}, 0, inf, 0, 1}}},
    Line<fk::Mish>{"mish", ours, {{{}, 6, 0, 1e-42}}, {{{}, 8, 0, 0, 3e-43}}, {{{}, 8}}, {{{}, 0, inf, 0, 1}}},
    Line<fk::HardSwish>{"hardswish", ours, {{{}, 4}}, {{{}, 1}}, {{{}, 4}}, {{{}, 0, inf, 0, 1}}, {0, 0, 0, {-3, 3}}},
    Line<fk::HardSigmoid>{"hardsigmoid", ours, {{{}, 1, 0, 1e-7}, {{0.2f, 0.25f}, 1, 0, 1e-7}},
                          {{{}, 0, 0, 0, 0x1p-146, 1e-6}, {{0.2f, 0.25f}, 0, 0, 0, 0x1p-146, 1e-6}},
                          {{{0.25f, 0.5f}, 1}}, {{{0.25f, 0.5f}, 0, 1, 0, 0}}, {0.125, 0.5, 0, {-4, 4}}},
    Line<fk::Softsign>{"softsign", ours, {{{}, 2}}, {{{}, 3}}, {{{}, 3}}, {{{}, -1, 1, 0, 0}}});
// clang-format on

namespace detail {

template <class>
struct ModesOf;
template <class... Modes>
struct ModesOf<std::tuple<Line<Modes>...> const> : std::type_identity<std::tuple<Modes...>> {};

}  // namespace detail

using Modes = typename detail::ModesOf<decltype(activations)>::type;
inline constexpr int modes = std::tuple_size_v<Modes>;

/// The line of a mode by its number.
template <int Number>
constexpr auto const& line = std::get<Number>(activations);

/// Calls f(a line) for every activation.
template <class F>
constexpr void for_each_activation(F const& f) {
    std::apply([&](auto const&... each) { (f(each), ...); }, activations);
}

}  // namespace test::catalogue
