// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "fusekit/fusekit.hpp"
#include "support/binary_operators.hpp"
#include "support/refusal.hpp"

using namespace test;

namespace {

static_assert(fk::Located<fk::Multiply> && fk::Differentiable<fk::Maximum> && fk::Differentiable<fk::Select>);
static_assert(fk::Fusable<fk::Conv<fk::filter(1, 1)>, fk::Bias, fk::Multiply, fk::Activation<fk::Relu>, fk::Divide>);
static_assert(!fk::Fusable<fk::Multiply, fk::Conv<fk::filter(1, 1)>>);  // a prologue reads no second tensor

template <class Op>
float of(float a, float b) {
    fk::host::Device device(1);
    float result = 0;
    fk::Layout<4> const one = fk::nchw(1, 1, 1, 1);
    fk::Plan<Op>::bind({.z = fk::TensorView<float const>(&b, one)})(device, fk::TensorView<float const>(&a, one),
                                                                    fk::TensorView<float>(&result, one));
    return result;
}

}  // namespace

TEST_CASE("binary operators compute their functions of x and z, for every broadcast of z, and both gradients") {
    fk::host::Device device(2);
    check_binary_operators(device);
}

TEST_CASE("Select ignores x where the mask is 0") {
    fk::host::Device device(2);
    check_select(device);
}

TEST_CASE("Maximum and Minimum are NaN if x or z is") {
    float const nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(std::isnan(of<fk::Maximum>(nan, 1)));
    CHECK(std::isnan(of<fk::Maximum>(1, nan)));
    CHECK(std::isnan(of<fk::Minimum>(nan, 1)));
    CHECK(std::isnan(of<fk::Minimum>(1, nan)));
    CHECK(of<fk::Maximum>(-INFINITY, -1) == -1);
    CHECK(of<fk::Minimum>(INFINITY, -1) == -1);
}

TEST_CASE("binary operators refuse a z of another shape and name the broadcast") {
    fk::host::Device device(1);
    std::vector<float> values(120);
    fk::TensorView<float> const view(values.data(), fk::nchw(2, 3, 4, 5));
    fk::TensorView<float const> const gate(values.data(), fk::nchw(2, 3, 1, 1)),
        other(values.data(), fk::nchw(2, 3, 2, 1));
    std::vector<float> before = values;
    CHECK(refusal([&] { fk::Plan<fk::Multiply>::bind({.z = gate})(device, view, view); }) ==
          "Plan<Multiply>: Multiply.z: expected 2 x 3 x 4 x 5 (N x K x P x Q), got 2 x 3 x 1 x 1: write "
          "fk::broadcast(z, 2, 3, 4, 5)");
    CHECK(refusal([&] { fk::Plan<fk::Divide>::bind({.z = other})(device, view, view); }) ==
          "Plan<Divide>: Divide.z: expected 2 x 3 x 4 x 5 (N x K x P x Q), got 2 x 3 x 2 x 1");
    CHECK(refusal([&] { fk::Plan<fk::Select>::bind({.mask = gate})(device, view, view); }) ==
          "Plan<Select>: Select.mask: expected 2 x 3 x 4 x 5 (N x K x P x Q), got 2 x 3 x 1 x 1: write "
          "fk::broadcast(mask, 2, 3, 4, 5)");
    CHECK(values == before);
}

TEST_CASE("the gradient of a gate is one plan: the mean of x dy over the image, times its pixels") {
    fk::host::Device device(2);
    oracle::Shape const shape{2, 3, 4, 4}, gates{2, 3, 1, 1};
    Filled<float, fk::host::Device, 4> a(device, "nhwc", shape, integers(shape.size(), -4, 4, 3)),
        dy(device, "nhwc", shape, integers(shape.size(), -4, 4, 5));
    Placed<fk::host::Device, 4> gradient(device, fk::DataType::float32, layout_of<4>("nhwc", gates), 64);
    fk::Plan<fk::Multiply, fk::Scale, fk::GlobalAverage>::bind({.z = dy.view()}, {.factor = 16}, {})(
        device, a.view(), gradient.view<float>());
    oracle::Tensor expected(gates);
    for (std::int64_t i = 0; i < shape.size(); ++i)
        expected.at[broadcast_index(shape, gates, i)].value +=
            a.values[static_cast<std::size_t>(i)] * dy.values[static_cast<std::size_t>(i)];
    CHECK(difference(expected, gradient.fetch()) == "");
}
