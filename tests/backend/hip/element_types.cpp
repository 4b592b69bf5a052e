// SPDX-License-Identifier: MIT
// Runs the tests of tests/plan/element_types.cpp on a GPU.
#include "backend/hip/fewer_kernels.hpp"
#include "backend/hip/gpu.hpp"
#include "support/effort.hpp"
#include "support/mixed_types.hpp"

using namespace test;

TEST_CASE("HIP: plans compute what the oracle does into y of every other element type") {
    fk::hip::Device device = gpu();
    auto&& on = fewer_kernels(device);
    check_mixed_types([one = &on](int) -> auto& { return *one; }, 10 / one_pair_in, 1e6);
}
