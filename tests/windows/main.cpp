// SPDX-License-Identifier: MIT
//
// Runs the tests that are linked to it; with the argument "fail" only a check that fails.
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <cstring>

int main(int count, char** arguments) {
    using test::windows::Test;
    if (count > 1 && std::strcmp(arguments[1], "fail") == 0) CHECK(count == 0);
    else test::windows::run_all();
    std::printf("%d checks, %d failures\n", Test::checks, Test::failures);
    return Test::checks > 0 && Test::failures == 0 ? 0 : 1;
}
