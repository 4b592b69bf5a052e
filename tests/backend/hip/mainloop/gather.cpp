// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/gather.hpp"

#include "backend/hip/gpu.hpp"
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

TEST_CASE("HIP: gradients of pools are those of the scattered definition, in every layout and type") {
    fk::hip::Device device = gpu();
    check_pool_gradients<float>(device);
    check_pool_gradients<fk::half>(device);
    check_pool_gradients<fk::bfloat16>(device);
}
