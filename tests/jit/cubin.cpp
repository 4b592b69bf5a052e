// SPDX-License-Identifier: MIT
#include "cubin.hpp"

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

TEST_CASE("initial_value: a variable by its name") {
    std::string const cubin = test::code_of("a_kernel", 100, 202752).cubin;
    std::uint32_t value = 7;
    REQUIRE_FALSE(jit::initial_value(cubin, "a_wor", value));
    REQUIRE_FALSE(jit::initial_value("", "a_word", value));
    REQUIRE_FALSE(jit::initial_value(cubin.substr(0, cubin.size() - 64), "a_word", value));
    REQUIRE(value == 7);
    REQUIRE(jit::initial_value(cubin, "a_word", value));
    REQUIRE(value == 202752);
}

TEST_CASE("initial_value: 0 in a section that the file does not have") {
    std::string cubin = test::code_of("a_kernel", 100, 202752).cubin;
    cubin[cubin.size() - 2 * 64 + 4] = 8;  // SHT_NOBITS, in the header of the last section but one, the variable's
    std::uint32_t value = 7;
    REQUIRE(jit::initial_value(cubin, "a_word", value));
    REQUIRE(value == 0);
}

TEST_CASE("cubin: files of random bytes") {
    std::mt19937 random(3);
    std::string const good = test::code_of("k", 50, 1).cubin;
    for (int i = 0; i < 20000; ++i) {
        std::string file = good;
        for (unsigned change = 0, changes = 1 + random() % 8; change < changes; ++change)
            file[5 + random() % (file.size() - 5)] = static_cast<char>(random());
        file.resize(random() % 4 ? file.size() : random() % file.size());
        std::uint32_t value;
        static_cast<void>(jit::initial_value(file, "a_word", value));
        std::string const name = jit::kernel_name(file);  // neither reads anything out of bounds: tested by sanitizers
        REQUIRE((name.empty() || file.find(".text." + name) != std::string::npos));
    }
}
