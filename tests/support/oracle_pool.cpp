// SPDX-License-Identifier: MIT
#include <algorithm>

#include "support/oracle.hpp"

namespace test::oracle {

namespace {

/// Number of windows of `size` along a mode of `extent` elements, one every `step`.
std::int64_t windows_of(std::int64_t extent, std::int64_t size, std::int64_t step, std::int64_t before,
                        std::int64_t after, bool rounds_up) {
    std::int64_t count = 0;
    for (std::int64_t first = -before;; first += step, ++count) {
        bool const fits = first + size <= extent + after;
        bool const last = rounds_up && first - step + size < extent + after && first < extent;
        if (!fits && !last) return count;
    }
}

/// Calls begin() for every window of a plane of x, each(element, tap) for its elements inside the image, row by row,
/// and end(output, values), with the number of values that a mean counts.
template <class Begin, class Each, class End>
void each_window(Shape const& x, Window const& f, PoolRules const& rules, Begin begin, Each each, End end) {
    std::int64_t const height = x.d * x.h, outputs_p = windows_of(height, f.r, f.u, f.top, f.bottom, rules.rounds_up),
                       outputs_q = windows_of(x.w, f.s, f.v, f.left, f.right, rules.rounds_up);
    std::size_t output = 0;
    for (std::int64_t plane = 0; plane < x.n * x.c; ++plane)
        for (std::int64_t p = 0; p < outputs_p; ++p)
            for (std::int64_t q = 0; q < outputs_q; ++q) {
                std::int64_t inside = 0, padded = 0;
                begin();
                for (std::int64_t r = 0; r < f.r; ++r)
                    for (std::int64_t s = 0; s < f.s; ++s) {
                        std::int64_t const h = p * f.u - f.top + r, w = q * f.v - f.left + s;
                        padded += h < height + f.bottom && w < x.w + f.right;
                        if (h < 0 || h >= height || w < 0 || w >= x.w) continue;
                        ++inside;
                        each(static_cast<std::size_t>((plane * height + h) * x.w + w), r * f.s + s);
                    }
                end(output++, static_cast<double>(rules.counts_padding ? padded : inside));
            }
}

Tensor outputs_of(Shape const& x, Window const& f, PoolRules const& rules) {
    return Tensor({x.n, x.c, windows_of(x.d * x.h, f.r, f.u, f.top, f.bottom, rules.rounds_up),
                   windows_of(x.w, f.s, f.v, f.left, f.right, rules.rounds_up)});
}

}  // namespace

Tensor pool(Tensor const& x, bool largest, Window const& f, PoolRules const& rules) {
    Tensor y = outputs_of(x.shape, f, rules);
    Bounded most, sum;
    double magnitude = 0, terms = 0;
    bool integers = true;
    each_window(
        x.shape, f, rules, [&] { most = {-1e300, 0}, sum = {0, 0}, magnitude = 0, terms = 0, integers = true; },
        [&](std::size_t element, std::int64_t) {
            Bounded const v = x.at[element];
            if (v.value > most.value) most = v;
            sum = {sum.value + v.value, sum.error + v.error};
            magnitude += std::fabs(v.value) + v.error;
            integers = integers && v.error == 0 && v.value == std::trunc(v.value);
            ++terms;
        },
        [&](std::size_t output, double count) {
            if (!integers || magnitude > 0x1p24) sum.error += terms * Bounded::unit * magnitude;
            y.at[output] = largest ? most : sum / Bounded{count};
        });
    return y;
}

Tensor pool_taps(Tensor const& x, Window const& f, PoolRules const& rules) {
    Tensor taps = outputs_of(x.shape, f, rules);
    double most = 0, tap = -1;
    each_window(
        x.shape, f, rules, [&] { tap = -1; },
        [&](std::size_t element, std::int64_t of_element) {
            double const value = x.at[element].value;
            if (tap < 0 || value > most) most = value, tap = static_cast<double>(of_element);
        },
        [&](std::size_t output, double) { taps.at[output] = {tap, 0}; });
    return taps;
}

Tensor pool_gradient(Tensor const& dy, Shape const& x, Window const& f, PoolRules const& rules, Tensor const* taps) {
    Tensor dx(x);
    std::vector<double> magnitudes(dx.at.size()), terms(dx.at.size());
    std::vector<std::pair<std::size_t, std::int64_t>> window;
    bool exact = true;
    each_window(
        x, f, rules, [&] { window.clear(); },
        [&](std::size_t element, std::int64_t tap) { window.emplace_back(element, tap); },
        [&](std::size_t output, double count) {
            for (auto const& [element, tap] : window) {
                double const of_window = dy.at[output].value;
                if (taps && static_cast<double>(tap) != taps->at[output].value) continue;
                double const term = taps ? of_window : of_window / count;
                dx.at[element].value += term;
                magnitudes[element] += std::fabs(term), ++terms[element];
                exact = exact && term * 256 == std::trunc(term * 256);
            }
        });
    // Each term has at most two roundings; multiples of 1/256 below 2^16 are summed without error.
    for (std::size_t i = 0; i < dx.at.size(); ++i)
        if (!exact || magnitudes[i] > 0x1p16) dx.at[i].error = (terms[i] + 2) * Bounded::unit * magnitudes[i];
    return dx;
}

}  // namespace test::oracle
