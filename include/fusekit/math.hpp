// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/config.hpp"
#include "fusekit/math_division.hpp"
#include "fusekit/math_double.hpp"
#include "fusekit/math_select.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

/// Elementary functions for operators. V is float (host, device or constant expression), a CPU vector of floats, or
/// double on the host (math_double.hpp). The functions are branch-free, so that a vector takes as long as a scalar; NaN
/// maps to NaN; no intermediate value overflows if the result is finite. Errors are in ulp of the result, over all
/// floats (tests/math.cpp). Under fast math they are at most twice as large (tests/fast_math), subnormals may be
/// flushed to zero, and results for NaN and infinity are undefined. The polynomials are minimax fits made for this
/// file; on a GPU some functions use its instructions for 2^x and 1 / x.
namespace fusekit::math {

namespace detail {

/// Value of a polynomial in x by Horner's rule; coefficients begin with that of the highest power.
template <class V>
FUSEKIT_HD constexpr V polynomial(V x, float first, auto... rest) {
    V sum = V{} + first;
    ((sum = sum * x + rest), ...);
    return sum;
}

/// Result of reduce(x): n and r with x = n * ln 2 + r and |r| <= ln 2 / 2.
template <class V>
struct Reduced {
    Bits<V> n;
    V r;
};
template <class V>
FUSEKIT_HD constexpr Reduced<V> reduce(V x) {
    constexpr float round = 0x1.8p23f;  // x + round has the nearest integer in its mantissa
    V const biased = assoc_barrier(x * 0x1.715476p0f + round), n = assoc_barrier(biased - round);
    V const r = assoc_barrier(x - n * 0x1.63p-1f) + n * 0x1.bd0106p-13f;  // ln 2 as hi + lo; products with hi are exact
    return {config::bit_cast<Bits<V>>(biased) - config::bit_cast<std::int32_t>(round), r};
}

/// Returns 2^(n + shift) for the n of Reduced, -127 < n + shift < 128.
template <class V>
FUSEKIT_HD constexpr V power_of_two(Bits<V> n) {
    return config::bit_cast<V>((n + 127) << 23);
}

/// Returns (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2.
template <class V>
FUSEKIT_HD constexpr V exp_tail(V r) {
    return polynomial(r, 1.99075715e-4f, 1.39336498e-3f, 8.33328627e-3f, 4.16664667e-2f, 0.166666672f, 0.5f);
}

}  // namespace detail

/// e^x, to 1 ulp; subnormal results included; 0 on underflow, infinity on overflow.
template <class V>
FUSEKIT_HD constexpr V exp(V x) {
    auto const [n, r] = detail::reduce((min)((max)(x, -104.0f), 89.0f));
    detail::Bits<V> const first = n >> 1;  // 2^n as a product of two powers, neither of which overflows or underflows
    V const mantissa = (detail::exp_tail(r) * r * r + r) + 1.0f;
    return assoc_barrier(mantissa * detail::power_of_two<V>(first)) * detail::power_of_two<V>(n - first);
}

namespace detail {

/// e^x for -104 <= x <= 88. On a GPU by its instruction, to 3 ulp and 2^-126: 2^t (1 + r) with t = x / ln 2, rounded,
/// and r = x - t ln 2, which is below |x| ulp.
template <class V>
FUSEKIT_HD constexpr V exp_between(V x) {
    if constexpr (has_instructions<V>)
        if (!std::is_constant_evaluated()) {
            float const t = x * 0x1.715476p0f, power = config::power_of_two(t);
            float const r = config::fused(t, 0x1.05c61p-29f, config::fused(t, -0x1.62e43p-1f, x));
            return config::fused(power, r, power);
        }
    return exp(x);
}

}  // namespace detail

/// e^x for x <= 88, to 1 ulp; on a GPU to 3 ulp, and 0 for results below 2^-126.
template <class V>
FUSEKIT_HD constexpr V exp_fast(V x) {
    if constexpr (detail::has_instructions<V>) return detail::exp_between((max)(x, -104.0f));
    else return exp(x);
}

/// e^x - 1, to 2 ulp, also near zero.
template <class V>
FUSEKIT_HD constexpr V expm1(V x) {
    auto const [n, r] = detail::reduce((min)((max)(x, -18.0f), 89.0f));
    V const scale = detail::power_of_two<V>(n - 1);  // 2^n / 2, so that n = 128 stays finite
    V const tail = detail::exp_tail(r) * r * r + r;
    return 2.0f * assoc_barrier(scale * tail + assoc_barrier(scale - 0.5f));
}

/// log(1 + u) for 0 <= u <= 1, to 2 ulp, on a GPU to 3: 2 artanh(u / (2 + u)).
template <class V>
FUSEKIT_HD constexpr V log1p(V u) {
    V const s = divide(u, u + 2.0f), s2 = s * s;
    V const tail = detail::polynomial(s2, 0.10401006f, 0.0873054191f, 0.111325026f, 0.142851487f, 0.2f, 0.333333343f);
    return 2.0f * (s * s2 * tail + s);
}

/// tanh x, to 3 ulp, on a GPU to 4; at most 1 in magnitude.
template <class V>
FUSEKIT_HD constexpr V tanh(V x) {
    V const e = expm1(2.0f * (min)((max)(x, -10.0f), 10.0f)), y = divide(e, e + 2.0f);
    if constexpr (detail::has_instructions<V>) return (min)(y, 1.0f);  // a GPU's quotient of equal numbers may exceed 1
    else return y;
}

/// 1 / (1 + e^-x), to 3 ulp; on a GPU to 4 ulp, and 0 for results below 2^-126.
template <class V>
FUSEKIT_HD constexpr V logistic(V x) {
    if constexpr (detail::has_instructions<V>)
        if (!std::is_constant_evaluated())
            return config::reciprocal(1.0f + detail::exp_between((min)((max)(-x, -104.0f), 88.0f)));
    V const e = exp(-(abs)(x));
    return select(x < 0.0f, e, V{} + 1.0f) / (e + 1.0f);
}

/// log(1 + e^x), to 3 ulp; on a GPU to 4 ulp, and 0 for results below 2^-126.
template <class V>
FUSEKIT_HD constexpr V softplus(V x) {
    return (max)(x, 0.0f) + log1p(exp_fast(-(abs)(x)));
}

namespace detail {

/// erf(a) for 0 <= a <= 1.
template <class V>
FUSEKIT_HD constexpr V erf_below_1(V a) {
    return a * polynomial(a * a, -9.680127e-06f, 1.1270541e-4f, -8.484711e-4f, 5.221075e-3f, -2.6865445e-2f,
                          0.11283783f, -0.37612638f, 1.1283792f);
}

/// 1 - erf(a) for 1 <= a <= 11: fitted up to 6; only the order of magnitude is right beyond.
template <class V>
FUSEKIT_HD constexpr V erfc_above_1(V a) {
    return exp(-(a * a) - polynomial(a, 8.29538e-08f, -3.3250208e-06f, 6.042501e-05f, -6.6244847e-4f, 4.9291733e-3f,
                                     -2.6648315e-2f, 0.11015165f, -0.36797377f, 1.1299814f, -2.2927811e-4f));
}

/// sin(x + quarters * pi / 2) = +-sin(r) or +-cos(r), where x = n * pi / 2 + r with |r| <= pi / 4. pi / 2 is a sum of
/// terms whose products with an n of up to 16 bits are exact, except the last.
template <class V>
FUSEKIT_HD constexpr V wave(V x, std::int32_t quarters) {
    constexpr float round = 0x1.8p23f;
    V const in_range = select((abs)(x) <= 1e5f, x, not_a_number),
            biased = assoc_barrier(in_range * 0x1.45f306p-1f + round);
    V const n = assoc_barrier(biased - round);
    V const first = assoc_barrier(in_range - n * 0x1.92p0f), second = assoc_barrier(first - n * 0x1p-11f);
    V const exact = assoc_barrier(second + n * 0x1.28p-18f), fourth = assoc_barrier(n * 0x1.78p-25f);
    V const sum = assoc_barrier(exact + fourth), fifth = assoc_barrier(n * 0x1.08p-34f);
    V const most = assoc_barrier(sum - fifth), lost = assoc_barrier(fourth - assoc_barrier(sum - exact)) +
                                                      assoc_barrier(assoc_barrier(sum - most) - fifth);
    // `lost` is the rounding error of `most`, if r is large
    V const r = assoc_barrier(most + assoc_barrier(assoc_barrier(lost - n * 0x1.a4p-41f) + n * 0x1.ee59dap-50f));
    Bits<V> const quadrant = config::bit_cast<Bits<V>>(biased) + quarters;
    V const r2 = r * r, sine = r + r * (r2 * polynomial(r2, -1.95152179e-4f, 8.33216029e-3f, -0.166666546f));
    V const cosine = 1.0f - (0.5f * r2 - r2 * r2 * polynomial(r2, 2.44330828e-5f, -1.38873156e-3f, 4.16666457e-2f));
    V const size = select((quadrant & 1) == 0, sine, cosine);
    return config::bit_cast<V>(config::bit_cast<Bits<V>>(size) ^ ((quadrant & 2) << 30));
}

}  // namespace detail

/// log x, to 1 ulp; subnormals included, -infinity for 0, NaN for negative x.
/// x = 2^n m with m from sqrt(1/2) to sqrt(2), and log m = f - f^2/2 + s (f^2/2 + ...), f = m - 1, s = f / (2 + f).
template <class V>
FUSEKIT_HD constexpr V log(V x) {
    constexpr std::int32_t root_of_half = 0x3f3504f3;
    auto const tiny = x < 0x1p-126f;
    auto const ordinary = (x > 0.0f) & (x < detail::infinity);
    V const positive = select(ordinary, select(tiny, 0x1p24f * x, x), 1.0f);
    auto const bits = config::bit_cast<detail::Bits<V>>(positive) - root_of_half;
    constexpr float round = 0x1.8p23f;
    V const exponent = config::bit_cast<V>((bits >> 23) + config::bit_cast<std::int32_t>(round)) - round;
    V const n = select(tiny, exponent - 24.0f, exponent);
    V const f = assoc_barrier(config::bit_cast<V>((bits & 0x7fffff) + root_of_half) - 1.0f), s = f / (f + 2.0f),
            s2 = s * s;
    V const half = 0.5f * f * f, tail = s2 * detail::polynomial(s2, 0.298744199579f, 0.399774494982f, 0.666667770535f);
    V const low = assoc_barrier(f - (half - (s * (half + tail) - n * 0x1.bd0106p-13f)));  // ln 2 as in reduce()
    V const sum = n * 0x1.63p-1f + low;
    return select(ordinary, sum, select(x == 0.0f, -detail::infinity, select(x < 0.0f, detail::not_a_number, x)));
}

/// sin x and cos x, to 2 ulp, for |x| <= 100000; NaN beyond.
template <class V>
FUSEKIT_HD constexpr V sin(V x) {
    return detail::wave(x, 0);
}
template <class V>
FUSEKIT_HD constexpr V cos(V x) {
    return detail::wave(x, 1);
}

/// The error function, to 3 ulp.
template <class V>
FUSEKIT_HD constexpr V erf(V x) {
    V const a = (min)((abs)(x), 11.0f), y = select(a < 1.0f, detail::erf_below_1(a), 1.0f - detail::erfc_above_1(a));
    return select(x < 0.0f, -y, y);
}

/// Standard normal CDF, (1 + erf(x / sqrt 2)) / 2. The lower tail has a relative error of 1.1e-5 down to x = -8.4, is
/// below 1e-16 beyond, and 0 from -15 on. On a GPU the tail is e^(-x^2 / 2) times a polynomial in 1 / (1 + 0.2121 |x|)
/// without a constant term.
template <class V>
FUSEKIT_HD constexpr V normal_cdf(V x) {
    if constexpr (detail::has_instructions<V>)
        if (!std::is_constant_evaluated()) {
            float const t = config::reciprocal(1.0f + 0.212132037f * (abs)(x));
            float const share =
                t * detail::polynomial(t, -0.0647779927f, 0.242868453f, -0.256334573f, 0.274106145f, -0.0475144982f,
                                       0.10755375f, 0.0741430968f, 0.0853619054f, 0.0845937058f);
            float const tail = share * config::power_of_two(x * x * -0.721347520f);
            return select(x < 0.0f, tail, 1.0f - tail);
        }
    V const a = (min)((abs)(x) * 0x1.6a09e6p-1f, 11.0f);
    V const erfc = select(a < 1.0f, 1.0f - detail::erf_below_1(a), detail::erfc_above_1(a));  // at |x| / sqrt 2
    return 0.5f * select(x < 0.0f, erfc, 2.0f - erfc);
}

/// Standard normal density, exp(-x^2 / 2) / sqrt(2 pi), for a finite x^2; error x^2 / 2 ulp. On a GPU 0 for results
/// below 2^-127.
template <class V>
FUSEKIT_HD constexpr V normal_density(V x) {
    return Scalar<V>(0.3989422804014327) * exp_fast(-0.5f * (x * x));
}

/// Square root, correctly rounded for perfect squares, to 1 ulp otherwise; NaN for negative x. Newton's method for the
/// reciprocal root from a bit-pattern guess, then one Heron step.
template <class V>
FUSEKIT_HD constexpr V sqrt(V x) {
    if constexpr (detail::has_instructions<V>)
        if (!std::is_constant_evaluated()) return config::root(x);
    auto const tiny = x < 0x1p-100f;
    auto const ordinary = (x > 0.0f) & (x < detail::infinity);
    V const scaled = select(tiny, 0x1p48f * x, x);  // the first guess is wrong for subnormals
    V const square = select(ordinary, scaled, 1.0f), half = 0.5f * square;
    V y = config::bit_cast<V>(0x5f375a86 - (config::bit_cast<detail::Bits<V>>(square) >> 1));
    for (int step = 0; step < 3; ++step) y = y * (1.5f - assoc_barrier(half * y) * y);
    V const estimate = assoc_barrier(square * y), root = 0.5f * (estimate + square / estimate);
    return select(ordinary, select(tiny, 0x1p-24f * root, root), select(x < 0.0f, detail::not_a_number, x));
}

/// Returns y / sqrt(x) to 2 ulp, for all x > 0; NaN for negative x. One Newton step refines the device's estimate of 1
/// / sqrt(x) to about the last bit; it is exact for powers of four. For zero or infinity uses the estimate without the
/// step.
template <class V>
FUSEKIT_HD constexpr V over_sqrt(V y, V x) {
    if constexpr (detail::has_instructions<V>)
        if (!std::is_constant_evaluated()) {
            float const estimate = config::reciprocal_root(x), unity = x * estimate * estimate;
            return y * (estimate * select(unity == unity, 1.5f - 0.5f * unity, 1.0f));
        }
    return y / sqrt(x);
}

/// Returns x^exponent for x > 0, lane by lane, by the C library's pow, to 1 ulp.
template <class V>
FUSEKIT_HD constexpr V pow(V x, Scalar<V> exponent) {
    if constexpr (std::is_same_v<V, float>) {
        if constexpr (config::on_device)
            if (!std::is_constant_evaluated()) return config::power(x, exponent);
        return __builtin_powf(x, exponent);
    } else {
        for (unsigned lane = 0; lane < sizeof(V) / sizeof(float); ++lane) x[lane] = __builtin_powf(x[lane], exponent);
        return x;
    }
}

}  // namespace fusekit::math
FUSEKIT_END_ORDERED_MATH
