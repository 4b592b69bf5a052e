// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <string>

/// Error bounds of each activation's value and slope, and its limits. The numbers are beside the oracle's formula, in
/// support/oracle_modes.cpp. tests/ops/activation.cpp, tests/ops/slope.cpp and tests/backend/host/double.cpp derive the
/// bounds from the roundings of a formula. `ulps` below 0: no bound.
namespace test::catalogue {

/// Arguments of a mode, or its defaults.
struct Arguments {
    bool are_default = true;
    float alpha = 0, beta = 0, gamma = 0;

    constexpr Arguments() = default;
    constexpr Arguments(float the_alpha, float the_beta = 0, float the_gamma = 0)
        : are_default(false), alpha(the_alpha), beta(the_beta), gamma(the_gamma) {}
};

/// Error bound of a value: in ulps; relative, for x < -1; absolute.
struct ValueBound {
    Arguments args{};
    double ulps = -1, tail = 0, absolute = 0;
};

/// Error bound of a slope, and the distance from kinks at which it is checked.
struct SlopeBound {
    Arguments args{};
    double ulps = -1, per_x = 0, tail = 0, absolute = 0x1p-146, margin = 0;
};

/// Error bounds of value and slope in double.
struct DoubleBound {
    Arguments args{};
    double ulps = -1;
    double (*tail)(double x) = [](double) { return 0.0; };
};

/// Limits of a mode and its slope at -infinity and infinity. NaN: no limit.
struct Limits {
    Arguments args{};
    double low = std::numeric_limits<double>::quiet_NaN(), high = 0, slope_low = 0, slope_high = 0;
};

/// Arguments of the oracle, and kinks of the slope, for finite differences.
struct Differences {
    double alpha = 0, beta = 0, gamma = 0, kinks[2] = {};
};

struct Facts {
    ValueBound values[2];
    SlopeBound slopes[3];
    DoubleBound doubles[2];
    Limits limits[3];
    Differences differences = {};
};

/// Facts of the oracle's formula of this name.
Facts const& facts_of(std::string const& name);

}  // namespace test::catalogue
