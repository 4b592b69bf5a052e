// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include "fusekit/fusekit.hpp"
#include "support/refusal.hpp"
#include "support/row_plans.hpp"

using namespace test;

static_assert(fk::RowOp<fk::LayerNorm> && fk::RowOp<fk::Softmax> && !fk::RowOp<fk::Bias> &&
              !fk::RowOp<fk::GlobalAverage>);
static_assert(fk::Fusable<fk::LayerNorm, fk::Activation<fk::Gelu>, fk::Residual, fk::Store>);
static_assert(fk::Fusable<fk::Bias, fk::Residual, fk::Store, fk::LayerNorm> && !fk::Fusable<fk::Amax, fk::LayerNorm>);
static_assert(!fk::Fusable<fk::Conv<fk::filter(1, 1)>, fk::LayerNorm> &&
              !fk::Fusable<fk::LayerNorm, fk::Conv<fk::filter(1, 1)>>);
static_assert(!fk::Fusable<fk::LayerNorm, fk::Softmax> && !fk::Fusable<fk::GroupNorm, fk::Pool<fk::Max, 2, 2>>);
static_assert(!fk::Fusable<fk::LayerNorm, fk::ChannelStatistics>);

TEST_CASE("norms and softmax of rows agree with their definitions, on any layout") {
    fk::host::Device device(2);
    check_rows_of<float, true>(device);
    check_rows_of<fk::half, true>(device);
}

TEST_CASE("operators before a norm of rows are applied once, and their result is rounded to x's type and stored") {
    fk::host::Device device(2);
    check_rows_of_sums<float>(device, {2, 12, 3, 5});
    check_rows_of_sums<fk::half>(device, {1, 38, 2, 3});
}

TEST_CASE("a quantized norm of rows has the maximum of its values") {
    fk::host::Device device(2);
    for (char const* layout : {"nchw", "nhwc"}) {
        check_quantized_rows<fk::int8>(device, layout, {2, 12, 3, 5});
        check_quantized_rows<fk::e4m3>(device, layout, {2, 12, 3, 5});
    }
}

TEST_CASE("rows of matrices are those of the last mode") {
    fk::host::Device device(2);
    float const x[2][3] = {{1, 2, 3}, {-3, 0, 3}};
    float y[2][3] = {};
    auto const matrix = fk::row_major(2, 3);
    auto const run = [&](auto const& layer) {
        layer(device, fk::TensorView<float const, 2>(x[0], matrix), fk::TensorView<float, 2>(y[0], matrix));
    };
    run(fk::Plan<fk::LayerNorm, fk::Scale>::bind({.epsilon = 0x1p-20f}, {.factor = 2}));
    CHECK(std::fabs(y[0][2] - 2 * std::sqrt(1.5)) < 1e-5);
    CHECK(y[0][1] == 0);
    CHECK(std::fabs(y[1][0] + 2 * std::sqrt(1.5)) < 1e-5);
    run(fk::Plan<fk::Softmax>::bind({}));
    CHECK(std::fabs(y[0][0] + y[0][1] + y[0][2] - 1) < 1e-6);
    CHECK(std::fabs(y[0][1] / y[0][0] - std::exp(1)) < 1e-5);
    auto const batch = fk::row_major(1, 2, 3);
    fk::Plan<fk::LogSoftmax, fk::Residual>::bind({}, {.z = fk::TensorView<float const, 3>(x[0], batch)})(
        device, fk::TensorView<float const, 3>(x[0], batch), fk::TensorView<float, 3>(y[0], batch));
    CHECK(std::fabs(y[1][2] - (6 - std::log(std::exp(-3) + 1 + std::exp(3)))) < 1e-5);
}

TEST_CASE("a plan of rows on double computes in double, and in place") {
    fk::host::Device device(2);
    oracle::Shape const shape{2, 6, 2, 3};
    auto const values = row_values(shape.size(), 1000, 3);
    std::vector<double> x = values;
    auto const layout = layout_of<4>("nhwc", shape);
    oracle::Tensor const input(shape, values);
    std::vector<double> const ones(6, 1), zeros(6);
    oracle::Tensor const expected = expected_rows({RowKind::layer, 3}, input, ones, zeros, 0.5);
    Memory<4> memory(fk::DataType::float64, layout, values);
    fk::Plan<fk::GroupNorm>::bind({.groups = 3, .epsilon = 0.5f})(device, memory.view<double const>(),
                                                                  memory.view<double>());
    std::size_t i = 0;
    double worst = 0;
    memory.for_each(
        [&](std::int64_t at) { worst = std::max(worst, std::fabs(memory.get(at) - expected.at[i++].value)); });
    CHECK(worst < 1e-11);
    Filled<float, fk::host::Device, 4> once(device, "nhwc", shape, values), own(device, "nhwc", shape, values);
    Placed<fk::host::Device, 4> apart(device, fk::DataType::float32, layout, 64);
    auto const softmax = fk::Plan<fk::Softmax>::bind({});
    softmax(device, once.view(), apart.view<float>());
    softmax(device, own.view(), own.memory.view<float>());
    CHECK(std::equal(own.memory.fetch().raw().begin(), own.memory.fetch().raw().end(),
                     apart.fetch().raw().begin() + 64 * sizeof(float)));
}

TEST_CASE("a row with NaN or infinity is NaN, and no other row is") {
    fk::host::Device device(1);
    float x[3][4] = {{1, 2, 3, 4}, {1, INFINITY, 3, 4}, {1, 2, NAN, 4}}, y[3][4];
    auto const matrix = fk::row_major(3, 4);
    auto const check = [&](auto const& layer) {
        layer(device, fk::TensorView<float const, 2>(x[0], matrix), fk::TensorView<float, 2>(y[0], matrix));
        CHECK(std::isfinite(y[0][0] + y[0][1] + y[0][2] + y[0][3]));
        CHECK(std::isnan(y[1][1]));
        CHECK((std::isnan(y[2][0]) && std::isnan(y[2][3])));
    };
    check(fk::Plan<fk::LayerNorm>::bind({}));
    check(fk::Plan<fk::Softmax>::bind({}));
    check(fk::Plan<fk::LogSoftmax>::bind({}));
}

TEST_CASE("norms of rows refuse groups that do not divide the channels, and parameters of another length") {
    fk::host::Device device(1);
    std::vector<float> values(2 * 12 * 3), scale(12);
    fk::TensorView<float> const x(values.data(), fk::nchw(2, 12, 1, 3));
    CHECK(refusal([&] { fk::Plan<fk::GroupNorm>::bind({.groups = 5})(device, x, x); }) ==
          "Plan<GroupNorm>: GroupNorm.groups: expected a divisor of K = 12, got 5");
    CHECK(refusal([&] { fk::Plan<fk::GroupNorm>::bind({.groups = 0})(device, x, x); }) ==
          "Plan<GroupNorm>: GroupNorm.groups: expected a divisor of K = 12, got 0");
    CHECK(refusal([&] {
              fk::Plan<fk::LayerNorm>::bind({.scale = fk::TensorView<float const, 1>(scale.data(), fk::channels(3))})(
                  device, x, x);
          }).starts_with("Plan<LayerNorm>: LayerNorm.scale: expected 12"));
    CHECK(refusal([&] { fk::Plan<fk::RmsNorm>::bind({.epsilon = 0})(device, x, x); }) ==
          "Plan<RmsNorm>: RmsNorm.epsilon: expected a finite number above 0, got 0");
    fk::TensorView<float> const empty(values.data(), fk::nchw(0, 12, 1, 3));
    fk::Plan<fk::LayerNorm>::bind({})(device, empty, empty);
}
