// SPDX-License-Identifier: MIT
// Runs the tests of tests/ops/ for operators with their own outputs, and for pools, on a GPU.
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "backend/hip/waves.hpp"
#include "support/collected_channels.hpp"
#include "support/pooled_windows.hpp"
#include "support/stored_values.hpp"
#include "support/without_y.hpp"

using namespace test;

TEST_CASE("HIP: Store writes values and masks at its position in the plan, in every layout and type") {
    fk::hip::Device device = gpu();
    check_stored_values(device);
}

TEST_CASE("HIP: convolutions store and pool with every kind of schedule") {
    fk::hip::Device device = gpu();
    Pairs pairs = pairs_on(device);
    auto const check = [&](auto with) {
        if (pairs.runs()) check_pooled_convs(with);
        for (char const* layout : {"nchw", "nhwc"}) {
            if (!pairs.runs()) continue;
            check_conv_statistics<fk::Conv<fk::dynamic>, float, 4>(with, layout, layout, {{2, 3, 17, 19}, 137});
            check_exact_statistics(with, layout);
        }
        for (char const* layout : {"nchw", "nhwc"})
            if (pairs.runs())
                check_stored_conv<fk::half, float>(with, {layout, layout, layout, layout}, {2, 5, 9, 7}, 70,
                                                   {.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1});
    };
    check(device.with<fk::hip::Gemm<128, 128, 8>>());
    check(device.with<fk::hip::Direct<64>>());
}

TEST_CASE("HIP: runs without y write the same other outputs") {
    fk::hip::Device device = gpu();
#ifndef FEWER_KERNELS
    check_stores_without_y<float>(device);
#endif
    Pairs pairs = pairs_on(device);
    if (pairs.runs()) check_stores_without_y<fk::half>(device);
    if (pairs.runs()) check_training_without_y<fk::bfloat16>(device);
}
