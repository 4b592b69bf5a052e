// SPDX-License-Identifier: MIT
#include "compiler.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <random>

#include "code.hpp"

namespace jit = fusekit::jit;

TEST_CASE("kernel_name: the only kernel of an ELF file") {
    REQUIRE(jit::kernel_name(test::code_of("a_kernel", 100, 1).cubin) == "a_kernel");
    REQUIRE(jit::kernel_name("").empty());
    REQUIRE(jit::kernel_name("\177ELF\2").empty());
    REQUIRE(jit::kernel_name(std::string(1000, '\0')).empty());
}

TEST_CASE("kernel_name: files of random bytes") {
    std::mt19937 random(3);
    std::string const good = test::code_of("k", 50, 1).cubin;
    for (int i = 0; i < 20000; ++i) {
        std::string file = good;
        for (unsigned change = 0, changes = 1 + random() % 8; change < changes; ++change)
            file[5 + random() % (file.size() - 5)] = static_cast<char>(random());
        file.resize(random() % 4 ? file.size() : random() % file.size());
        static_cast<void>(jit::kernel_name(file));  // reads nothing out of bounds: tested by sanitizers
    }
    SUCCEED();
}

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
