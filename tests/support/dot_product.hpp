// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace test {

/// Sum of a[i] b[i] over i < count. Optimised in every program: most time of a test's own reference is in it.
double dot_product(double const* a, double const* b, std::size_t count);

}  // namespace test
