// SPDX-License-Identifier: MIT
#include "fusekit/tensor/overflow.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>

namespace {

using fusekit::detail::add_overflows, fusekit::detail::mul_overflows;

constexpr std::int64_t sum_of_products(std::int64_t a, std::int64_t b, std::int64_t c) {
    std::int64_t product = 0, sum = 0;
    return mul_overflows(a, b, product) || add_overflows(product, c, sum) ? -1 : sum;
}
static_assert(sum_of_products(3, -4, 5) == -7 && sum_of_products(-1, INT64_MAX, -1) == INT64_MIN);
static_assert(sum_of_products(INT64_MAX / 3 + 1, 3, 0) == -1 && sum_of_products(-1, INT64_MIN, 0) == -1);
static_assert(sum_of_products(1, INT64_MAX, 1) == -1 && sum_of_products(1, INT64_MIN, -1) == -1);

}  // namespace

TEST_CASE("overflows of 64-bit products and sums are detected at run time") {
    std::int64_t result = 0;
    CHECK_FALSE(mul_overflows(INT64_MAX / 3, 3, result));
    CHECK(result == INT64_MAX - INT64_MAX % 3);
    CHECK(mul_overflows(INT64_MAX / 3 + 1, 3, result));
    CHECK(mul_overflows(INT64_MIN, -1, result));
    CHECK_FALSE(add_overflows(INT64_MIN, INT64_MAX, result));
    CHECK(result == -1);
    CHECK(add_overflows(INT64_MAX, 1, result));
}
