// SPDX-License-Identifier: MIT
#include "fusekit/ops/pool/gradient.hpp"

#include "support/refusal.hpp"
#include "support/resampled.hpp"

using namespace test;
using Three = fk::PoolGradient<fk::Average, fk::filter(3, 3).stride(2).pad(1)>;
using Halves = fk::PoolGradient<fk::Average, 2, 2>;

static_assert(fk::GatherOp<Three> && !fk::EpilogueOp<Three> && !fk::GatherOp<fk::LayerNorm>);
static_assert(fk::Fusable<Three, fk::Bias, fk::Activation<fk::Relu>> && !fk::Fusable<fk::Bias, Three>);
static_assert(!fk::Fusable<Three, fk::Conv<fk::filter(1, 1)>> && !fk::Fusable<Three, fk::Pool<fk::Max, 2, 2>>);

constexpr auto numbers = fk::literal<fk::nchw(1, 1, 1, 2)>(4, 8);
static_assert(fk::Plan<Halves>::evaluate(numbers, {}) == fk::literal<fk::nchw(1, 1, 2, 4)>(1, 1, 2, 2, 1, 1, 2, 2));
static_assert(fk::Plan<fk::PoolGradient<fk::Average, fk::filter(1, 2)>, fk::Scale>::evaluate(numbers, {},
                                                                                             {.factor = 2}) ==
              fk::literal<fk::nchw(1, 1, 1, 3)>(4, 12, 8));

TEST_CASE("gradients of pools are those of the scattered definition, in every layout and type") {
    for (int const threads : {1, 2}) {
        fk::host::Device device(threads);
        check_pool_gradients<float>(device);
    }
    fk::host::Device device(2);
    check_pool_gradients<fk::half>(device);
    check_pool_gradients<fk::bfloat16>(device);
    check_pool_gradients<double>(device);
}

TEST_CASE("PoolGradient takes every dx that its Pool maps to dy, and no other") {
    fk::host::Device device(1);
    auto const dy = fk::random<float>(device, fk::nchw(2, 3, 4, 5));
    auto const of = [&](std::int64_t h, std::int64_t w) {
        auto dx = fk::random<float>(device, fk::nchw(2, 3, h, w));
        return refusal([&] { fk::Plan<Three>::bind({})(device, dy, dx); });
    };
    CHECK(fk::Plan<Three>::bind({})(device, dy).layout().shape == fk::nchw(2, 3, 7, 9).shape);
    CHECK(of(7, 9) == "accepted");
    CHECK(of(8, 10) == "accepted");
    CHECK(of(8, 11) ==
          "Plan<PoolGradient<Average, filter(3, 3).pad(1).stride(2)>>: y: expected an x that Pool<Average, filter(3, "
          "3).pad(1).stride(2)> maps to dy, the smallest 2 x 3 x 7 x 9, got 2 x 3 x 8 x 11");
    auto odd = fk::random<float>(device, fk::nchw(2, 3, 9, 10));
    CHECK(refusal([&] { fk::Plan<Halves>::bind({})(device, dy, odd); }) ==
          "Plan<PoolGradient<Average, 2, 2>>: y: expected 2 x 3 x 8 x 10, got 2 x 3 x 9 x 10");
    auto const signal = fk::random<float>(device, fk::ncw(2, 3, 5));
    CHECK(refusal([&] { static_cast<void>(fk::Plan<Three>::bind({})(device, signal)); }) ==
          "Plan<PoolGradient<Average, filter(3, 3).pad(1).stride(2)>>: PoolGradient<Average, filter(3, "
          "3).pad(1).stride(2)>: expected dy of images, N x K x P x Q, got 2 x 3 x 5");
}

TEST_CASE("PoolGradient refuses dy of a shape that its Pool does not have") {
    fk::host::Device device(1);
    using Wide = fk::Plan<fk::PoolGradient<fk::Average, fk::filter(3, 3).pad(2)>>;  // P = H + 2
    auto const dy = fk::random<float>(device, fk::nchw(1, 1, 1, 4));
    CHECK(refusal([&] { static_cast<void>(Wide::bind({})(device, dy)); }) ==
          "Plan<PoolGradient<Average, filter(3, 3).pad(2)>>: PoolGradient<Average, filter(3, 3).pad(2)>: expected dy "
          "of a "
          "shape that Pool<Average, filter(3, 3).pad(2)> has, got 1 x 1 x 1 x 4");
}

TEST_CASE("MaxWithTaps refuses taps of another shape, and writes nothing then") {
    fk::host::Device device(1);
    using Layer = fk::Plan<fk::Pool<fk::MaxWithTaps, 2, 2>>;
    auto const x = fk::random<float>(device, fk::nchw(1, 2, 4, 6));
    auto taps = fk::tensor<fk::int8>(device, fk::nchw(1, 2, 2, 2), {9, 9, 9, 9, 9, 9, 9, 9});
    auto y = fk::tensor<float>(device, fk::nchw(1, 2, 2, 3), {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7});
    CHECK(
        refusal([&] { Layer::bind({.taps = taps.view()})(device, x, y); }) ==
        "Plan<Pool<MaxWithTaps, 2, 2>>: Pool<MaxWithTaps, 2, 2>.taps: expected 1 x 2 x 2 x 3 (N x K x P x Q), got 1 x "
        "2 x 2 x 2");
    for (int i = 0; i < 12; ++i) CHECK(y.data()[i] == 7);
    for (int i = 0; i < 8; ++i) CHECK(taps.data()[i].value == 9);
}

TEST_CASE("MaxWithTaps has the first NaN, and the first element of a window of negative infinities") {
    fk::host::Device device(1);
    float const nan = std::nanf(""), least = -INFINITY;
    std::vector<float> const values{1, nan, nan, 2, least, least, least, least};
    fk::TensorView<float const> const x(values.data(), fk::nchw(1, 2, 2, 2));
    auto taps = fk::tensor<fk::int8>(device, fk::nchw(1, 2, 1, 1), {9, 9});
    auto const y = fk::Plan<fk::Pool<fk::MaxWithTaps, 2, 2>>::bind({.taps = taps.view()})(device, x);
    CHECK((std::isnan(y.data()[0]) && taps.data()[0].value == 1));
    CHECK((y.data()[1] == least && taps.data()[1].value == 0));
}

namespace {

constexpr auto window = fk::filter(3, 2).stride(2, 1).pad(1, 0);

/// Central differences of the sum of dy y by each element of x, where y(x) is a Pool of doubles whose maxima a step of
/// 1/4 does not move: pools are linear there, and differences exact but for rounding.
void check_differences(auto const& bind_pool, auto const& bind_gradient) {
    fk::host::Device device(1);
    constexpr std::int64_t size = 2 * 5 * 7;
    std::vector<double> x(size);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * 37 % x.size());  // distinct integers
    auto const layout = fk::nchw(1, 2, 5, 7);
    auto const pool = [&] { return bind_pool(fk::TensorView<double const>(x.data(), layout), device); };
    auto const first = pool();
    auto dy = fk::random<double>(device, first.layout(), 4);
    fk::Tensor<double, fk::host::Device> dx(device, layout);
    bind_gradient(dy, dx, device);
    auto const weighted = [&] {
        auto const y = pool();
        double sum = 0;
        for (std::int64_t i = 0; i < y.size(); ++i) sum += dy.data()[i] * y.data()[i];
        return sum;
    };
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const value = x[i];
        x[i] = value + 0.25;
        double const above = weighted();
        x[i] = value - 0.25;
        double const below = weighted();
        x[i] = value;
        // two sums of 36 products below 70, 36 roundings of 36 * 70 * 2^-53 each, over a step of 1/2
        CHECK(std::fabs((above - below) / 0.5 - dx.data()[i]) < 1e-10);
    }
}

}  // namespace

TEST_CASE("gradients of pools are central differences in double") {
    auto const mean = []<class Of>(std::type_identity<Of>) {
        check_differences(
            [](auto const& x, auto& device) {
                return fk::Plan<fk::Pool<Of, window, fk::ceil_mode>>::bind({})(device, x);
            },
            [](auto const& dy, auto& dx, auto& device) {
                fk::Plan<fk::PoolGradient<Of, window, fk::ceil_mode>>::bind({})(device, dy, dx);
            });
    };
    mean(std::type_identity<fk::Average>{});
    mean(std::type_identity<fk::AverageWithPadding>{});
    std::vector<fk::int8> taps(2 * 3 * 6);
    fk::TensorView<fk::int8> const view(taps.data(), fk::nchw(1, 2, 3, 6));
    check_differences(
        [&](auto const& x, auto& device) {
            return fk::Plan<fk::Pool<fk::MaxWithTaps, window>>::bind({.taps = view})(device, x);
        },
        [&](auto const& dy, auto& dx, auto& device) {
            fk::Plan<fk::PoolGradient<fk::MaxWithTaps, window>>::bind({.taps = view})(device, dy, dx);
        });
}
