// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "support/bounded.hpp"

namespace test::oracle {

/// Error class of a mode in float arithmetic.
struct ModeKind {
    bool exact = false;  ///< at most one product rounds
    bool gated = false;  ///< x times a gate, which is 0 or 1 for |x| >= 800
    double tail = 0;     ///< relative error of the gate, for x < -1
};

/// An activation by name, with the arguments of its mode. Real is double, or long double for tests of double; without a
/// concept, which newer compilers write into the names of functions.
struct Mode {
    std::string name;
    double alpha = 0, beta = 0, gamma = 0;

    template <class Real>
    Real operator()(Real x) const;
    /// Derivative; at kinks as documented in ops/activation.
    template <class Real>
    Real slope(Real x) const;

    ModeKind kind() const;
    /// Returns the mode with the arguments that test cases use: values of float, and powers of two for factors.
    Mode with_arguments() const;

    /// Value over the interval of x, doubled for curvature, with 8 ulps for the function. For a gate, adds its relative
    /// error in the lower tail and, below x = -8.4, where that grows, 1e-22.
    Bounded operator()(Bounded x) const;
};

}  // namespace test::oracle
