// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <string>

/// What tests expect of each activation beside its formula: how far its value and slope may be from the exact ones, and
/// its limits. The numbers are beside the formula, in support/oracle_modes.cpp. Bounds are derived where they are used,
/// from the operations that a formula rounds: tests/ops/activation.cpp, tests/ops/slope.cpp and
/// tests/backend/host/double.cpp. Those with `ulps` below 0 are none.
namespace test::catalogue {

/// The arguments of a mode, or its default ones.
struct Arguments {
    bool are_default = true;
    float alpha = 0, beta = 0, gamma = 0;

    constexpr Arguments() = default;
    constexpr Arguments(float the_alpha, float the_beta = 0, float the_gamma = 0)
        : are_default(false), alpha(the_alpha), beta(the_beta), gamma(the_gamma) {}
};

/// How far a value may be from the exact one: in ulps of it; as a share of it for x < -1; absolutely.
struct ValueBound {
    Arguments args{};
    double ulps = -1, tail = 0, absolute = 0;
};

/// How far a slope may be from the exact one, and how far from a kink it is looked at.
struct SlopeBound {
    Arguments args{};
    double ulps = -1, per_x = 0, tail = 0, absolute = 0x1p-146, margin = 0;
};

/// Both in double.
struct DoubleBound {
    Arguments args{};
    double ulps = -1;
    double (*tail)(double x) = [](double) { return 0.0; };
};

/// A mode and its slope at -infinity and infinity. NaN is none.
struct Limits {
    Arguments args{};
    double low = std::numeric_limits<double>::quiet_NaN(), high = 0, slope_low = 0, slope_high = 0;
};

/// The oracle's arguments, and where the slope jumps, for differences.
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

/// Those of the oracle's formula of a name.
Facts const& facts_of(std::string const& name);

}  // namespace test::catalogue
