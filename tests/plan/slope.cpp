// SPDX-License-Identifier: MIT
#include "plan/slope.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "support/finite_differences.hpp"

using namespace test;

TEST_CASE("a chain's derivative is the product of its operators' slopes, for every pointwise plan of up to four") {
    fk::host::Device device(1);
    int plans = 0, checked = 0, kinks = 0, flat = 0;
    double worst = 0;
    std::set<std::string> modes;
    auto const check = [&](Problem const& problem, Chain const& chain) {
        double worst_here = 0;
        for (std::size_t i = 0; i < problem.x.size(); ++i) {
            double const x = problem.x[i];
            auto const [expected, error] = derivative([&](double value) { return chain.run(i, value); }, x, 0x1p-10);
            if (error > 1e-9 * std::fmax(1, std::fabs(expected))) {
                ++kinks;
                continue;
            }
            double const off = std::fabs(chain.slope(i, x) - expected) / std::fmax(1, std::fabs(expected));
            if (!(off <= worst_here)) worst_here = off;
            flat += expected == 0 || expected == 1;
            ++checked;
        }
        INFO(problem.about.print());
        CHECK(worst_here <= 1e-8);
        if (!(worst_here <= worst)) worst = worst_here;
        modes.insert(problem.about.mode);
        ++plans;
    };
    [&]<int... I>(std::integer_sequence<int, I...>) {
        (for_each_chain<I, SLOPE_SHARDS>(device, check), ...);
    }(std::make_integer_sequence<int, SLOPE_SHARDS>{});
    std::printf("%d plans, %d derivatives, %d left out for a kink, worst difference %.3g\n", plans, checked, kinks,
                worst);
    CHECK(plans == 399);      // the 279 words without C, and the 120 of them that have N once more
    CHECK(modes.size() == 19);  // all of them, and none
    CHECK(kinks * 50 < checked);
    CHECK(flat * 4 < checked);
}
