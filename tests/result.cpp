// SPDX-License-Identifier: MIT
#include "fusekit/result.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>

namespace fk = fusekit;

namespace {

fk::Error error() { return fk::Error("Plan<>", "x", "", "something", "nothing"); }

}  // namespace

TEST_CASE("a refusal is an error, or none") {
    fk::Refusal none;
    CHECK_FALSE(none);
    CHECK_NOTHROW(none.raise());
    fk::Refusal refusal = error();
    REQUIRE(refusal);
    CHECK(std::string(refusal->what()) == "Plan<>: x: expected something, got nothing");
    CHECK((*refusal).operator_name == "x");
    CHECK_THROWS_AS(refusal.raise(), fk::Error);
    fk::Refusal const moved = std::move(refusal);
    REQUIRE(moved);
    CHECK(moved->given == "nothing");
}

TEST_CASE("a result is a value or an error") {
    fk::Result<int> const value = 3;
    REQUIRE(value);
    CHECK((*value == 3 && value.value() == 3));
    fk::Result<int> const failed = error();
    REQUIRE_FALSE(failed);
    CHECK(failed.error().expected == "something");
    CHECK_THROWS_AS(failed.value(), fk::Error);
}
