// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/integer.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <vector>

using fusekit::hip::FastDivmod;

TEST_CASE("HIP: a divisor divides as / and % do, up to 2^31") {
    constexpr std::uint32_t end = 1u << 31;
    std::vector<std::uint32_t> divisors;
    for (std::uint32_t d = 1; d <= 300; ++d) divisors.push_back(d);
    for (int bit = 9; bit < 31; ++bit)
        for (std::uint32_t offset : {-1, 0, 1}) divisors.push_back((1u << bit) + offset);
    for (std::uint32_t d : {3025u, 49u * 2048u, 1000003u, 0x7ffffffeu, 0x7fffffffu}) divisors.push_back(d);

    std::uint64_t wrong = 0, compared = 0;
    for (std::uint32_t const d : divisors) {
        FastDivmod const divisor(d);
        CHECK(divisor.value() == d);
        auto const compare = [&](std::uint64_t n) {
            if (n >= end) return;
            auto const m = static_cast<std::uint32_t>(n);
            wrong += divisor.divide(m) != m / d || divisor.remainder(m) != m % d;
            ++compared;
        };
        for (std::uint64_t n = 0; n < 1000; ++n) compare(n);
        for (std::uint64_t n = end - 1000; n < end; ++n) compare(n);
        for (std::uint64_t multiple = d; multiple < end; multiple += d * (1 + end / d / 500))  // quotient steps
            for (std::uint64_t n = multiple - 1; n <= multiple + 1; ++n) compare(n);
    }
    CHECK(wrong == 0);
    CHECK(compared > 1'000'000);
    CHECK(FastDivmod(0).value() == 1);  // a tensor without elements
}
