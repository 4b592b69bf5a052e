// SPDX-License-Identifier: MIT
// Runs tests of tests/ops/pool.cpp on a GPU.
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/fewer_kernels.hpp"
#include "backend/hip/gpu.hpp"
#include "support/pooled_windows.hpp"

using namespace test;

TEST_CASE("HIP: Pool reads the values at its position, in every layout and type") {
    fk::hip::Device device = gpu();
    check_pooled_windows(device);
    auto&& on = fewer_kernels<fk::hip::NativeGemm<64, 64, 6>>(device);
    check_pooled_convs(on);
}

TEST_CASE("HIP: convolutions write the taps of their pool's maxima, in tiles and per thread") {
    using Taps = fk::Pool<fk::MaxWithTaps, 2, 2>;
    constexpr oracle::Window f{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1};
    fk::hip::Device device = gpu();
    auto tiles = device.with<fk::hip::NativeGemm<128, 64>>();
    check_pooled_channels<Taps, fk::half>(tiles, {"nhwc", "nhwc"}, {2, 5, 10, 6}, 19, f);
    check_pooled_channels<Taps, fk::half>(tiles, {"nchw", "nchw*2"}, {2, 5, 10, 6}, 70, f);
    auto threads = device.with<fk::hip::Direct<>>();
    check_pooled_channels<Taps, float>(threads, {"nhwc", "nchw"}, {2, 5, 4, 6}, 7, f);
}
