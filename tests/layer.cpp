// SPDX-License-Identifier: MIT
#include <fusekit/backend/host/device.hpp>
#include <fusekit/layer.hpp>

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <string>
#include <vector>

#include "support/layer_plans.hpp"
#include "support/refusal.hpp"

namespace fk = fusekit;
using test::refusal;

// This unit includes no plan and no backend loop.
template <class T = fk::host::Device>
concept KnowsPlans = requires { sizeof(fk::BoundPlan<T>); };
static_assert(!KnowsPlans<>);

namespace {

struct Convolution {
    fk::host::Device device{1};
    fk::Tensor<float, fk::host::Device> x = fk::tensor<float>(device, fk::nchw(1, 2, 2, 2), {1, 2, 3, 4, 5, 6, 7, 8});
    fk::Tensor<float, fk::host::Device> w = fk::tensor<float>(device, fk::kcrs(3, 2, 1, 1), {1, 0, 0, 1, 1, 1});
    fk::Tensor<float, fk::host::Device, 1> b = fk::tensor<float>(device, fk::channels(3), {10, 20, 30});
    HostLayer layer = pointwise_convolution(w, b);
    std::vector<float> const expected = {11, 12, 13, 14, 25, 26, 27, 28, 36, 38, 40, 42};
};

template <class T>
std::vector<float> values_of(T const& tensor) {
    std::vector<std::remove_cvref_t<decltype(*tensor.data())>> values(static_cast<std::size_t>(tensor.size()));
    tensor.copy_to(values.data());
    return {values.begin(), values.end()};
}

TEST_CASE_METHOD(Convolution, "A Layer runs a plan that its unit does not know", "[layer]") {
    CHECK(values_of(layer(device, x)) == expected);

    fk::Tensor<float, fk::host::Device> y(device, fk::nhwc(1, 2, 2, 3));
    y.copy_from(std::vector<float>(12, std::numeric_limits<float>::quiet_NaN()).data());
    layer(device, x, y);
    CHECK(values_of(y) == std::vector<float>{11, 25, 36, 12, 26, 38, 13, 27, 40, 14, 28, 42});
}

TEST_CASE_METHOD(Convolution, "A Layer returns its plan's output shape and name", "[layer]") {
    CHECK(layer.output_shape({{5, 2, 9, 7}}) == fk::Index<4>{{5, 3, 9, 7}});
    CHECK(average_pool().output_shape({{5, 2, 8, 6}}) == fk::Index<4>{{5, 2, 4, 3}});
    CHECK(layer.name() == "Plan<Conv<filter(1, 1)>, Bias>");
}

TEST_CASE_METHOD(Convolution, "Layers are values: copied, moved, and replaced by layers of other plans", "[layer]") {
    std::vector<HostLayer> layers(2, layer);
    layers.push_back(average_pool());
    layer = layers[2];
    CHECK(values_of(layer(device, x)) == std::vector<float>{2.5, 6.5});
    HostLayer moved = std::move(layers[2]);
    layers[2] = layers[1];
    layers.erase(layers.begin());
    CHECK(values_of(moved(device, x)) == std::vector<float>{2.5, 6.5});
    for (HostLayer const& each : layers) CHECK(values_of(each(device, x)) == expected);
}

TEST_CASE_METHOD(Convolution, "A Layer refuses what its plan refuses, and does not change y", "[layer]") {
    auto const wrong = fk::random<float>(device, fk::nchw(1, 3, 2, 2));
    std::vector<float> const before(12, 7);
    fk::Tensor<float, fk::host::Device> y(device, fk::nchw(1, 3, 2, 2));
    y.copy_from(before.data());
    std::string const weights = "Plan<Conv<filter(1, 1)>, Bias>: Conv<filter(1, 1)>.weights: ";
    CHECK(refusal([&] { layer(device, wrong, y); }).starts_with(weights));
    CHECK(refusal([&] { static_cast<void>(layer(device, wrong)); }).starts_with(weights));
    CHECK(values_of(y) == before);
}

TEST_CASE("Layers have any element type and number of modes", "[layer]") {
    fk::host::Device device(1);
    auto const x = fk::tensor<fk::half>(device, fk::ncw(1, 1, 3), {fk::half(-1), fk::half(2), fk::half(-3)});
    CHECK(values_of(relu_of_signals()(device, x)) == std::vector<float>{0, 2, 0});
}

}  // namespace
