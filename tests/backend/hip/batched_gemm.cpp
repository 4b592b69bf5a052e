// SPDX-License-Identifier: MIT
// Runs tests of tests/ops/gemm/batched.cpp on a GPU.
#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/fewer_kernels.hpp"
#include "backend/hip/gpu.hpp"
#include "support/matrix_products.hpp"

using namespace test;

// bfloat16 has the kernels of half, with other instructions, which tests of atom/, mma/ and mainloop/ run.
TEMPLATE_TEST_CASE("HIP: BatchedGemm agrees with the oracle", "", float, fk::half, fk::int8) {
    fk::hip::Device device = gpu();
    if constexpr (std::is_same_v<TestType, fk::half>) check_batched_products<TestType>(device);
    else {
        auto&& on = fewer_kernels(device);
        check_batched_products<TestType>(on);
    }
}
