// SPDX-License-Identifier: MIT
#include "fusekit/tensor/no_output.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/refusal.hpp"
#include "support/without_y.hpp"

using namespace test;

TEST_CASE("runs without y write the same other outputs") {
    fk::host::Device device(2);
    check_stores_without_y<float>(device);
    check_stores_without_y<fk::half>(device);
    check_training_without_y<float>(device);
    check_training_without_y<fk::bfloat16>(device);
}

TEST_CASE("plans on double and on matrices run without y") {
    fk::host::Device device(1);
    auto const x = fk::random<double>(device, fk::row_major(5, 3)), w = fk::random<double>(device, fk::row_major(4, 3));
    fk::Tensor<double, fk::host::Device, 2> values(device, fk::row_major(5, 4)), other(device, fk::row_major(5, 4));
    using Layer = fk::Plan<fk::Gemm, fk::Store>;
    Layer::bind({.weights = w}, {.values = values})(device, x, fk::no_output);
    auto const y = Layer::bind({.weights = w}, {.values = other})(device, x);
    for (int i = 0; i < 20; ++i) CHECK(values.data()[i] == y.data()[i]);
}

TEST_CASE("a run that would write nothing is refused") {
    fk::host::Device device(1);
    auto const x = fk::random<float>(device, fk::nchw(1, 2, 3, 4));
    auto const layer = fk::Plan<fk::Scale>::bind({.factor = 2});
    std::string const sentence =
        "Plan<Scale>: y: expected a y to write to, because no operator of the plan writes a tensor, got no_output";
    CHECK(refusal([&] { layer(device, x, fk::no_output); }) == sentence);
    CHECK(refusal([&] { static_cast<void>(layer.prepare(device, x, fk::no_output)); }) == sentence);
    auto const run = layer.try_prepare<float>(device, x.layout(), fk::no_output);
    REQUIRE(!run);
    CHECK(run.error().what() == sentence);

    // Optional outputs, omitted.
    auto const ones = fk::tensor<float>(device, fk::channels(2), {1, 1});
    auto const norm = fk::Plan<fk::BatchNormTraining<fk::Spatial>>::bind({.scale = ones, .shift = ones});
    CHECK(refusal([&] { norm(device, x, fk::no_output); }) ==
          "Plan<BatchNormTraining<Spatial>>: y: expected a y to write to, because no operator of the plan writes a "
          "tensor, got no_output");
}

TEST_CASE("a prepared run without y refuses overlapping memory") {
    fk::host::Device device(1);
    auto x = fk::random<float>(device, fk::nchw(1, 2, 3, 4));
    auto const layer = fk::Plan<fk::Store>::bind({.values = x});
    auto const other = fk::random<float>(device, x.layout());
    auto const run = layer.prepare<float>(device, x.layout(), fk::no_output);
    CHECK(!run.try_run(device, other, fk::no_output));
    fk::Refusal const refusal = run.try_run(device, x, fk::no_output);
    REQUIRE(refusal);
    CHECK(std::string(refusal->what()) ==
          "Plan<Store>: Store.values: expected memory apart from the input's, got memory that overlaps it");
}
