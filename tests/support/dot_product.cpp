// SPDX-License-Identifier: MIT
#include "support/dot_product.hpp"

namespace test {

double dot_product(double const* a, double const* b, std::size_t count) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += a[i] * b[i];
    return sum;
}

}  // namespace test
