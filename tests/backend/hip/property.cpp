// SPDX-License-Identifier: MIT
#include "support/property.hpp"

#include "backend/hip/gpu.hpp"
#include "backend/hip/runner.hpp"
#include "support/forms.hpp"

using namespace test;

TEST_CASE("HIP: plans of geometries known at run time compute what the oracle does") {
    fk::hip::Device device = gpu();
    Runner runner(device);
    check({names<Runner>(),
           [&](Problem const& problem, oracle::Tensor const& expected) { return run_form(problem, expected, runner); },
           600, 2e6});
}
