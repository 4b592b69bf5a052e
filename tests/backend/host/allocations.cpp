// SPDX-License-Identifier: MIT
// A separate program, because it counts all of its allocations.
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/counted_allocations.hpp"

namespace fk = fusekit;
using test::allocations;

namespace {

using Floats = fk::Tensor<float, fk::host::Device>;

/// No form of run allocates: with a lent workspace on a fresh device; others after a prepare.
template <class Layer>
void check(Layer const& layer, Floats const& x) {
    INFO(fk::type_name<typename Layer::Plan>().c_str());
    fk::host::Device preparing(2), device(2);
    Floats y(device, fk::packed_like(layer.output_shape(x.layout().shape), x.layout()));
    auto const run = layer.prepare(preparing, x, y);
    fk::Workspace const workspace(device, run.workspace_bytes());
    fk::Layer<float, fk::host::Device> const any(layer);
    long const before = allocations;
    run(device, x, y, workspace);
    run(device, x.data(), y.data(), workspace);
    run(preparing, x, y);
    layer(preparing, x, y);
    any(preparing, x, y);
    auto const again = layer.prepare(preparing, x, y);
    again(preparing, x, y);
    long const after = allocations;
    CHECK(after == before);
}

}  // namespace

TEST_CASE("what allocates is counted") {
    long const before = allocations;
    fk::host::Device device(1);
    CHECK(allocations == before + 1);
    Floats const x(device, fk::nchw(1, 1, 1, 1));
    CHECK(allocations == before + 2);
    REQUIRE(!device.keep_workspace(4));
    CHECK(allocations == before + 3);
}

TEST_CASE("no run allocates, on devices that have run nothing before") {
    fk::host::Device device(2);
    for (bool const last : {false, true}) {
        auto const layout = last ? fk::nhwc(3, 10, 12, 6) : fk::nchw(3, 6, 10, 12);
        auto const x = fk::random<float>(device, layout), w = fk::random<float>(device, fk::kcrs(6, 6, 3, 3), 2),
                   thin = fk::random<float>(device, fk::kcrs(6, 1, 3, 3), 3);
        auto const b = fk::random<float>(device, fk::channels(6), 4);
        fk::Tensor<float, fk::host::Device, 1> mean(device, fk::channels(6)), deviation(device, fk::channels(6)),
            scratch(device, fk::channels(fk::ChannelStatistics::scratch(layout.shape)));
        using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
        using Relu = fk::Activation<fk::Relu>;
        using Norm = fk::Plan<fk::BatchNormTraining<fk::Spatial>, Relu>;
        check(fk::Plan<fk::Bias, Relu>::bind({.bias = b}, {}), x);
        check(fk::Plan<Conv, fk::Bias>::bind({.weights = w}, {.bias = b}), x);
        check(fk::Plan<Relu, Conv>::bind({}, {.weights = w}), x);
        check(fk::Plan<Conv, fk::Pool<fk::Max, 2, 2>>::bind({.weights = w}, {}), x);
        check(fk::Plan<fk::Conv<fk::filter(3, 3).pad(1).groups(6)>>::bind({.weights = thin}), x);
        check(fk::Plan<Conv, fk::ChannelStatistics>::bind({.weights = w},
                                                          {.mean = mean, .variance = deviation, .scratch = scratch}),
              x);
        check(fk::Plan<fk::ChannelStatistics>::bind({.mean = mean, .variance = deviation}), x);
        check(fk::Plan<fk::GlobalAverage>::bind({}), x);
        auto const norm =
            Norm::bind({.scale = b, .shift = b, .saved_mean = mean, .saved_inverse_deviation = deviation}, {});
        check(norm, x);
        static_cast<void>(norm(device, x));
        check(fk::Backward<Norm>::bind(norm, x, {}, {}), x);
    }
}
