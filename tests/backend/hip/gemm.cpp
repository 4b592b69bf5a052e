// SPDX-License-Identifier: MIT
#include "fusekit/ops/gemm.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/fewer_kernels.hpp"
#include "backend/hip/gpu.hpp"
#include "support/matrix_products.hpp"

using namespace test;

// bfloat16 has the kernels of half, with other instructions, which tests of atom/, mma/ and mainloop/ run. With
// FEWER_KERNELS the library chooses for the plan of the last comparison, and for all plans of batched_gemm.cpp.
TEMPLATE_TEST_CASE("HIP: Gemm agrees with the oracle and is bitwise identical to a 1x1 convolution", "", float,
                   fk::half, fk::int8) {
    fk::hip::Device device = gpu();
    auto&& on = fewer_kernels(device);
    check_products<TestType>(on);
    constexpr bool chosen = fk::Device<std::remove_cvref_t<decltype(on)>>;  // by the library
    if constexpr (std::is_same_v<TestType, fk::half> && !chosen) check_same_bits_as_conv<TestType>(device);
}

TEST_CASE("HIP: Gemm runs with every schedule of a convolution") {
    fk::hip::Device device = gpu();
    Product const product{3, 5, 7, 9, "bmk", "mk", "mbk", "bmk"};
    auto gemm = device.with<fk::hip::Gemm<64, 64, 16>>();
    auto direct = device.with<fk::hip::Direct<64>>();
    check_product<float, 3>(gemm, product);
    check_product<float, 3>(direct, product);
    auto split = device.with<fk::hip::Split<fk::hip::Gemm<64, 64, 16>, 4>>();
    Product const own{3, 70, 20, 300, "bmk", "bmk", "bmk", "bmk"};
    check_product<float, 3, decltype(gemm), fk::BatchedGemm>(gemm, own);
    check_product<float, 3, decltype(direct), fk::BatchedGemm>(direct, own);
    check_product<float, 3, decltype(split), fk::BatchedGemm>(split, own);
}

TEST_CASE("HIP: ChannelStatistics after a Gemm are per column") {
    fk::hip::Device device = gpu();
    check_column_statistics(device);
}

TEST_CASE("HIP: a Gemm refuses offsets beyond 32 bits in terms of rows and columns") {
    fk::hip::Device device = gpu();
    constexpr std::int64_t far = std::int64_t{1} << 32;
    auto memory = fk::tensor<float>(device, fk::channels(3), {77, 1, 10});
    fk::TensorView<float, 2> const y(memory.data(), fk::row_major(1, 1));  // at a lower address than all inputs
    fk::TensorView<float const, 2> const near(memory.data() + 1, fk::row_major(1, 2)),
        apart(memory.data() + 1, {{{1, 2}}, {{2, far}}});
    using Layer = fk::Plan<fk::Gemm>;
    auto gemm = device.with<fk::hip::Gemm<64, 64, 8>>();
    CHECK(refusal([&] { Layer::bind({.weights = near})(gemm, apart, y); }) ==
          "Plan<Gemm>: x.strides: expected rows that reach less than 2^31 elements far, or a Direct schedule, got "
          "strides 2 x 4294967296");
    CHECK(refusal([&] { Layer::bind({.weights = apart})(gemm, near, y); }) ==
          "Plan<Gemm>: Gemm.weights: expected rows that reach less than 2^31 elements far, or a Direct schedule, got "
          "strides 2 x 4294967296");
    fk::TensorView<float const, 2> const many(memory.data() + 1, {{{1, 1 << 30}}, {{0, 0}}});
    CHECK(refusal([&] { Layer::bind({.weights = many})(device, many, y); }) ==
          "Plan<Gemm>: x.shape: expected extents below 2^30, got 1 x 1073741824");
    float got[3] = {};
    device.synchronize();
    memory.copy_to(got);
    CHECK(got[0] == 77);
}
