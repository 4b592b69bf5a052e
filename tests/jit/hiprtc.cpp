// SPDX-License-Identifier: MIT
//
// Kernels that hipRTC compiles from the embedded headers; no GPU is needed. Skipped without a hipRTC.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "compiler.hpp"

namespace jit = fusekit::jit;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A kernel without matrix units, which hipRTC of clang 15 compiles.
std::string unit(std::string const& operators) {
    return R"(#include "fusekit/backend/hip/mainloop/direct.hpp"
#include "fusekit/backend/hip/runtime/kernel.hpp"
#include "fusekit/backend/hip/schedule/direct.hpp"
#include "fusekit/ops/activation.hpp"
#include "fusekit/ops/bias.hpp"
#include "fusekit/ops/conv.hpp"
namespace fusekit::hip {
using ThePlan = fusekit::detail::FusedPlan<Conv<dynamic>)" +
           operators + R"(>;
using TheMainloop = DirectConv<ThePlan, Direct<256>, half, half, fusekit::detail::Axis::channel>;
static_assert(arch::Target::processor.wave == 64);
template __global__ void fused<ThePlan, TheMainloop>(typename TheMainloop::Params);
}
)";
}

jit::Compiler const& compiler(char const* architecture) {
    jit::Failure failure;
    jit::Compiler const* const found = jit::Compiler::find_amd(architecture, failure);
    if (!found) SKIP("skipped: no hipRTC on this machine");
    return *found;
}

}  // namespace

TEST_CASE("hipRTC: the embedded headers give a code object with the kernel") {
    jit::Compiler const& own = compiler("gfx90a");
    jit::Code code;
    jit::Failure failure;
    bool const compiles = own.compile(unit(", Bias, Activation<Relu>"), code, failure);
    INFO(failure.given);
    REQUIRE(compiles);
    REQUIRE(code.name.compare(0, 19, "_ZN7fusekit3hip5fus") == 0);
    constexpr unsigned char magic[] = {0x7f, 'E', 'L', 'F', 2}, amd_gpu = 224;  // EM_AMDGPU
    for (std::size_t i = 0; i < sizeof magic; ++i) REQUIRE(static_cast<unsigned char>(code.cubin[i]) == magic[i]);
    REQUIRE(static_cast<unsigned char>(code.cubin[18]) == amd_gpu);
    REQUIRE(code.cubin.find("amdhsa.kernels") != std::string::npos);

    REQUIRE_FALSE(own.compile(unit(", Missing"), code, failure));
    REQUIRE_THAT(failure.given, ContainsSubstring("error:") && ContainsSubstring("'Missing'"));
}

TEST_CASE("hipRTC: machine code depends on architecture and compiler, and both are in the key") {
    jit::Compiler const &first = compiler("gfx90a"), &second = compiler("gfx908");
    REQUIRE(&first == &compiler("gfx90a"));
    REQUIRE_THAT(first.identity(), ContainsSubstring("hiprtc") && ContainsSubstring("gfx90a"));
    REQUIRE(first.identity() != second.identity());
    jit::Failure failure;
    for (char const* const wrong : {"", "sm_90", "gfx", "gfx9", "gfx90a -v", "gfx90a:xnack+"}) {
        REQUIRE(jit::Compiler::find_amd(wrong, failure) == nullptr);
        REQUIRE(failure.expected == "an architecture of AMD, such as gfx90a");
        REQUIRE(failure.given == wrong);
    }
}
