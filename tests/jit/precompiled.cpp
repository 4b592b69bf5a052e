// SPDX-License-Identifier: MIT
//
// libnvrtc's precompiled header. Skipped without a libnvrtc.
#include "precompiled.hpp"

#include <dlfcn.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "compiler.hpp"
#include "folder.hpp"

namespace jit = fusekit::jit;

namespace {

std::string unit(char const* expression) {
    return std::string(
               "#include \"fusekit/backend/hip/params.hpp\"\n#include \"fusekit/math.hpp\"\n#line 1 \"own\"\n") +
           "extern \"C\" __global__ void kernel(float* y) {\ny[threadIdx.x] = " + expression + ";\n}\n";
}

/// The bytes of the section .text.kernel.
std::string instructions(std::string const& cubin) {
    auto const number = [&](std::size_t at, std::size_t bytes) {
        std::uint64_t value = 0;
        std::memcpy(&value, cubin.data() + at, bytes);
        return static_cast<std::size_t>(value);
    };
    std::size_t const table = number(40, 8), names = number(table + 64 * number(62, 2) + 24, 8);
    for (std::size_t i = 0; i < number(60, 2); ++i) {
        std::size_t const section = table + 64 * i;
        if (std::strcmp(cubin.data() + names + number(section, 4), ".text.kernel") == 0)
            return cubin.substr(number(section + 24, 8), number(section + 32, 8));
    }
    return "";
}

jit::Compiler const& compiler() {
    jit::Failure failure;
    jit::Compiler const* const found = jit::Compiler::find(failure);
    if (!found) SKIP("skipped: no libnvrtc of version 13 on this machine");
    return *found;
}

}  // namespace

TEST_CASE("precompiled header: written once, for units that include its headers, with the same machine code") {
    jit::Compiler const& own = compiler();
    test::Folder const folder;
    jit::DiskCache const disk(folder.path, 1 << 20), none(folder.path, 0);
    std::string const exp = unit("fusekit::math::exp(y[threadIdx.x])"),
                      tanh = unit("fusekit::math::tanh(y[threadIdx.x])");
    auto const option = [&](std::string const& of) { return jit::Precompiled(of, none).option; };
    auto const compiled = [&](std::string const& of, jit::DiskCache const& in) {
        jit::Code code;
        jit::Failure failure;
        REQUIRE(own.compile(of, in, code, failure));
        REQUIRE(code.name == "kernel");
        REQUIRE(folder.files(true).empty());
        return instructions(code.cubin);
    };
    std::string const plain = compiled(exp, disk), other = compiled(tanh, none);
    REQUIRE((plain.size() > 64 && other.size() > 64 && plain != other));
    REQUIRE(option(exp).empty());
    REQUIRE(compiled(exp, disk) == plain);  // writes the header
    REQUIRE_THAT(option(exp), Catch::Matchers::StartsWith("--use-pch=/proc/self/fd/"));
    REQUIRE(option("extern \"C\" __global__ void kernel() {}\n").empty());
    REQUIRE(compiled(exp, disk) == plain);
    REQUIRE(compiled(tanh, none) == other);

    jit::Code code;
    jit::Failure failure;
    REQUIRE_FALSE(own.compile(unit("missing(1)"), disk, code, failure));
    REQUIRE_THAT(failure.given,
                 Catch::Matchers::ContainsSubstring("own(2): error:") && Catch::Matchers::ContainsSubstring("missing"));
    REQUIRE_FALSE(option(exp).empty());  // the mistake is the unit's

    std::vector<std::string> all(3);
    std::vector<std::thread> threads;
    for (std::string& one : all)
        threads.emplace_back([&] {
            jit::Code of_thread;
            jit::Failure why;
            if (own.compile(exp, disk, of_thread, why)) one = instructions(of_thread.cubin);
        });
    for (std::thread& one : threads) one.join();
    for (std::string const& one : all) REQUIRE(one == plain);

    jit::Precompiled(exp, disk).give_up();
    REQUIRE(option(exp).empty());
    REQUIRE(compiled(exp, disk) == plain);
}
