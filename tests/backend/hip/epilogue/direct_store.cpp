// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/direct_store.hpp"

#include "backend/hip/epilogue/stored_tiles.hpp"

using namespace test;
using namespace test::store;

TEST_CASE("HIP: DirectStore applies the epilogue and stores each accumulator of any atom at its coordinate") {
    fk::hip::Device device = gpu();
    CHECK(stored<Biased, Axis::pixel>(device, fk::nchw(n, k, p, q), fk::Activation<fk::Relu>::Args{}) ==
          expected_values(fk::nchw(n, k, p, q), activated));
    CHECK(stored<Biased, Axis::channel>(device, fk::nhwc(n, p, q, k), fk::Activation<fk::Relu>::Args{}) ==
          expected_values(fk::nhwc(n, p, q, k), activated));
}
