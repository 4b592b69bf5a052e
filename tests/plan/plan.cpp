// SPDX-License-Identifier: MIT
#include "fusekit/plan/plan.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <thread>
#include <type_traits>
#include <vector>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;

namespace {

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;
using Layer = fk::Plan<Conv, fk::Bias, Relu>;

/// Trivially copyable, as a kernel argument must be, and as large as its arguments.
static_assert(std::is_trivially_copyable_v<fk::BoundPlan<Layer>> &&
              std::is_trivially_destructible_v<fk::BoundPlan<Layer>>);
static_assert(std::is_trivially_copyable_v<
              fk::BoundPlan<fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, Norm, Relu, fk::Residual, fk::Scale>>>);
static_assert(std::is_trivially_copyable_v<fk::BoundPlan<fk::Plan<fk::BatchNormInference<fk::PerActivation>>>>);
static_assert(std::is_empty_v<Layer> &&
              std::is_same_v<decltype(Layer::bind(std::declval<Conv::Args>(), std::declval<fk::Bias::Args>(), {})),
                             fk::BoundPlan<Layer>>);
static_assert(Layer::has_conv && !fk::Plan<Relu>::has_conv);

std::vector<float> values(auto const& tensor) {
    std::vector<float> all(static_cast<std::size_t>(tensor.layout().span()));
    tensor.copy_to(all.data());
    return all;
}
bool same_bits(std::vector<float> const& a, std::vector<float> const& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

struct Fixture {
    fk::host::Device device{2};
    fk::Tensor<float, fk::host::Device> x = fk::random<float>(device, fk::nhwc(2, 9, 11, 6), 1);
    fk::Tensor<float, fk::host::Device> w = fk::random<float>(device, fk::krsc(10, 3, 3, 6), 2);
    fk::Tensor<float, fk::host::Device, 1> b = fk::random<float>(device, fk::channels(10), 3);
    fk::BoundPlan<Layer> layer = Layer::bind({.weights = w}, {.bias = b}, {});
};

}  // namespace

TEST_CASE_METHOD(Fixture, "arguments bind by braces, by type in plan order, and by type in any") {
    auto const expected = values(layer(device, x));
    CHECK(std::any_of(expected.begin(), expected.end(), [](float v) { return v > 0; }));
    Conv::Args const conv{.weights = w};
    fk::Bias::Args const bias{.bias = b};
    Relu::Args const relu{};
    CHECK(same_bits(values(Layer::bind(conv, bias, relu)(device, x)), expected));
    CHECK(same_bits(values(Layer::bind_by_type(conv, relu, bias)(device, x)), expected));
    CHECK(same_bits(values(Layer::bind_by_type(bias, conv, relu)(device, x)), expected));
    CHECK(same_bits(values(Layer::bind_by_type(bias, relu, conv)(device, x)), expected));
    CHECK(same_bits(values(Layer::bind_by_type(relu, conv, bias)(device, x)), expected));
    CHECK(same_bits(values(Layer::bind_by_type(relu, bias, conv)(device, x)), expected));
}

/// Declared as in HIP's headers for other compilers.
typedef struct {
    std::uint16_t data;
} hip_bfloat16;

TEST_CASE("tensors and views of an application's own element types go in and come out") {
    using Sum = fk::Plan<fk::Bias, fk::Residual, fk::Store, Relu>;
    fk::host::Device device;
    auto const layout = fk::nchw(2, 3, 5, 7);
    auto const same = [](float v) { return hip_bfloat16{fk::bfloat16(v).bits}; };
    hip_bfloat16 const poison{0x7fc0};
    std::vector<hip_bfloat16> in(210), all(210, poison), stored(210, poison), bias = {same(1), same(-2), same(3)};
    for (int i = 0; i < 210; ++i) in[static_cast<std::size_t>(i)] = same(static_cast<float>(i % 9 - 4));
    fk::Tensor<hip_bfloat16, fk::host::Device> x(device, layout),
        z = fk::Tensor<hip_bfloat16, fk::host::Device>(device, layout);
    fk::Tensor<hip_bfloat16, fk::host::Device> y(device, layout), values(device, layout);
    x.copy_from(in.data()), z.copy_from(in.data()), y.copy_from(all.data()), values.copy_from(all.data());
    fk::TensorView<hip_bfloat16 const, 4> const b(bias.data(), fk::nchw(1, 3, 1, 1));
    fk::TensorView<hip_bfloat16> const to(y.data(), layout), kept(values.data(), layout);

    auto const sum = Sum::bind({.bias = b}, {.z = z}, {.values = kept}, {});
    sum(device, fk::TensorView<hip_bfloat16 const>(x.data(), layout), to);
    y.copy_to(all.data()), values.copy_to(stored.data());
    fk::Tensor<hip_bfloat16, fk::host::Device> const made = sum(device, x);
    for (int i = 0; i < 210; ++i) {
        auto const at = static_cast<std::size_t>(i);
        int const k = i / 35 % 3, expected = 2 * (i % 9 - 4) + (k == 0 ? 1 : k == 1 ? -2 : 3);
        INFO("element " << i);
        REQUIRE(stored[at].data == same(static_cast<float>(expected)).data);
        REQUIRE(all[at].data == same(static_cast<float>(expected < 0 ? 0 : expected)).data);
        REQUIRE(made.data()[i].data == all[at].data);
    }
}

TEST_CASE_METHOD(Fixture, "the output has the derived shape and the input's layout") {
    auto const y = layer(device, x);
    CHECK(y.layout() == fk::nhwc(2, 9, 11, 10));
    CHECK(layer.output_shape({{5, 6, 20, 30}}) == fk::Index<4>{{5, 10, 20, 30}});
    auto const planar = fk::random<float>(device, fk::nchw(2, 6, 9, 11));
    CHECK(layer(device, planar).layout() == fk::nchw(2, 10, 9, 11));
    CHECK(fk::Plan<Relu>::bind({}).output_shape({{1, 2, 3, 4}}) == fk::Index<4>{{1, 2, 3, 4}});
}

TEST_CASE("results of signals and volumes have x's rank and layout") {
    fk::host::Device device;
    auto const x1 = fk::random<float>(device, fk::nwc(2, 9, 3)), w1 = fk::random<float>(device, fk::kcs(5, 3, 2));
    auto const x3 = fk::random<float>(device, fk::ncdhw(2, 3, 4, 5, 6)),
               w3 = fk::random<float>(device, fk::kctrs(7, 3, 2, 3, 4));
    auto const one = fk::Plan<fk::Conv<fk::filter(2)>>::bind({.weights = w1});
    auto const three = fk::Plan<fk::Conv<fk::filter(2, 3, 4).stride(2, 1, 1)>>::bind({.weights = w3});
    CHECK(one(device, x1).layout() == fk::nwc(2, 8, 5));
    CHECK(three(device, x3).layout() == fk::ncdhw(2, 7, 2, 3, 3));
    CHECK(three.output_shape(x3.layout().shape) == fk::Index<5>{{2, 7, 2, 3, 3}});
    CHECK(fk::Plan<Relu>::bind({})(device, x3).layout() == x3.layout());
}

TEST_CASE_METHOD(Fixture, "an output that the caller owns gets the same bits, as a tensor and as a view") {
    auto const expected = values(layer(device, x));
    fk::Tensor<float, fk::host::Device> y(device, fk::nhwc(2, 9, 11, 10)), z(device, fk::nhwc(2, 9, 11, 10));
    layer(device, x, y);
    CHECK(same_bits(values(y), expected));
    layer(device, x.const_view(), z.view());
    CHECK(same_bits(values(z), expected));
    fk::TensorView<float> const view = z;
    layer(device, x.view(), view);
    CHECK(same_bits(values(z), expected));
}

TEST_CASE_METHOD(Fixture, "a bound plan is a value: copies run alike, arguments are read when it runs") {
    auto const expected = values(layer(device, x));
    auto copy = layer;
    CHECK(same_bits(values(copy(device, x)), expected));

    auto const other = fk::random<float>(device, fk::channels(10), 4);
    fk::detail::get<0>(copy.epilogue).bias = other;
    CHECK(!same_bits(values(copy(device, x)), expected));
    CHECK(same_bits(values(copy(device, x)), values(Layer::bind({.weights = w}, {.bias = other}, {})(device, x))));
    CHECK(same_bits(values(layer(device, x)), expected));

    b.copy_from(values(other).data());  // the same memory, new values
    CHECK(same_bits(values(layer(device, x)), values(copy(device, x))));
}

TEST_CASE_METHOD(Fixture, "a bound plan runs on inputs of any size and type that fits") {
    auto const small = fk::random<float>(device, fk::nchw(1, 6, 2, 3));
    CHECK(layer(device, small).layout() == fk::nchw(1, 10, 2, 3));
    auto const half_x = fk::random<fk::half>(device, fk::nhwc(2, 9, 11, 6), 1);
    auto const half_w = fk::random<fk::half>(device, fk::krsc(10, 3, 3, 6), 2);
    auto const y = Layer::bind({.weights = half_w}, {.bias = b}, {})(device, half_x);
    auto const reference = values(layer(device, x));
    std::vector<fk::half> halves(reference.size());
    y.copy_to(halves.data());
    float worst = 0;
    for (std::size_t i = 0; i < halves.size(); ++i)
        worst = std::max(worst, std::abs(static_cast<float>(halves[i]) - reference[i]));
    CHECK(worst < 0.02f);  // 54 products of inputs rounded to 2^-12, and a result up to 8 rounded to 2^-9
}

TEST_CASE_METHOD(Fixture, "the numbers do not depend on the threads") {
    auto const expected = values(layer(device, x));
    for (int threads : {1, 2, 3, 5, 8}) {
        fk::host::Device other(threads);
        CHECK(same_bits(values(layer(other, x)), expected));
    }
}

TEST_CASE_METHOD(Fixture, "one bound plan runs from many threads, on one device and on their own") {
    auto const expected = values(layer(device, x));
    for (bool const shared : {true, false}) {
        std::vector<std::vector<float>> results(6);
        std::vector<std::thread> threads;
        for (auto& result : results)
            threads.emplace_back([&, shared] {
                fk::host::Device own(2);
                fk::host::Device& here = shared ? device : own;
                for (int i = 0; i < 20; ++i) {
                    result = values(layer(here, x));
                    if (!same_bits(result, expected)) break;
                }
            });
        for (auto& thread : threads) thread.join();
        for (auto const& result : results) CHECK(same_bits(result, expected));
    }
}

TEST_CASE("a plan runs on a temporary device, into a new tensor too") {
    fk::host::Device device;
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 3), {-1, 0, 2});
    auto const y = fk::Plan<fk::Scale>::bind({.factor = 3})(fk::host::Device(1), x);
    CHECK(std::vector<float>(y.data(), y.data() + 3) == std::vector<float>{-3, 0, 6});
}
