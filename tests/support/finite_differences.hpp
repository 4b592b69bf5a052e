// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

namespace test {

template <class Real>
struct Estimate {
    Real value, error;
};

/// Derivative of f at x by central differences with steps h, h / 2, h / 4 and h / 8, extrapolated to step 0 (Richardson
/// 1911), and its distance from the extrapolation that begins at h / 2. With Taylor coefficients c_n of f at x, and u
/// half an ulp of 1, the error is about h^8 / 4^6 c_9 plus 16 u |f| / h from rounding: for h = 2^-10 and |f| near 1,
/// 1e-27 and 2e-12 in double. The error is large if f or its slope has a kink within h of x.
template <class Real, class F>
Estimate<Real> derivative(F const& f, Real x, Real h) {
    constexpr int steps = 5;
    Real row[steps], first = 0;
    for (int i = 0; i < steps; ++i, h /= 2) {
        row[i] = (f(x + h) - f(x - h)) / (2 * h);
        if (i == steps - 1) first = row[0];
        Real power = 4;  // row[j], of steps j ... i, has no term in h^2, h^4 ... any more
        for (int j = i - 1; j >= (i == steps - 1); --j, power *= 4)
            row[j] = row[j + 1] + (row[j + 1] - row[j]) / (power - 1);
    }
    return {first, std::fabs(row[1] - first)};
}

}  // namespace test
