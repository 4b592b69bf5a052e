// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/conv_limits.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/far_operands.hpp"

using namespace test;

TEMPLATE_TEST_CASE("HIP: operands of a convolution that are far apart are run over, or refused in words", "", float,
                   fk::half) {
    fk::hip::Device device = gpu();
    FarMemory memory(device);
    auto gemm = device.with<fk::hip::Gemm<64, 64, 8>>();
    auto direct = device.with<fk::hip::Direct<64>>();
    check_far_convs<TestType>(memory, gemm, true);
    check_far_convs<TestType>(memory, direct, false);
}

TEMPLATE_TEST_CASE("HIP: images, parameters and outputs that are far apart are run over", "", float, fk::half) {
    fk::hip::Device device = gpu();
    FarMemory memory(device);
    check_far_images<TestType>(memory, device);
}

TEST_CASE("HIP: what is too far for a GEMM runs without one where the plan has such a kernel") {
    fk::hip::Device device = gpu();
    FarMemory memory(device);
    constexpr std::int64_t far = -(std::int64_t{1} << 32);
    auto const x = memory.place<float>(fk::nchw(1, 2, 1, 1), {1, 10});
    auto const w = memory.place<float>(fk::Layout<4>{{{1, 2, 1, 1}}, {{2, far, 1, 1}}}, {2, 3});
    auto const y = memory.place<float>(fk::nchw(1, 1, 1, 1), {77});
    CHECK(
        refusal([&] { fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = w})(device, x, y); }) ==
        "Plan<Conv<filter(1, 1)>>: Conv.weights: expected filters that reach less than 2^31 elements far, or a Direct "
        "schedule, got strides 2 x -4294967296 x 1 x 1");
    CHECK(memory.wrong(y, {77}) == 0);
    fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = fk::filter(1, 1)})(device, x, y);
    CHECK(memory.wrong(y, {32}) == 0);
}

TEST_CASE("HIP: slices that are far apart are refused where a window reaches over them") {
    fk::hip::Device device = gpu();
    FarMemory memory(device);
    auto gemm = device.with<fk::hip::Gemm<64, 64, 8>>();
    for (std::int64_t const far : {std::int64_t{1} << 31, -(std::int64_t{1} << 31)}) {
        memory.clear();
        auto const x = memory.place<float>(fk::Layout<5>{{{1, 1, 2, 1, 1}}, {{2, 2, far, 1, 1}}}, {1, 10});
        auto const w = memory.place<float>(fk::kctrs(1, 1, 2, 1, 1), {2, 3});
        auto const y = memory.place<float>(fk::ncdhw(1, 1, 1, 1, 1), {77});
        std::string const text =
            refusal([&] { fk::Plan<fk::Conv<fk::filter(2, 1, 1)>>::bind({.weights = w})(gemm, x, y); });
        CHECK((far > 0) == text.starts_with("Plan<Conv<filter(2, 1, 1)>>: x.strides: expected windows that reach "));
        float got = 0;
        device.synchronize();
        device.copy_out(&got, y.data, sizeof got);
        CHECK(got == (far > 0 ? 77 : 32));
    }
}

TEST_CASE("HIP: images whose padding has more than 2^31 rows are refused") {
    fk::hip::Device device = gpu();
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 1), {5}),
               w = fk::tensor<float>(device, fk::kcrs(1, 1, 1, 1), {2});
    auto y = fk::tensor<float>(device, fk::nchw(1, 1, 3, 1), {7, 7, 7});
    auto const layer = [&](int pad) {
        fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = fk::filter(1, 1).pad(pad, 0).stride(pad, 1)})(
            device, x, y);
    };
    CHECK(
        refusal([&] { layer(1 << 30); }) ==
        "Plan<Conv<dynamic>>: x.shape: expected fewer than 2^31 rows and columns, with the padding, got 1 x 1 x 1 x 1");
    CHECK(numbers(y) == std::vector<float>{7, 7, 7});
    layer((1 << 30) - 1);
    CHECK(numbers(y) == std::vector<float>{0, 10, 0});
}
