// SPDX-License-Identifier: MIT
#include "support/property.hpp"

#include "backend/hip/gpu.hpp"
#include "backend/hip/runner.hpp"
#include "support/forms.hpp"

using namespace test;

TEST_CASE("HIP: plans of geometries known at run time compute what the oracle does") {
    fk::hip::Device device = gpu();
    Runner runner(device);
    // The emulated GPU runs every other case at each width of waves.
#ifdef HIP_ON_CPU
    constexpr unsigned step = 2;
    unsigned number = hip_on_cpu::wave_width() / 32;
#else
    constexpr unsigned step = 1;
    unsigned number = 0;
#endif
    check({names<Runner>(),
           [&](Problem const& problem, oracle::Tensor const& expected) {
               return number++ % step == 0 ? run_form(problem, expected, runner) : "";
           },
           600, 2e6});
}
