// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {

/// Largest difference between `a` and `b`, of equal size, over the largest of `b`; NaN if a value is NaN.
template <class T>
double largest_difference(std::vector<T> const& a, std::vector<T> const& b) {
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        double const x = static_cast<float>(a[i]), y = static_cast<float>(b[i]), d = std::fabs(x - y);
        difference = d <= difference ? difference : d;  // NaN propagates
        largest = std::max(largest, std::fabs(y));
    }
    return difference / largest;
}

}  // namespace bench
