// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/dispatch/with_layouts.hpp"

#include <string>
#include <vector>

#include "backend/hip/filled.hpp"
#include "backend/hip/gpu.hpp"
#include "fusekit/hip.hpp"

using namespace test;

namespace {

using fk::hip::detail::KnownChoice, fk::hip::detail::packed_filters;

template <class T, int Rank>
using OnGpu = fk::Tensor<T, fk::hip::Device, Rank>;

/// Values of y after `run` has written to it; poisoned before.
template <class T, int Rank>
std::vector<float> values_after(OnGpu<T, Rank>& y, auto const& run) {
    std::vector<T> values(static_cast<std::size_t>(y.size()), T(__builtin_nanf("")));
    y.copy_from(values.data());
    run();
    y.copy_to(values.data());
    return {values.begin(), values.end()};
}

/// Names of the schedules that are selected at compile time and at run time for a plan on GPUs of Tag are equal.
template <class Plan, class T, auto x, auto y, class Tag>
bool agree(Tag, auto const& layer) {
    using Known = KnownChoice<Plan, T, T, Tag, x, y>;
    auto const run = layer.template predict<T>(Known::architecture, x, y);
    std::string const known(fk::hip::facts_of<typename Known::Schedule>().name(Known::split_k).c_str());
    INFO(known);
    return known == run.schedule.name(run.split_k).c_str();
}
template <class Plan, class T, auto x, auto y, class... Tags>
bool agree_on_all(fk::hip::List<Tags...>, auto const& layer) {
    return (true && ... && agree<Plan, T, x, y>(Tags{}, layer));
}

/// Compares the selection for a convolution, and its result, with those of a call whose layouts are not constants.
template <fk::Filter filter, class T, auto x, int k>
void compare(fk::hip::Device& device) {
    using Plan = fk::Plan<fk::Conv<filter>, fk::Bias, fk::Activation<fk::Relu>>;
    constexpr fk::Index<4> shape{{x.shape[0], k, filter.output(0, x.shape[2]), filter.output(1, x.shape[3])}};
    constexpr fk::Layout<4> y = fk::packed_like(shape, x);
    OnGpu<T, 4> const from = filled<T>(device, x, 2);
    OnGpu<T, 4> const weights = filled<T>(device, packed_filters<Plan>(x, y), 1);
    OnGpu<float, 1> const bias = filled<float>(device, fk::channels(k), 3);
    OnGpu<T, 4> to(device, y);
    auto const layer = Plan::bind({.weights = weights}, {.bias = bias}, {});
    CHECK(agree_on_all<Plan, T, x, y>(fk::hip::detail::Targets{}, layer));
    auto const known = device.with_layouts<x, y>();
    std::vector<float> const expected = values_after(to, [&] { layer(device, from, to); });
    CHECK(values_after(to, [&] { layer(known, from, to); }) == expected);
    auto const run = layer.template prepare<T>(known, x, y);
    CHECK(values_after(to, [&] { run(device, from, to); }) == expected);
}

}  // namespace

TEST_CASE("HIP: calls of known layouts run the schedule that predict() names, with the same results") {
    fk::hip::Device device = gpu();
    compare<fk::filter(3, 3).pad(1), fk::half, fk::nhwc(2, 6, 7, 64), 64>(device);
    compare<fk::filter(3, 3).pad(1), fk::half, fk::nchw(2, 16, 6, 8), 24>(device);
    compare<fk::filter(1, 1), fk::half, fk::nhwc(1, 4, 4, 256), 128>(device);
    compare<fk::filter(7, 7).pad(3).stride(2), fk::half, fk::nhwc(1, 16, 16, 3), 64>(device);
    compare<fk::filter(3, 3).pad(1).groups(24), fk::half, fk::nhwc(2, 5, 6, 24), 24>(device);
    compare<fk::filter(3, 3).pad(1).groups(4), fk::half, fk::nhwc(2, 5, 6, 32), 32>(device);
    compare<fk::filter(1, 1), fk::half, fk::nhwc(3, 1, 1, 64), 40>(device);
    compare<fk::filter(3, 3).pad(1), float, fk::nhwc(2, 6, 7, 32), 48>(device);
    compare<fk::filter(5, 3).pad(2, 1), float, fk::nchw(1, 12, 6, 8), 16>(device);
}

TEST_CASE("HIP: products and transposed convolutions of known layouts") {
    fk::hip::Device device = gpu();
    using Product = fk::Plan<fk::Gemm, fk::Bias>;
    constexpr auto a = fk::row_major(5, 48), b = fk::row_major(5, 40);
    OnGpu<fk::half, 2> const x = filled<fk::half>(device, a, 2), w = filled<fk::half>(device, fk::row_major(40, 48), 1);
    OnGpu<float, 1> const bias = filled<float>(device, fk::channels(40), 3);
    OnGpu<fk::half, 2> y(device, b);
    auto const product = Product::bind({.weights = w}, {.bias = bias});
    CHECK(agree_on_all<Product, fk::half, a, b>(fk::hip::detail::Targets{}, product));
    auto const expected = values_after(y, [&] { product(device, x, y); });
    CHECK(values_after(y, [&] { product(device.with_layouts<a, b>(), x, y); }) == expected);

    using Transposed = fk::Plan<fk::TransposedConv<fk::filter(2, 2).stride(2)>>;
    constexpr auto small = fk::nhwc(1, 3, 4, 16), large = fk::nhwc(1, 6, 8, 8);
    OnGpu<fk::half, 4> const dy = filled<fk::half>(device, small, 2);
    OnGpu<fk::half, 4> const filters = filled<fk::half>(device, packed_filters<Transposed>(small, large), 1);
    OnGpu<fk::half, 4> dx(device, large);
    auto const transposed = Transposed::bind({.weights = filters});
    CHECK(agree_on_all<Transposed, fk::half, small, large>(fk::hip::detail::Targets{}, transposed));
    auto const of_all = values_after(dx, [&] { transposed(device, dy, dx); });
    CHECK(values_after(dx, [&] { transposed(device.with_layouts<small, large>(), dy, dx); }) == of_all);
}

TEST_CASE("HIP: statistics of few pixels of known layouts") {
    fk::hip::Device device = gpu();
    using Plan = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::ChannelStatistics>;
    constexpr auto layout = fk::nhwc(4, 4, 4, 32);
    OnGpu<fk::half, 4> const x = filled<fk::half>(device, layout, 2),
                             weights = filled<fk::half>(device, fk::krsc(32, 3, 3, 32), 1);
    OnGpu<fk::half, 4> y(device, layout);
    OnGpu<float, 1> mean(device, fk::channels(32)), variance(device, fk::channels(32)),
        scratch(device, fk::channels(1024));
    auto const layer = Plan::bind({.weights = weights}, {.mean = mean, .variance = variance, .scratch = scratch});
    auto const expected = values_after(y, [&] { layer(device, x, y); });
    CHECK(values_after(y, [&] { layer(device.with_layouts<layout, layout>(), x, y); }) == expected);
}

TEST_CASE("HIP: the call of known layouts in the README") {
    fk::hip::Device device = gpu();
    using Plan = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>;
    OnGpu<fk::half, 4> const x = filled<fk::half>(device, fk::nhwc(1, 8, 8, 64), 2),
                             weights = filled<fk::half>(device, fk::krsc(128, 3, 3, 64), 1);
    OnGpu<fk::half, 4> y(device, fk::nhwc(1, 8, 8, 128));
    auto const layer = Plan::bind({.weights = weights});
    auto const expected = values_after(y, [&] { layer(device, x, y); });
    auto const known = values_after(y, [&] {
        constexpr auto x_layout = fk::nhwc(1, 8, 8, 64), y_layout = fk::nhwc(1, 8, 8, 128);
        layer(device.with_layouts<x_layout, y_layout>(), x, y);
    });
    CHECK(known == expected);
}

TEST_CASE("HIP: a call of known layouts is refused other layouts, and writes nothing") {
    fk::hip::Device device = gpu();
    using Plan = fk::Plan<fk::Conv<fk::filter(1, 1)>>;
    constexpr auto known = fk::nhwc(2, 3, 4, 16);
    OnGpu<fk::half, 4> const x = filled<fk::half>(device, known, 1),
                             longer = filled<fk::half>(device, fk::nhwc(2, 3, 5, 16), 1),
                             planes = filled<fk::half>(device, fk::nchw(2, 16, 3, 4), 1),
                             weights = filled<fk::half>(device, fk::krsc(16, 1, 1, 16), 1);
    OnGpu<fk::half, 4> y(device, known), y_longer(device, fk::nhwc(2, 3, 5, 16));
    auto const layer = Plan::bind({.weights = weights});
    auto const refused = [&](auto const& from, auto& to) {
        auto const run = layer.try_prepare(device.with_layouts<known, known>(), from, to);
        return std::string(run ? "accepted" : run.error().what());
    };
    std::string const plan = "Plan<Conv<filter(1, 1)>>: ";
    CHECK(refused(longer, y_longer) ==
          plan + "x.shape: expected 2 x 16 x 3 x 4, as in with_layouts(), got 2 x 16 x 3 x 5");
    CHECK(refused(planes, y) ==
          plan + "x.strides: expected 192 x 1 x 64 x 16, as in with_layouts(), got 192 x 12 x 4 x 1");
    OnGpu<fk::half, 4> y_planes(device, fk::nchw(2, 16, 3, 4));
    CHECK(refused(x, y_planes) ==
          plan + "y.strides: expected 192 x 1 x 64 x 16, as in with_layouts(), got 192 x 12 x 4 x 1");
    CHECK(refused(x, y) == "accepted");
    auto const unchanged = values_after(
        y_longer, [&] { CHECK_THROWS_AS(layer(device.with_layouts<known, known>(), longer, y_longer), fk::Error); });
    for (float const value : unchanged) CHECK(value != value);
}
