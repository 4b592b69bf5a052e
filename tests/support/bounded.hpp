// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

namespace test {

/// A number with a bound on the error that float arithmetic makes: the exact value and the maximum distance of a float
/// result.
///
/// Running error analysis (Higham 2002, section 3.3): each operation propagates the errors of its operands and adds
/// half an ulp, or nothing if its result is a float. An error of 0 means that every float evaluation, contracted to FMA
/// or not, gives exactly `value`.
struct Bounded {
    double value = 0, error = 0;

    static constexpr double unit = 0x1.001p-24;  // half an ulp of float, with room for second order terms
    static constexpr double smallest = 0x1p-149;

    static Bounded rounded(double value, double error) {
        if (error == 0 && static_cast<double>(static_cast<float>(value)) == value) return {value, 0};
        return {value, error + unit * (std::fabs(value) + error) + smallest};
    }
};

inline Bounded operator+(Bounded a, Bounded b) { return Bounded::rounded(a.value + b.value, a.error + b.error); }
inline Bounded operator-(Bounded a, Bounded b) { return Bounded::rounded(a.value - b.value, a.error + b.error); }
inline Bounded operator*(Bounded a, Bounded b) {
    return Bounded::rounded(a.value * b.value,
                            std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error);
}
/// Precondition: b.error is much smaller than b.value.
inline Bounded operator/(Bounded a, Bounded b) {
    double const quotient = a.value / b.value;
    return Bounded::rounded(quotient, (a.error + std::fabs(quotient) * b.error) / (std::fabs(b.value) - b.error));
}
/// Square root to 1 ulp, as the library claims; exact for exact squares.
inline Bounded sqrt(Bounded a) {
    double const root = std::sqrt(a.value);
    if (a.error == 0 && root * root == a.value) return {root, 0};
    return Bounded::rounded(root, a.error / (2 * root) + Bounded::unit * root);
}

}  // namespace test
