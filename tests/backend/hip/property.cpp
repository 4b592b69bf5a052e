// SPDX-License-Identifier: MIT
#include "support/property.hpp"

#include <type_traits>

#include "backend/hip/gpu.hpp"
#include "backend/hip/runner.hpp"
#include "support/forms.hpp"

using namespace test;

TEST_CASE("HIP: plans of geometries known at run time compute what the oracle does") {
    fk::hip::Device device = gpu();
    Runner runner(device);
    // The emulated GPU runs every other case at each width of waves.
#ifdef HIP_ON_CPU
    constexpr std::int64_t step = 2;
    std::int64_t const first = hip_on_cpu::wave_width() / 64;
#else
    constexpr std::int64_t step = 1, first = 0;
#endif
    check({names<Runner>(),
           [&](Problem const& problem, oracle::Tensor const& expected) { return run_form(problem, expected, runner); },
           600, 2e6, step, first, std::is_same_v<LastHalf, fk::bfloat16>});
}
