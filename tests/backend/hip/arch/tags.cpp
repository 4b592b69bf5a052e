// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/arch/tags.hpp"

#include <catch2/catch_test_macros.hpp>
#include <type_traits>

#include "fusekit/backend/hip/arch/target.hpp"

namespace hip = fusekit::hip;
using hip::Architecture;
using namespace hip::arch;

namespace {

template <class Tag>
bool is(Architecture architecture) {
    return hip::with_tag(architecture, [](auto best) { return std::is_same_v<decltype(best), Tag>; });
}
constexpr int kilobytes = 1024;

}  // namespace

static_assert(std::is_base_of_v<Gfx908, Gfx950> && std::is_base_of_v<Gfx1030, Gfx12> && std::is_base_of_v<Sm75, Sm90>);
static_assert(!std::is_base_of_v<Gfx908, Gfx1030> && !std::is_base_of_v<Nvidia, Amd>);

// Targets of the compilers' passes: __CUDA_ARCH__ with and without an `a`, and AMD's numbers.
static_assert(std::is_same_v<Sm<900>, Sm90> && std::is_same_v<Sm<900, true>, Sm90a> && std::is_same_v<Sm<860>, Sm86>);
static_assert(std::is_same_v<Sm<1000, true>, Sm90> && std::is_same_v<Sm<700>, Nvidia>);
static_assert(std::is_same_v<Gfx<0x90a>, Gfx90a> && std::is_same_v<Gfx<0x1100>, Gfx11> &&
              std::is_same_v<Gfx<0x906>, Amd>);

TEST_CASE("HIP: an architecture's tag is the last one that it extends") {
    CHECK(is<Gfx908>(Architecture::gfx(0x908)));
    CHECK(is<Gfx90a>(Architecture::gfx(0x90a)));
    CHECK(is<Gfx942>(Architecture::gfx(0x940)));
    CHECK(is<Gfx942>(Architecture::gfx(0x942)));
    CHECK(is<Gfx950>(Architecture::gfx(0x950)));
    CHECK(is<Gfx1030>(Architecture::gfx(0x1036)));
    CHECK(is<Gfx11>(Architecture::gfx(0x1100)));
    CHECK(is<Gfx11>(Architecture::gfx(0x1151)));
    CHECK(is<Gfx12>(Architecture::gfx(0x1201)));
    CHECK(is<Amd>(Architecture::gfx(0x906)));
    CHECK(is<Amd>(Architecture::gfx(0x1010)));
    CHECK(is<Nvidia>(Architecture::sm(70)));
    CHECK(is<Sm75>(Architecture::sm(75)));
    CHECK(is<Sm80>(Architecture::sm(80)));
    CHECK(is<Sm86>(Architecture::sm(87)));
    CHECK(is<Sm89>(Architecture::sm(89)));
    CHECK(is<Sm90a>(Architecture::sm(90)));
    CHECK(is<Sm90>(Architecture::sm(120)));
    CHECK(is<Any>(Architecture{}));
}

TEST_CASE("HIP: a tag inherits the facts of the tag that it extends") {
    CHECK(Gfx942::processor.wave == 64);
    CHECK(Gfx11::processor.wave == 32);
    CHECK(Gfx942::processor.shared_bytes == 64 * kilobytes);
    CHECK(Gfx950::processor.shared_bytes == 160 * kilobytes);
    CHECK(Gfx950::processor.block_shared_bytes == 160 * kilobytes);
    CHECK(Gfx12::processor.shared_bytes == 64 * kilobytes);
    CHECK(Sm75::processor.shared_bytes == 64 * kilobytes);
    CHECK(Sm80::processor.shared_bytes == 164 * kilobytes);
    CHECK(Sm86::processor.shared_bytes == 100 * kilobytes);
    CHECK(Sm89::processor.shared_bytes == 100 * kilobytes);
    CHECK(Sm90::processor.shared_bytes == 228 * kilobytes);
    CHECK(Sm90::processor.block_shared_bytes == 48 * kilobytes);
    CHECK(Sm90::processor.has_clusters);
    CHECK_FALSE(Sm89::processor.has_clusters);
    CHECK_FALSE(Gfx950::processor.has_clusters);
    CHECK_FALSE(Gfx950::processor.has_async_copies);
    CHECK_FALSE(Sm75::processor.has_async_copies);
    CHECK(Sm80::processor.has_async_copies);
    CHECK(Sm90::processor.has_async_copies);
    CHECK_FALSE(Sm89::processor.overlaps_kernels);
    CHECK(Sm90::processor.overlaps_kernels);
}

TEST_CASE("HIP: launch bounds count blocks on NVIDIA, waves of a SIMD on AMD") {
    CHECK(Sm90::processor.residency(6) == 6);
    CHECK(Gfx942::processor.residency(6) == 2);
    CHECK(Sm90::processor.unroll_of_gemm(3 * 128) == 8);
    CHECK(Sm90::processor.unroll_of_gemm(2 * 256) == 2);
    CHECK(Gfx11::processor.unroll_of_gemm(64) == 2);
}
