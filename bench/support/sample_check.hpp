// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "fusekit/tensor/dtype.hpp"

namespace bench {

/// Extents and strides of a dense batch of activations on the host. Independent of the library's layouts, which are
/// under test.
struct Extents {
    std::int64_t n, c, h, w;
    bool channels_last;

    std::int64_t size() const { return n * c * h * w; }
    std::size_t at(std::int64_t in, std::int64_t ic, std::int64_t ih, std::int64_t iw) const {
        return static_cast<std::size_t>(channels_last ? ((in * h + ih) * w + iw) * c + ic
                                                      : ((in * c + ic) * h + ih) * w + iw);
    }
};

/// Expected sum of `terms` products, in double, with the quantities that bound a float sum's error.
struct Expected {
    double value;      ///< the result
    double magnitude;  ///< upper bound of every intermediate value that is rounded to the tensor's type
    double squares;    ///< sum of the squares of the terms
    std::int64_t terms;
};

struct Verdict {
    double largest_error = 0;  ///< largest absolute difference from the oracle
    double of_bound = 0;       ///< largest difference as a share of its error bound; at most 1 is correct
    double zeros = 0;          ///< share of samples that are zero
    std::int64_t unwritten = 0;  ///< elements of the whole output that are still poisoned
    bool passed() const { return unwritten == 0 && of_bound <= 1 && zeros < 0.9; }
};

/// Half the distance from 1 to the next larger T.
template <class T>
inline constexpr double unit_roundoff = std::is_same_v<T, float>           ? 0x1p-24
                                        : std::is_same_v<T, fusekit::half> ? 0x1p-11
                                                                           : 0x1p-8;

/// Compares `samples` elements of `y` with `oracle(n, k, p, q)`, which computes one element in double: the corners of
/// the first and last image and channel, then one in four on an image border, the others at fixed pseudo-random
/// coordinates. A full oracle would compute as many products in double as the plan in float.
///
/// Error bound of an element: one rounding to T per store (`roundings`), and 8 standard deviations of the error of a
/// float sum with independent rounding errors.
template <class T, class Oracle>
Verdict check_samples(std::vector<T> const& y, Extents const& shape, int samples, int roundings, Oracle const& oracle) {
    Verdict verdict;
    for (T value : y) verdict.unwritten += std::isnan(static_cast<float>(value));

    std::int64_t zeros = 0;
    auto const check = [&](std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q) {
        Expected const expected = oracle(n, k, p, q);
        double const got = static_cast<float>(y[shape.at(n, k, p, q)]);
        double const error = std::fabs(got - expected.value);
        double const accumulation = 8 * 0x1p-24 * std::sqrt(static_cast<double>(expected.terms) * expected.squares);
        double const bound = accumulation + roundings * (unit_roundoff<T> * expected.magnitude + 0x1p-25);
        verdict.largest_error = std::max(verdict.largest_error, error);
        verdict.of_bound = std::max(verdict.of_bound, error <= bound ? error / bound : 1 + error / bound);
        zeros += got == 0;
    };

    int const corners = 32;
    for (int corner = 0; corner < corners; ++corner)
        check(corner & 1 ? shape.n - 1 : 0, corner & 2 ? shape.c - 1 : 0, corner & 4 ? shape.h - 1 : 0,
              corner & 8 ? shape.w - 1 : 0);
    std::mt19937_64 random(1);
    auto const below = [&](std::int64_t end) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
    };
    for (int i = corners; i < samples; ++i) {
        std::int64_t const n = below(shape.n), k = below(shape.c);
        std::int64_t p = below(shape.h), q = below(shape.w);
        if (i % 4 == 0) (i % 8 == 0 ? p : q) = i % 16 < 8 ? 0 : (i % 8 == 0 ? shape.h : shape.w) - 1;
        check(n, k, p, q);
    }
    verdict.zeros = static_cast<double>(zeros) / std::max(samples, corners);
    return verdict;
}

}  // namespace bench
