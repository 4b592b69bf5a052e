// SPDX-License-Identifier: MIT
// y of another element type than x.
#include <catch2/catch_test_macros.hpp>

#include "support/device_of.hpp"
#include "support/mixed_types.hpp"

using namespace test;

namespace {

using Layer = fk::Plan<fk::Scale>;

template <class Y>
using TensorOf = fk::Tensor<Y, fk::host::Device>;

}  // namespace

TEST_CASE("plans compute what the oracle does into y of every other element type") {
    check_mixed_types(device_of, 6, 2e6);
}

TEST_CASE("products, reductions, pools and statistics write y of other element types") {
    fk::host::Device device(2);
    check_mixed_heads(device);
}

TEST_CASE("a result is rounded once, to y's type, and int8 saturates") {
    fk::host::Device device(1);
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 8), {0.5f, 1.5f, 2.5f, -0.5f, 200, -200, 1e9f, 2049});
    auto const layer = Layer::bind({.factor = 1});
    fk::int8 const integers[] = {0, 2, 2, 0, 127, -128, 127, 127};
    auto const rounded = layer.as<fk::int8>(device, x);
    for (int i = 0; i < 8; ++i) CHECK(rounded.data()[i].value == integers[i].value);

    // 2049 is halfway between two halves; bfloat16 rounds it to 2048 too, so the intermediate type would not show
    CHECK(float{layer.as<fk::half>(device, x).data()[7]} == 2048);
    auto const halves = fk::tensor<fk::half>(device, fk::nchw(1, 1, 1, 2), {fk::half(1.0009765625f), fk::half(3)});
    auto const tripled = fk::Plan<fk::Scale>::bind({.factor = 3});
    CHECK(tripled.as<float>(device, halves).data()[0] == 3.0029296875f);  // not a half
    CHECK(float{tripled(device, halves).data()[0]} == 3.00390625f);
}

TEST_CASE("a new y has x's element type, or the requested one, and x's layout") {
    fk::host::Device device(1);
    auto const x = fk::random<fk::half>(device, fk::nhwc(2, 3, 5, 4));
    auto const layer = Layer::bind({.factor = 0.5f});
    static_assert(std::is_same_v<decltype(layer(device, x)), TensorOf<fk::half>>);
    static_assert(std::is_same_v<decltype(layer.as<fk::half>(device, x)), TensorOf<fk::half>>);
    static_assert(std::is_same_v<decltype(layer.as<float>(device, x)), TensorOf<float>>);
    static_assert(std::is_same_v<decltype(layer.as<signed char>(device, x)), TensorOf<signed char>>);
    auto const y = layer.as<float>(device, x);
    CHECK(y.layout() == x.layout());
    for (int i = 0; i < x.size(); ++i) CHECK(y.data()[i] == 0.5f * float{x.data()[i]});
}

TEST_CASE("prepared runs and layers write y of another element type") {
    fk::host::Device device(1);
    auto const x = fk::random<fk::int8>(device, fk::nchw(2, 3, 4, 5));
    auto const layer = Layer::bind({.factor = 0.25f});
    auto const expected = layer.as<float>(device, x);
    auto const check = [&](auto const& write) {
        TensorOf<float> y(device, x.layout());
        write(y);
        for (int i = 0; i < y.size(); ++i) CHECK(y.data()[i] == expected.data()[i]);
    };
    check([&](auto& y) { layer.prepare(device, x, y)(device, x, y); });
    check([&](auto& y) { layer.prepare<fk::int8, float>(device, x.layout(), y.layout())(device, x.data(), y.data()); });
    check(
        [&](auto& y) { layer.try_prepare<fk::int8, float>(device, x.layout(), y.layout(), 1).value()(device, x, y); });
    fk::Layer<fk::int8, fk::host::Device, 4, float> const any = layer;
    check([&](auto& y) { any(device, x, y); });
    check([&](auto& y) { y = any(device, x); });
}

TEST_CASE("a prepared run requires the alignment of each tensor's element type") {
    fk::host::Device device(1);
    fk::Layout<4> const layout = fk::nchw(1, 1, 1, 4);
    auto const run = Layer::bind({.factor = 2}).prepare<fk::int8, float>(device, layout, layout, 1);
    alignas(16) fk::int8 x[5] = {};
    alignas(16) char memory[24] = {};
    for (int i = 0; i < 5; ++i) x[i] = fk::int8(static_cast<float>(i));
    auto* const y = reinterpret_cast<float*>(memory + 4);
    run(device, x + 1, y);
    for (int i = 0; i < 4; ++i) CHECK(y[i] == 2 * static_cast<float>(i + 1));
    auto const refusal = run.try_run(device, x, reinterpret_cast<float*>(memory + 2));
    REQUIRE(refusal);
    CHECK(std::string(refusal->what()) ==
          "Plan<Scale>: y: expected memory aligned to 4 bytes, as it was prepared for, got a multiple of 2");
    auto const wrong = Layer::bind({.factor = 2}).try_prepare<fk::int8, float>(device, layout, layout, 3);
    REQUIRE(!wrong);
    CHECK(std::string(wrong.error().what()) ==
          "Plan<Scale>: prepare.alignment: expected a power of two, 1 or more, got 3");
}

TEST_CASE("bytes of y are counted in y's element type") {
    fk::host::Device device(1);
    alignas(16) char memory[64] = {};
    auto const layer = Layer::bind({.factor = 1});
    fk::Layout<4> const layout = fk::nchw(1, 1, 1, 8);
    fk::TensorView<float> const y(reinterpret_cast<float*>(memory), layout);  // bytes 0 to 31
    auto const x_at = [&](int byte) {
        return fk::TensorView<fk::int8 const>(reinterpret_cast<fk::int8*>(memory + byte), layout);
    };
    CHECK_NOTHROW(layer(device, x_at(32), y));
    CHECK_THROWS_AS(layer(device, x_at(31), y), fk::Error);
    CHECK_THROWS_AS(layer(device, x_at(9), y), fk::Error);
}

TEST_CASE("x may be y if the plan runs in place and their types are equal") {
    fk::host::Device device(1);
    fk::Layout<4> const layout = fk::nchw(1, 1, 1, 8);
    alignas(16) char memory[16] = {};
    auto const layer = Layer::bind({.factor = 1});
    fk::TensorView<fk::half> const x(reinterpret_cast<fk::half*>(memory), layout);
    fk::TensorView<fk::bfloat16> const y(reinterpret_cast<fk::bfloat16*>(memory), layout);
    CHECK_NOTHROW(layer(device, x, x));
    CHECK_THROWS_AS(layer(device, x, y), fk::Error);
    CHECK_NOTHROW(layer.prepare(device, x, x)(device, x, x));
    auto const run = layer.prepare<fk::half, fk::bfloat16>(device, layout, layout);
    CHECK(run.try_run(device, x, y));
}
