// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/row_gradient.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/row_gradients.hpp"

using namespace test;

TEST_CASE("RowGradient: gradients of norms and softmax agree with their definitions, on any layout") {
    fk::hip::Device device = gpu();
    check_row_gradients_of<float, true>(device, {{2, 12, 3, 5}});
    check_row_gradients_of<fk::half, false>(device, {{3, 40, 2, 4}});
}
