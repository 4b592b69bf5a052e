// SPDX-License-Identifier: MIT
// Runs tests of tests/plan/element_types.cpp on a GPU.
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/fewer_kernels.hpp"
#include "backend/hip/gpu.hpp"
#include "support/effort.hpp"
#include "support/mixed_types.hpp"

using namespace test;

TEST_CASE("HIP: products, reductions, pools and statistics write y of other element types") {
    fk::hip::Device device = gpu();
    auto&& on = fewer_kernels(device);
    check_mixed_heads(on);
}

TEST_CASE("HIP: weights may have another element type than x") {
    fk::hip::Device device = gpu();
    auto&& on = fewer_kernels(device);
    check_mixed_weights([one = &on](int) -> auto& { return *one; }, 10 / one_pair_in, 1e6);
    check_mixed_weights_of_products(on);
    check_scaled_int8_weights<fk::half>(device);
    check_scaled_int8_weights<float>(on);
}
