// SPDX-License-Identifier: MIT
#include "support/property.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <cstdlib>

#include "support/effort.hpp"

namespace test {

namespace {

std::int64_t number_from(char const* variable, std::int64_t otherwise) {
    char const* const text = std::getenv(variable);
    return text ? std::atoll(text) : otherwise;
}

/// Images with fewer elements than a thread or a vector processes; partial vectors, and unaligned ones.
char const* const tiny_cases[] = {
    "n4c1h2w1k1 nhwc>nchw kcrs float S #8",      "n4c1h2w1k1 nchw!8 kcrs float S #8",
    "n4c3h1w1k3 nchw kcrs float S #13",          "n4c3h1w1k3 nchw kcrs float S #8",
    "n4c1h1w3k1 nhwc>nchw kcrs float S #13",     "n4c6h1w1k6 nchw kcrs half S #13",
    "n4c1h3w2k1 nhwc kcrs half S #13",           "n4c2h1w3k2 nchw!-5 kcrs half NA relu #8",
    "n8c4h1w2k4 nchw kcrs bfloat16 NA relu #16", "n8c3h1w1k3 nchw!9>nhwc kcrs float NA relu #16",
    "n2c4h1w1k4 nchw-nc>nchw kcrs float S #16",  "n4c1h2w1k1 nchw!8589934592 kcrs float MA leakyrelu #16"};

/// The case that runs for `about`.
Case of_types(Property const& property, Case about) {
    if (!property.has_bfloat16 && about.type == fk::DataType::bfloat16) about.type = fk::DataType::float16;
    return about;
}

}  // namespace

void check_one(Property const& property, Case const& about) {
    INFO("FUSEKIT_CASE='" << about.print() << "'");
    Problem const problem(about);
    oracle::Tensor const expected = problem.expected();
    REQUIRE(unfit(expected) == "");
    CHECK(property.run(problem, expected) == "");
}

void check(Property const& property) {
    if (char const* const text = std::getenv("FUSEKIT_CASE"))
        return check_one(property, of_types(property, Case::parse(text)));
    auto const seed = static_cast<std::uint64_t>(number_from("FUSEKIT_SEED", 20260101));
    std::int64_t const cases = number_from("FUSEKIT_CASES", one_in > 1 ? property.cases / 2 : property.cases);
    for (std::string const text : tiny_cases) {
        std::size_t const end = text.find(' ');
        Case const about = Case::parse(text.substr(0, end) + "r1s1pt0l0b0r0u1v1d1e1g1" + text.substr(end));
        check_one(property, of_types(property, about));
    }
    std::int64_t done = 0, run = 0, unfit_ones = 0, wrong = 0;
    Random random(seed);
    for (; done < cases && wrong < 10; ++done) {
        Case const about = of_types(property, random_case(random, property.forms, property.multiplications));
        if (done % property.step != property.first) continue;
        ++run;
        INFO("FUSEKIT_SEED=" << seed << " FUSEKIT_CASE='" << about.print() << "'");
        Problem const problem(about);
        oracle::Tensor const expected = problem.expected();
        if (unfit(expected) != "") {  // by chance, for outputs of few elements
            ++unfit_ones;
            continue;
        }
        std::string const text = property.run(problem, expected);
        wrong += text != "";
        CHECK(text == "");
    }
    std::printf("property: FUSEKIT_SEED=%llu, %lld cases, of which %lld left out by the zeros guard\n",
                static_cast<unsigned long long>(seed), static_cast<long long>(run), static_cast<long long>(unfit_ones));
    CHECK(unfit_ones * 5 < run);
}

}  // namespace test
