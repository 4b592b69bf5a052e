// SPDX-License-Identifier: MIT
//
// host_by_cpu [LEVEL]: the choice among backends returns the one of the CPU that it names. With LEVEL, the CPU is one
// of this level; without, /proc/cpuinfo tells.
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "backend.hpp"

namespace fusekit::runtime::c {

namespace {

/// Addresses stand for backends, which nothing calls.
int backends[4];
Backend const* backend(int number) { return reinterpret_cast<Backend const*>(&backends[number]); }

/// Level of this machine's CPU, by the flags of /proc/cpuinfo. Source: x86-64 psABI, table 3.1.
std::string level_of_machine() {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line) && line.compare(0, 5, "flags") != 0) {
    }
    std::istringstream words(line);
    std::set<std::string> flags;
    for (std::string word; words >> word;) flags.insert(word);
    auto const has = [&](std::initializer_list<char const*> all) {
        for (auto const* flag : all)
            if (!flags.count(flag)) return false;
        return true;
    };
    if (!has({"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"})) return "default";
    if (!has({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"})) return "x86-64-v2";
    if (!has({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})) return "x86-64-v3";
    return "x86-64-v4";
}

}  // namespace

Backend const* host_backend_default();
Backend const* host_backend_default() { return backend(0); }
Backend const* host_backend_x86_64_v2();
Backend const* host_backend_x86_64_v2() { return backend(1); }
Backend const* host_backend_x86_64_v3();
Backend const* host_backend_x86_64_v3() { return backend(2); }
Backend const* host_backend_x86_64_v4();
Backend const* host_backend_x86_64_v4() { return backend(3); }

}  // namespace fusekit::runtime::c

int main(int count, char** arguments) {
    using namespace fusekit::runtime::c;
    constexpr char const* levels[] = {"default", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
    std::string const expected = count > 1 ? arguments[1] : level_of_machine();
    int number = 0;
    while (number < 3 && expected != levels[number]) ++number;
    bool const right = host_cpu() == expected && host_backend() == backend(number) && host_backend() == backend(number);
    std::printf("expected %s, got %s: %s\n", expected.c_str(), host_cpu(), right ? "right" : "wrong");
    return right ? 0 : 1;
}
