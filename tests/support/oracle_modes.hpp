// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <string>

#include "support/bounded.hpp"

namespace test::oracle {

/// How much of an exact input float arithmetic leaves.
struct ModeKind {
    bool exact = false;  ///< no more than one product rounds
    bool gated = false;  ///< x times a gate, which is 0 or 1 from |x| = 800 on
    double tail = 0;     ///< the share of the result that the gate loses, for x < -1
};

/// An activation by name, with the arguments that its mode uses. Real is double, or long double where double is tested.
struct Mode {
    std::string name;
    double alpha = 0, beta = 0, gamma = 0;

    template <std::floating_point Real>
    Real operator()(Real x) const;
    /// The derivative; at kinks it is what ops/activation says.
    template <std::floating_point Real>
    Real slope(Real x) const;

    ModeKind kind() const;
    /// This mode with the arguments that cases run with: floats, and powers of two where they are factors.
    Mode with_arguments() const;

    /// Over the interval of x, twice for curvature, and 8 ulps for the function itself; where a gate loses a share of
    /// its lower tail, that, and below x = -8.4, where it grows, less than 1e-22.
    Bounded operator()(Bounded x) const;
};

}  // namespace test::oracle
