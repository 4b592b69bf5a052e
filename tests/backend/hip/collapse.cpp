// SPDX-License-Identifier: MIT
// Runs the tests of tests/tensor/collapse.cpp on a GPU.
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/fewer_kernels.hpp"
#include "backend/hip/gpu.hpp"
#include "support/static_geometries.hpp"

using namespace test;

TEST_CASE("HIP: convolutions of signals and volumes compute what the oracle does") {
    fk::hip::Device device = gpu();
    auto&& on = fewer_kernels<fk::hip::Direct<>>(device);
    check_geometries_of_signals([one = &on](std::uint64_t) -> auto& { return *one; });
    auto gemm = device.with<fk::hip::Gemm<64, 64, 16>>();
    check_geometries_of_volumes([one = &gemm](std::uint64_t) -> auto& { return *one; });
}

TEST_CASE("HIP: residuals and per-pixel parameters of signals and volumes") {
    fk::hip::Device device = gpu();
    auto&& on = fewer_kernels(device);
    check_coordinates_of_signals_and_volumes(on);
}
