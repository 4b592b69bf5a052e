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

/// Device of the expected values: of each plan it compiles one kernel, whose layouts are not constants. All schedules
/// give equal values, because tensors are small integers, with exact sums. One test compares with the schedule that the
/// library chooses at run time.
auto reference(fk::hip::Device& device) { return device.with<fk::hip::Direct<256>>(); }

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
    using Known = KnownChoice<Plan, T, T, Tag, fk::hip::Problem<x, y>>;
    auto const run = layer.template predict<T>(Known::architecture, x, y);
    std::string const known(fk::hip::facts_of<typename Known::Schedule>().name(Known::split_k).c_str());
    INFO(known);
    return known == run.schedule.name(run.split_k).c_str();
}
template <class Plan, class T, auto x, auto y, class... Tags>
bool agree_on_all(fk::hip::List<Tags...>, auto const& layer) {
    return (true && ... && agree<Plan, T, x, y>(Tags{}, layer));
}

/// Compares the selection for a convolution with predict()'s, and its result with that of reference().
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
    std::vector<float> const expected = values_after(to, [&] { layer(reference(device), from, to); });
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
    auto const expected = values_after(y, [&] { product(reference(device), x, y); });
    CHECK(values_after(y, [&] { product(device.with_layouts<a, b>(), x, y); }) == expected);

    using Transposed = fk::Plan<fk::TransposedConv<fk::filter(2, 2).stride(2)>>;
    constexpr auto small = fk::nhwc(1, 3, 4, 16), large = fk::nhwc(1, 6, 8, 8);
    OnGpu<fk::half, 4> const dy = filled<fk::half>(device, small, 2);
    OnGpu<fk::half, 4> const filters = filled<fk::half>(device, packed_filters<Transposed>(small, large), 1);
    OnGpu<fk::half, 4> dx(device, large);
    auto const transposed = Transposed::bind({.weights = filters});
    CHECK(agree_on_all<Transposed, fk::half, small, large>(fk::hip::detail::Targets{}, transposed));
    auto const of_all = values_after(dx, [&] { transposed(reference(device), dy, dx); });
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
    auto const expected = values_after(y, [&] { layer(reference(device), x, y); });
    CHECK(values_after(y, [&] { layer(device.with_layouts<layout, layout>(), x, y); }) == expected);
}

TEST_CASE("HIP: the call of known layouts in docs/build.md") {
    fk::hip::Device device = gpu();
    using Plan = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>;
    OnGpu<fk::half, 4> const x = filled<fk::half>(device, fk::nhwc(1, 8, 8, 64), 2),
                             weights = filled<fk::half>(device, fk::krsc(128, 3, 3, 64), 1);
    OnGpu<fk::half, 4> y(device, fk::nhwc(1, 8, 8, 128));
    auto const layer = Plan::bind({.weights = weights});
    auto const expected = values_after(y, [&] { layer(reference(device), x, y); });
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

namespace {

constexpr auto x_square = fk::nhwc(2, 6, 6, 32), y_square = fk::nhwc(2, 6, 6, 40), x_wide = fk::nchw(1, 24, 5, 16),
               y_wide = fk::nchw(1, 40, 5, 16), y_strided = fk::nhwc(2, 3, 3, 40), other = fk::nhwc(1, 6, 6, 32),
               y_other = fk::nhwc(1, 6, 6, 40);
using Network = fk::hip::Problems<fk::hip::Problem<x_square, y_square>, fk::hip::Problem<x_wide, y_wide>,
                                  fk::hip::Problem<x_square, y_strided>,
                                  fk::hip::Problem<fk::row_major(4, 16), fk::row_major(4, 8)>>;

/// Compares a call for one of the problems of Network with reference().
template <fk::Filter filter, auto x, auto y>
void compare_listed(fk::hip::Device& device) {
    using Plan = fk::Plan<fk::Conv<filter>, fk::Bias>;
    OnGpu<fk::half, 4> const from = filled<fk::half>(device, x, 2),
                             weights = filled<fk::half>(device, packed_filters<Plan>(x, y), 1);
    OnGpu<float, 1> const bias = filled<float>(device, fk::channels(y.shape[1]), 3);
    OnGpu<fk::half, 4> to(device, y);
    auto const layer = Plan::bind({.weights = weights}, {.bias = bias});
    auto const expected = values_after(to, [&] { layer(reference(device), from, to); });
    CHECK(values_after(to, [&] { layer(device.with_problems<Network>(), from, to); }) == expected);
}

}  // namespace

TEST_CASE("HIP: plans of a list of problems run those that suit their filters") {
    fk::hip::Device device = gpu();
    compare_listed<fk::filter(3, 3).pad(1), x_square, y_square>(device);
    compare_listed<fk::filter(3, 3).pad(1), x_wide, y_wide>(device);
    compare_listed<fk::filter(3, 3).pad(1).stride(2), x_square, y_strided>(device);
    using Plan = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1).stride(2)>>;
    using fk::hip::detail::SuitingProblems, fk::hip::detail::KnownProblem;
    static_assert(std::is_same_v<SuitingProblems<Plan, fk::half, Network>::Type,
                                 fk::hip::List<fk::hip::Problem<x_square, y_strided>>>);
}

TEST_CASE("HIP: a call that is none of a list of problems is refused, and writes nothing") {
    fk::hip::Device device = gpu();
    using Plan = fk::Plan<fk::Conv<fk::filter(1, 1)>>;
    OnGpu<fk::half, 4> const x = filled<fk::half>(device, other, 1),
                             weights = filled<fk::half>(device, fk::krsc(40, 1, 1, 32), 1);
    OnGpu<fk::half, 4> y(device, y_other);
    auto const layer = Plan::bind({.weights = weights});
    auto const run = layer.try_prepare(device.with_problems<Network>(), x, y);
    CHECK(
        std::string(run ? "" : run.error().what()) ==
        "Plan<Conv<filter(1, 1)>>: x, y and weights: expected layouts of one of the call's 2 problems, got 1 x 32 x 6 "
        "x 6 with strides 1152 x 1 x 192 x 32, 1 x 40 x 6 x 6 with strides 1440 x 1 x 240 x 40 and 40 x 32 x 1 x 1 "
        "with strides 32 x 1 x 32 x 32");
}

TEST_CASE("HIP: weights of known layouts") {
    fk::hip::Device device = gpu();
    using Plan = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>;
    constexpr auto layout = fk::nhwc(1, 6, 6, 16), of_weights = fk::kcrs(16, 16, 3, 3);
    OnGpu<fk::half, 4> const x = filled<fk::half>(device, layout, 2), weights = filled<fk::half>(device, of_weights, 1);
    OnGpu<fk::half, 4> y(device, layout);
    auto const layer = Plan::bind({.weights = weights});
    auto const expected = values_after(y, [&] { layer(device, x, y); });
    using Given = fk::hip::Problems<fk::hip::Problem<layout, layout, of_weights>>;
    CHECK(values_after(y, [&] { layer(device.with_problems<Given>(), x, y); }) == expected);
    auto const run = layer.try_prepare(device.with_layouts<layout, layout>(), x, y);
    CHECK(
        std::string(run ? "" : run.error().what()) ==
        "Plan<Conv<filter(3, 3).pad(1)>>: weights.strides: expected 144 x 1 x 48 x 16, as in with_layouts(), got 144 x "
        "9 x 3 x 1");
}

TEST_CASE("HIP: a Residual of known layouts reads a z of y's layout, or any with reading_any()") {
    fk::hip::Device device = gpu();
    using Plan = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Residual>;
    constexpr auto layout = fk::nhwc(2, 6, 7, 64);
    OnGpu<fk::half, 4> const x = filled<fk::half>(device, layout, 2),
                             weights = filled<fk::half>(device, fk::krsc(64, 3, 3, 64), 1),
                             z = filled<fk::half>(device, layout, 3);
    OnGpu<float, 4> const planes = filled<float>(device, fk::nchw(2, 64, 6, 7), 3);
    OnGpu<fk::half, 4> y(device, layout);
    auto const known = device.with_layouts<layout, layout>();
    auto const like_y = Plan::bind({.weights = weights}, {.z = z}),
               other_z = Plan::bind({.weights = weights}, {.z = planes});
    auto const expected = values_after(y, [&] { like_y(reference(device), x, y); });
    CHECK(values_after(y, [&] { like_y(known, x, y); }) == expected);
    CHECK(values_after(y, [&] { like_y(known.reading_any(), x, y); }) == expected);
    auto const of_planes = values_after(y, [&] { other_z(reference(device), x, y); });
    CHECK(values_after(y, [&] { other_z(known.reading_any(), x, y); }) == of_planes);
    CHECK(!other_z.try_prepare(known, x, y));
}

TEST_CASE("HIP: filters of thousands of taps of known layouts") {
    fk::hip::Device device = gpu();
    using Plan = fk::Plan<fk::Conv<fk::filter(64, 65)>>;
    constexpr auto x_layout = fk::nhwc(1, 65, 66, 8), y_layout = fk::nhwc(1, 2, 2, 8);
    OnGpu<fk::half, 4> const x = filled<fk::half>(device, x_layout, 2),
                             weights = filled<fk::half>(device, fk::krsc(8, 64, 65, 8), 1);
    OnGpu<fk::half, 4> y(device, y_layout);
    auto const layer = Plan::bind({.weights = weights});
    auto const expected = values_after(y, [&] { layer(reference(device), x, y); });
    CHECK(values_after(y, [&] { layer(device.with_layouts<x_layout, y_layout>(), x, y); }) == expected);
}

TEST_CASE("HIP: kernels of known layouts for given architectures") {
    fk::hip::Device device = gpu();
    using Plan = fk::Plan<fk::Conv<fk::filter(1, 1)>>;
    constexpr auto layout = fk::nhwc(1, 4, 4, 16);
    OnGpu<fk::half, 4> const x = filled<fk::half>(device, layout, 1),
                             weights = filled<fk::half>(device, fk::krsc(16, 1, 1, 16), 1);
    OnGpu<fk::half, 4> y(device, layout);
    auto const layer = Plan::bind({.weights = weights});
    auto const all = device.with_layouts<layout, layout>();
    CHECK(layer.try_prepare(all, x, y));
    auto const run = layer.try_prepare(all.for_architectures<fk::hip::arch::Gfx12>(), x, y);
    CHECK(std::string(run ? "" : run.error().what()) ==
          "Plan<Conv<filter(1, 1)>>: device: expected a GPU for which the program is compiled, got " +
              std::string(device.architecture().name().c_str()));
}
