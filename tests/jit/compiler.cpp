// SPDX-License-Identifier: MIT
#include "compiler.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

namespace jit = fusekit::jit;

TEST_CASE("first_error: the first error of a log, of at most 12 lines") {
    std::string const warning = "a plan(3): warning #1-D: something\n  code\n  ^\n\n";
    REQUIRE(jit::first_error(warning + "Swish(4): error: expected a \";\"\n  }\n  ^\n\nSwish(9): error: other\n") ==
            "Swish(4): error: expected a \";\"\n  }\n  ^");
    REQUIRE(jit::first_error("no line with it\nsecond") == "no line with it");
    std::string long_log = "Swish(1): error: a\n";
    for (int i = 0; i < 50; ++i) long_log += "  instantiation\n";
    std::string const first = jit::first_error(long_log);
    REQUIRE(std::count(first.begin(), first.end(), '\n') == 11);
}
