// SPDX-License-Identifier: MIT
//
// Runs the tests that are linked to it. With the argument "fail" one more test, which fails.
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <cstring>

int main(int count, char** arguments) {
    using test::windows::Test;
    test::windows::run_all();
    if (count > 1 && std::strcmp(arguments[1], "fail") == 0) CHECK(count == 0);
    std::printf("%d checks, %d failures\n", Test::checks, Test::failures);
    return Test::checks > 0 && Test::failures == 0 ? 0 : 1;
}
