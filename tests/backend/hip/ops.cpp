// SPDX-License-Identifier: MIT
// Runs the tests of tests/ops/ on a GPU.
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "backend/hip/fewer_kernels.hpp"
#include "backend/hip/gpu.hpp"
#include "support/activation_plans.hpp"
#include "support/binary_operators.hpp"
#include "support/infinite_values.hpp"
#include "support/large_means.hpp"
#include "support/odd_variances.hpp"
#include "support/static_geometries.hpp"

using namespace test;

TEST_CASE("HIP: convolutions of geometries known at compile time compute what the oracle does") {
    fk::hip::Device device = gpu();
    auto&& on = fewer_kernels(device);
    check_geometries([one = &on](std::uint64_t) -> auto& { return *one; });
}

TEST_CASE("HIP: padding is zeros times weights: infinity and NaN agree on every path") {
    fk::hip::Device device = gpu();
    check_infinite_values<float, fk::Products<float>>(device);
    check_infinite_values<float>(device, true);
    auto const check = [](auto with) { check_infinite_values<float>(with); };
    check(device.with<fk::hip::Gemm<64, 64, 16>>());
    check(device.with<fk::hip::Direct<64>>());
}

TEST_CASE("HIP: a negative variance gives NaN, others follow the equation") {
    fk::hip::Device device = gpu();
    check_odd_variances<float, fk::Spatial>(device);
    check_odd_variances<float, fk::PerActivation>(device);
}

// The filters of 1 x 1 are the identity, so that y is the prologue's values.
TEST_CASE("HIP: a group norm from statistics does not cancel where the mean is large beside the deviation") {
    fk::hip::Device device = gpu();
    std::vector<float> identity(12 * 12);
    for (std::size_t k = 0; k < 12; ++k) identity[13 * k] = 1;
    fk::Tensor<float, fk::hip::Device> weights(device, fk::krsc(12, 1, 1, 12));
    weights.copy_from(identity.data());
    using Plan = fk::Plan<fk::GroupNormFromStatistics, fk::Conv<fk::filter(1, 1)>>;
    CHECK(wrong_norms_of_large_means<float>(device, 1e4f, [&](auto const& args, auto const& x, auto& y) {
              Plan::bind(args, {.weights = weights})(device.with<fk::hip::Gemm<64, 64, 16>>(), x, y);
          }) == 0);
}

TEST_CASE("HIP: every activation agrees with the host") {
    fk::hip::Device device = gpu();
    CHECK(wrong_values_of_activations(device) == 0);
    CHECK(wrong_values_of_functions(device) == 0);
}

// The host's tests cover the other functions, which are instantiated likewise.
TEST_CASE("HIP: binary operators read every broadcast of z, and write both gradients") {
    fk::hip::Device device = gpu();
    check_binary<fk::Multiply>(device, product);
    check_binary<fk::Maximum>(device, larger);
    check_select(device);
}

TEST_CASE("HIP: a convolution's epilogue multiplies by a gate for each image and channel") {
    fk::hip::Device device = gpu();
    check_binary_after_conv<fk::Multiply, fk::half>(device, product, "nchw");
    check_binary_after_conv<fk::Multiply, fk::half>(device, product, "nhwc");
}

TEST_CASE("HIP: views may have negative and zero strides") {
    fk::hip::Device device = gpu();
    auto const numbers = fk::tensor<float>(device, fk::channels(6), {1, 2, 3, 4, 5, 6});
    auto const ones = fk::tensor<float>(device, fk::channels(9), {1, 1, 1, 1, 1, 1, 1, 1, 1});
    fk::TensorView<float const> const backwards(numbers.data() + 5, {{{1, 1, 2, 3}}, {{-6, -6, -3, -1}}});
    fk::TensorView<float const> const repeated(numbers.data(), {{{2, 3, 2, 3}}, {{0, 0, 3, 1}}});
    fk::TensorView<float const> const one_weight(ones.data(), {{{4, 3, 1, 1}}, {{0, 0, 0, 0}}});
    fk::TensorView<float const> const nine(ones.data(), fk::kcrs(1, 1, 3, 3));
    std::vector<float> sums(6), mix(48);
    fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>::bind({.weights = nine})(device, backwards).copy_to(sums.data());
    CHECK(sums == std::vector<float>{16, 21, 12, 16, 21, 12});  // x = 6 5 4 / 3 2 1
    auto const y = fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = one_weight})(device, repeated);
    y.copy_to(mix.data());
    for (int i = 0; i < 48; ++i) {
        std::int64_t const at = y.layout().offset({{i / 24, i / 6 % 4, i / 3 % 2, i % 3}});
        CHECK(mix[static_cast<std::size_t>(at)] == static_cast<float>(3 * (i % 6 + 1)));
    }
    auto const reversed = fk::Plan<fk::Scale>::bind({.factor = 2})(device, backwards);
    reversed.copy_to(sums.data());
    CHECK(sums == std::vector<float>{12, 10, 8, 6, 4, 2});
}
