// SPDX-License-Identifier: MIT
// On the emulated GPU: the one-plan set that this program is built with, and its C interface.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "fusekit/hip.hpp"
#include "fusekit/runtime/c/fusekit.h"
#include "fusekit_runtime_gpu.hpp"
#include "run_found.hpp"

using namespace test;
using Set = rt::ready_made::GpuSet;

TEST_CASE("A plan found at run time computes on a GPU what the oracle does", "[runtime]") {
    fk::hip::Device device;
    for (char const* text : {"n3c5h4w6k5r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs float A mish t2 ~17",
                             "n3c5h4w6k5r1s1pt0l0b0r0u1v1d1e1g1 nhwc kcrs float B t2 #18",
                             "n3c5h4w6k5r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs float BA clippedrelu t2 #19"}) {
        INFO(text);
        CHECK(run_found<Set>(text, device) == "");
    }
}

TEST_CASE("The C interface runs on a GPU, on its own stream and on one of the application's", "[runtime]") {
    fk::hip::Device device;  // for memory
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 3), {-1, 2, -3});
    auto y = fk::tensor<float>(device, fk::nchw(1, 1, 1, 3), {9, 9, 9});
    fusekit_tensor from{}, to{};
    from.data = const_cast<float*>(x.data()), to.data = y.data();
    for (fusekit_tensor* tensor : {&from, &to}) {
        tensor->rank = 4;
        for (int mode = 0; mode < 4; ++mode) {
            tensor->extents[mode] = x.layout().shape[mode];
            tensor->strides[mode] = x.layout().stride[mode];
        }
    }
    fusekit_operator const relu{FUSEKIT_ACTIVATION, FUSEKIT_RELU, {}};
    fusekit_types const floats{};
    fusekit_arguments arguments;
    fusekit_device gpu;
    fusekit_plan plan;
    REQUIRE(fusekit_arguments_init(&arguments) == FUSEKIT_SUCCESS);
    CHECK(fusekit_device_create_host(1, &gpu) == FUSEKIT_NO_DEVICE);
    CHECK(fusekit_device_create_gpu(1000, &gpu) == FUSEKIT_NO_DEVICE);
    REQUIRE(fusekit_device_create_gpu(0, &gpu) == FUSEKIT_SUCCESS);
    REQUIRE(fusekit_find(FUSEKIT_GPU, &relu, 1, &floats, &plan) == FUSEKIT_SUCCESS);
    std::vector<float> values(3);
    for (void* stream : {FUSEKIT_OWN_STREAM, static_cast<void*>(device.stream()), static_cast<void*>(nullptr)}) {
        y.copy_from(std::vector<float>{9, 9, 9}.data());
        REQUIRE(fusekit_execute(plan, gpu, stream, &arguments, 1, &from, &to, nullptr, 0) == FUSEKIT_SUCCESS);
        REQUIRE(fusekit_device_synchronize(gpu) == FUSEKIT_SUCCESS);
        device.synchronize();
        y.copy_to(values.data());
        CHECK(values == std::vector<float>{0, 2, 0});
    }
    fusekit_tensor none = from;  // an empty grid is a HIP error, so nothing is launched
    none.data = nullptr, none.extents[0] = 0;
    CHECK(fusekit_execute(plan, gpu, nullptr, &arguments, 1, &none, &none, nullptr, 0) == FUSEKIT_SUCCESS);
    from.data = values.data();  // not GPU memory
    CHECK(fusekit_execute(plan, gpu, nullptr, &arguments, 1, &from, &to, nullptr, 0) == FUSEKIT_REFUSED);
    CHECK(std::string(fusekit_last_message()).find("x: expected") != std::string::npos);
    CHECK(fusekit_plan_destroy(plan) == FUSEKIT_SUCCESS);
    CHECK(fusekit_device_destroy(gpu) == FUSEKIT_SUCCESS);
}
