// SPDX-License-Identifier: MIT
#include "support/property.hpp"

#include <catch2/catch_test_macros.hpp>
#include <type_traits>

#include "support/device_of.hpp"
#include "support/forms.hpp"

using namespace test;

namespace {

Property const property{names<fk::host::Device>(),
                        [](Problem const& problem, oracle::Tensor const& expected) {
                            return run_form(problem, expected, device_of(problem.about.threads));
                        },
                        1500,
                        2e7,
                        1,
                        0,
                        std::is_same_v<LastHalf, fk::bfloat16>};

}  // namespace

TEST_CASE("a case prints as it is written") {
    for (char const* text : {"n2c3h7w5k4r3s2pt1l0b2r1u2v1d1e2g1 nhwc krsc half CBNA relu t1 #1",
                             "n1c4h9w9k8r3s3pt1l1b1r1u1v1d1e1g4 nchw+1>nhwc*2 rskc bfloat16/float CBRA relu t3 ~77"})
        CHECK(Case::parse(text).print() == text);
}

TEST_CASE("plans of geometries known at run time compute what the oracle does") { check(property); }

TEST_CASE("convolutions of long GemmKs, and of filters that fill no panel, compute what the oracle does") {
    for (char const* text : {"n2c2048h5w7k70r1s1pt0l0b0r0u1v1d1e1g1 nhwc krsc float C t2 #1",
                             "n1c200h9w7k150r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc float CBA relu t3 #2",
                             "n1c700h5w3k301r2s2pt1l0b0r1u1v2d1e1g1 nhwc kcrs float CB t1 #3",
                             "n1c2402h3w5k38r1s1pt0l0b0r0u1v1d1e1g2 nhwc krsc half CB t1 #4"})
        check_one(property, Case::parse(text));
}
