// SPDX-License-Identifier: MIT
#include "support/property.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace test {

namespace {

std::int64_t number_from(char const* variable, std::int64_t otherwise) {
    char const* const text = std::getenv(variable);
    return text ? std::atoll(text) : otherwise;
}

void check_one(Property const& property, Case const& about) {
    INFO("FUSEKIT_CASE='" << about.print() << "'");
    Problem const problem(about);
    oracle::Tensor const expected = problem.expected();
    REQUIRE(unfit(expected) == "");
    CHECK(property.run(problem, expected) == "");
}

}  // namespace

void check(Property const& property) {
    if (char const* const text = std::getenv("FUSEKIT_CASE")) return check_one(property, Case::parse(text));
    auto const seed = static_cast<std::uint64_t>(number_from("FUSEKIT_SEED", 20260101));
    std::int64_t const cases = number_from("FUSEKIT_CASES", property.cases);
    double const seconds = std::getenv("FUSEKIT_CASES") ? 1e9 : property.seconds;
    auto const start = std::chrono::steady_clock::now();
    std::int64_t done = 0, unfit_ones = 0, wrong = 0;
    Random random(seed);
    for (; done < cases && wrong < 10; ++done) {
        if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
        Case const about = random_case(random, property.forms, property.multiplications);
        INFO("FUSEKIT_SEED=" << seed << " FUSEKIT_CASE='" << about.print() << "'");
        Problem const problem(about);
        oracle::Tensor const expected = problem.expected();
        if (unfit(expected) != "") {  // chance, for outputs of few elements
            ++unfit_ones;
            continue;
        }
        std::string const text = property.run(problem, expected);
        wrong += text != "";
        CHECK(text == "");
    }
    std::printf("property: FUSEKIT_SEED=%llu, %lld cases, of which %lld left out by the zeros guard\n",
                static_cast<unsigned long long>(seed), static_cast<long long>(done),
                static_cast<long long>(unfit_ones));
    CHECK(unfit_ones * 5 < done);
}

}  // namespace test
