// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/config.hpp"

/// The functions of math.hpp for double, by the C library, for plans on double. Host only. The lower tail of normal_cdf
/// has an error of x^2 ulp.
namespace fusekit::math {

FUSEKIT_HD constexpr double(abs)(double x) { return __builtin_fabs(x); }
FUSEKIT_HD inline double exp(double x) { return __builtin_exp(x); }
FUSEKIT_HD inline double expm1(double x) { return __builtin_expm1(x); }
FUSEKIT_HD inline double log1p(double x) { return __builtin_log1p(x); }
FUSEKIT_HD inline double log(double x) { return __builtin_log(x); }
FUSEKIT_HD inline double sin(double x) { return __builtin_sin(x); }
FUSEKIT_HD inline double cos(double x) { return __builtin_cos(x); }
FUSEKIT_HD inline double erf(double x) { return __builtin_erf(x); }
FUSEKIT_HD inline double tanh(double x) { return __builtin_tanh(x); }
FUSEKIT_HD inline double sqrt(double x) { return __builtin_sqrt(x); }
FUSEKIT_HD inline double pow(double x, double exponent) { return __builtin_pow(x, exponent); }
FUSEKIT_HD inline double normal_cdf(double x) { return 0.5 * __builtin_erfc(x * -0.70710678118654752); }

}  // namespace fusekit::math
