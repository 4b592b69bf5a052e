// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/dispatch/orders.hpp"

#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <string>
#include <vector>

#include "backend/hip/filled.hpp"
#include "backend/hip/gpu.hpp"
#include "fusekit/hip.hpp"

using namespace test;

namespace {

using fk::hip::Orders;
using ConvBiasRelu = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>;
template <class T>
using Images = fk::Tensor<T, fk::hip::Device>;

/// Convolution of x in NHWC by KRSC, and its result by definition.
template <class T>
struct Case {
    int n, h, w, c, k;
    Images<T> x, filters, y;
    fk::Tensor<float, fk::hip::Device, 1> bias;

    Case(fk::hip::Device& device, int images, int rows, int columns, int channels, int filters_of_y)
        : n(images),
          h(rows),
          w(columns),
          c(channels),
          k(filters_of_y),
          x(filled<T>(device, fk::nhwc(n, h, w, c), 2)),
          filters(filled<T>(device, fk::krsc(k, 3, 3, c), 1)),
          y(device, fk::nhwc(n, h, w, k)),
          bias(filled<float>(device, fk::channels(k), 3)) {}

    auto layer() const { return ConvBiasRelu::bind({.weights = filters}, {.bias = bias}, {}); }

    float expected(int image, int p, int q, int of) const {
        float sum = small(of, 3);
        for (int r = 0; r < 3; ++r)
            for (int s = 0; s < 3; ++s) {
                int const row = p + r - 1, column = q + s - 1;
                if (row < 0 || row >= h || column < 0 || column >= w) continue;
                for (int channel = 0; channel < c; ++channel)
                    sum += small(((std::int64_t{image} * h + row) * w + column) * c + channel, 2) *
                           small(((std::int64_t{of} * 3 + r) * 3 + s) * c + channel, 1);
            }
        return sum > 0 ? sum : 0;
    }
    /// Number of elements of an output that differ; poisons the output for the next run.
    int wrong(Images<T>& of) const {
        std::vector<T> values(static_cast<std::size_t>(of.size()));
        of.copy_to(values.data());
        int differ = 0;
        std::size_t at = 0;
        for (int image = 0; image < n; ++image)
            for (int p = 0; p < h; ++p)
                for (int q = 0; q < w; ++q)
                    for (int channel = 0; channel < k; ++channel)
                        differ += static_cast<float>(values[at++]) != expected(image, p, q, channel);
        std::vector<T> const spoiled(values.size(), T(-1.0f));
        of.copy_from(spoiled.data());
        return differ;
    }
};

/// True if calls on the device and through the view launch the same kernel.
template <class BoundPlan, class X, class Y>
bool have_one_kernel(fk::hip::Device& device, BoundPlan const& layer, X const& x, Y& y) {
    auto const from = BoundPlan::Plan::collapse(x.const_view());
    auto const to = BoundPlan::Plan::collapse(y.view());
    auto const a = device.prepare(layer, from, to), b = device.channels_last().prepare(layer, from, to);
    return a.value().kernel == b.value().kernel;
}

template <class... Schedules>
constexpr bool has_planes(fk::hip::List<Schedules...>) {
    return (false || ... || fk::hip::PlanesSchedule<Schedules>);
}
template <class T, Orders orders>
constexpr bool may_choose_planes() {
    return has_planes(fk::hip::Candidates<fk::hip::NvidiaTuning, ConvBiasRelu, T, T, orders>{});
}

}  // namespace

TEMPLATE_TEST_CASE("HIP: channels-last convolutions run as with all layouts compiled", "", fk::half, float) {
    fk::hip::Device device = gpu();
    for (auto const& [n, h, w, c, k] :
         {std::array{2, 5, 7, 16, 24}, {1, 6, 5, 13, 9}, {3, 9, 4, 64, 64}, {1, 5, 5, 1, 3}, {2, 5, 3, 3, 1}}) {
        INFO(n << " x " << h << " x " << w << " x " << c << " to " << k);
        Case<TestType> of(device, n, h, w, c, k);
        auto const layer = of.layer();
        layer(device.channels_last(), of.x, of.y);
        CHECK(of.wrong(of.y) == 0);
        auto made = layer(device.channels_last(), of.x);
        CHECK(of.wrong(made) == 0);
        auto const run = layer.prepare(device.channels_last(), of.x, of.y);
        fk::Workspace workspace(device, run.workspace_bytes());
        for (int i = 0; i < 2; ++i) {
            run(device, of.x, of.y, workspace);
            CHECK(of.wrong(of.y) == 0);
        }
        if (c > 1 && k > 1) CHECK(have_one_kernel(device, layer, of.x, of.y));
    }
}

TEST_CASE("HIP: a graph of channels-last calls") {
    using namespace fk::hip;
    Device device = gpu();
    auto const stream = Stream::non_blocking(device);
    Case<fk::half> of(device, 2, 5, 7, 16, 24);
    auto const layer = of.layer();
    hipGraph_t graph;
    hipGraphExec_t executable;
    REQUIRE(hipStreamBeginCapture(stream.stream(), hipStreamCaptureModeThreadLocal) == hipSuccess);
    layer(stream.channels_last(), of.x, of.y);
    REQUIRE(hipStreamEndCapture(stream.stream(), &graph) == hipSuccess);
    REQUIRE(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0) == hipSuccess);
    for (int i = 0; i < 2; ++i) {
        REQUIRE(hipGraphLaunch(executable, stream.stream()) == hipSuccess);
        stream.synchronize();
        CHECK(of.wrong(of.y) == 0);
    }
    CHECK(hipGraphExecDestroy(executable) == hipSuccess);
    CHECK(hipGraphDestroy(graph) == hipSuccess);
}

TEST_CASE("Planes of 16 bits is no candidate for channels-last only") {
    STATIC_CHECK_FALSE(may_choose_planes<fk::half, Orders::channels_last>());
    STATIC_CHECK(may_choose_planes<float, Orders::channels_last>() == may_choose_planes<float, Orders::any>());
    STATIC_CHECK(may_choose_planes<fk::half, Orders::any>() == may_choose_planes<float, Orders::any>());
}

TEST_CASE("HIP: other channels-last plans run the same kernels") {
    fk::hip::Device device = gpu();
    auto const x = filled<float>(device, fk::nhwc(3, 6, 8, 20), 2);
    Images<float> same(device, x.layout()), pooled(device, fk::nhwc(3, 3, 4, 20)), mean(device, fk::nhwc(3, 1, 1, 20));
    auto const one = filled<float>(device, fk::channels(20), 1);
    CHECK(have_one_kernel(device, fk::Plan<fk::Activation<fk::Relu>>::bind({}), x, same));
    CHECK(have_one_kernel(device, fk::Plan<fk::Pool<fk::Max, 2, 2>>::bind({}), x, pooled));
    CHECK(have_one_kernel(device, fk::Plan<fk::GlobalAverage>::bind({}), x, mean));
    auto const training = fk::Plan<fk::BatchNormTraining<fk::Spatial>>::bind({.scale = one, .shift = one});
    CHECK(have_one_kernel(device, training, x, same));
    Images<float> const dy = filled<float>(device, fk::nhwc(3, 6, 8, 12), 1);
    Images<float> dw(device, fk::kcrs(12, 20, 3, 3));
    CHECK(have_one_kernel(device, fk::Plan<fk::ConvWeightGradient<fk::filter(3, 3).pad(1)>>::bind({.dy = dy}), x, dw));
    auto const w = filled<float>(device, fk::row_major(9, 13), 1), a = filled<float>(device, fk::row_major(5, 13), 2);
    fk::Tensor<float, fk::hip::Device, 2> product(device, fk::row_major(5, 9));
    CHECK(have_one_kernel(device, fk::Plan<fk::Gemm>::bind({.weights = w}), a, product));
}

TEST_CASE("HIP: channels_last() refuses other layouts") {
    fk::hip::Device device = gpu();
    Case<float> of(device, 2, 5, 7, 16, 24);
    auto const layer = of.layer();
    auto const planes = filled<float>(device, fk::nchw(2, 16, 5, 7), 2);
    Images<float> y_planes = filled<float>(device, fk::nchw(2, 24, 5, 7), 2);
    auto const channels_last = device.channels_last();
    std::string const plan = std::string(fk::type_name<ConvBiasRelu>().c_str()) + ": ",
                      expected = ".strides: expected channel stride 1, because the call uses channels_last(), got ";
    CHECK(refusal([&] { layer(channels_last, planes, of.y); }) == plan + "x" + expected + "560 x 35 x 7 x 1");
    CHECK(refusal([&] { layer(channels_last, of.x, y_planes); }) == plan + "y" + expected + "840 x 35 x 7 x 1");
    CHECK(numbers(y_planes) == numbers(filled<float>(device, fk::nchw(2, 24, 5, 7), 2)));
    auto const refused = layer.try_prepare<float>(channels_last, planes.layout(), of.y.layout());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what() == plan + "x" + expected + "560 x 35 x 7 x 1");

    auto const w = filled<float>(device, fk::row_major(9, 13), 1),
               a = filled<float>(device, fk::column_major(5, 13), 2);
    fk::Tensor<float, fk::hip::Device, 2> product(device, fk::row_major(5, 9));
    auto const gemm = fk::Plan<fk::Gemm>::bind({.weights = w});
    CHECK(refusal([&] { gemm(channels_last, a, product); }) ==
          "Plan<Gemm>: x.strides: expected column stride 1, because the call uses channels_last(), got 1 x 5");
}
