// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/gather.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/half_types.hpp"
#include "support/resampled.hpp"

using namespace test;

TEST_CASE("HIP: upsampling repeats or interpolates, in every layout and type") {
    fk::hip::Device device = gpu();
    check_upsampling<fk::half, false>(device);
    check_upsampling<Types<fk::bfloat16, float>, false>(device);
}

TEST_CASE("HIP: upsampling stores values and a maximum before an activation") {
    fk::hip::Device device = gpu();
    check_stored_upsampling(device);
}

TEST_CASE("HIP: pixel shuffles move channels to blocks of pixels and back, in every layout and type") {
    fk::hip::Device device = gpu();
    check_pixel_shuffles<fk::half, false>(device);
    check_pixel_shuffles<float, false>(device);
}

TEMPLATE_LIST_TEST_CASE("HIP: gradients of pools are those of the scattered definition, in every layout and type", "",
                        HalvesAnd<float>) {
    fk::hip::Device device = gpu();
    check_pool_gradients<TestType>(device);
}
