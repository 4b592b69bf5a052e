// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/arch/architecture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using fusekit::hip::Architecture;

namespace {

struct AmdProperties {
    char gcnArchName[64];
    int major, minor;
};
struct NvidiaProperties {
    int major, minor;
};

std::string name(Architecture architecture) { return architecture.name().c_str(); }

}  // namespace

TEST_CASE("HIP: an Architecture is parsed from HIP's device properties") {
    CHECK(Architecture::of(AmdProperties{"gfx90a:sramecc+:xnack-", 9, 0}) == Architecture::gfx(0x90a));
    CHECK(Architecture::of(AmdProperties{"gfx942", 9, 4}) == Architecture::gfx(0x942));
    CHECK(Architecture::of(AmdProperties{"gfx1100", 11, 0}) == Architecture::gfx(0x1100));
    CHECK(Architecture::of(AmdProperties{"cpu", 0, 0}) == Architecture{});
    CHECK(Architecture::of(AmdProperties{"", 9, 0}) == Architecture::sm(90));  // HIP on an NVIDIA GPU
    CHECK(Architecture::of(NvidiaProperties{8, 6}) == Architecture::sm(86));
    CHECK(Architecture::of(NvidiaProperties{12, 0}) == Architecture::sm(120));
    CHECK_FALSE(Architecture::gfx(90) == Architecture::sm(90));
    CHECK(Architecture::gfx("gfx11-generic") == Architecture::gfx(0x1100));
    CHECK(Architecture::gfx("gfx9-4-generic") == Architecture::gfx(0x900));
}

TEST_CASE("HIP: an Architecture has the compilers' name") {
    CHECK(name(Architecture::gfx(0x90a)) == "gfx90a");
    CHECK(name(Architecture::gfx(0x1201)) == "gfx1201");
    CHECK(name(Architecture::sm(90)) == "sm_90");
    CHECK(name(Architecture::sm(120)) == "sm_120");
    CHECK(name(Architecture{}) == "unknown");
}
