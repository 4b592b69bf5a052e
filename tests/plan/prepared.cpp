// SPDX-License-Identifier: MIT
#include "fusekit/plan/prepared.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/refusal.hpp"

namespace fk = fusekit;

namespace {

using Floats = fk::Tensor<float, fk::host::Device>;
using Abs = fk::Plan<fk::Activation<fk::Abs>>;
using Biased = fk::Plan<fk::Bias, fk::Activation<fk::Abs>>;
using Stored = fk::Plan<fk::Store, fk::Activation<fk::Abs>>;

std::vector<float> numbers(Floats const& tensor) { return {tensor.data(), tensor.data() + tensor.layout().span()}; }

/// Message of a refused run; checks that nothing was written.
template <class Run, class... Arguments>
std::string refused(Floats& y, Run const& run, Arguments&&... arguments) {
    std::vector<float> const sevens(static_cast<std::size_t>(y.size()), 7);
    y.copy_from(sevens.data());
    fk::Refusal const returned = run.try_run(arguments...);
    std::string const thrown = test::refusal([&] { run(arguments...); });
    CHECK(numbers(y) == sevens);
    CHECK(thrown == (returned ? returned->what() : "accepted"));
    return thrown;
}

/// A prepared run is bitwise identical to the layer in every form, in exactly the workspace that it requests.
template <class Layer>
void check(Layer const& layer, Floats const& x, fk::Layout<4> const& y_layout, bool borrows = true) {
    INFO(fk::type_name<typename Layer::Plan>().c_str());
    fk::host::Device first(2), device(2);
    Floats y(first, y_layout);
    layer(first, x, y);
    std::vector<float> const expected = numbers(y);
    auto const same = [&](auto const& form) {
        y.copy_from(std::vector<float>(static_cast<std::size_t>(y.size()), NAN).data());
        form();
        CHECK(numbers(y) == expected);
    };
    auto const run = layer.prepare(device, x, y);
    CHECK((run.workspace_bytes() > 0) == borrows);
    CHECK(device.own_workspace_bytes() == run.workspace_bytes());
    same([&] { run(device, x, y); });
    same([&] { run(device, x.data(), y.data()); });
    fk::host::Device other(2);
    if (borrows) {
        CHECK(refused(y, run, other, x, y).ends_with(", passed to the run or owned by the stream, got none"));
        fk::Workspace const workspace(other, run.workspace_bytes());
        auto const [data, bytes] = workspace.view();
        CHECK(refused(y, run, other, x, y, fk::WorkspaceView{data, bytes - 1}).ends_with(std::to_string(bytes - 1)));
        same([&] { run(other, x, y, workspace); });
        CHECK(other.own_workspace_bytes() == 0);
    } else {
        same([&] { run(other, x, y); });
    }
    same([&] { layer.template prepare<float>(device, x.layout(), y.layout(), 4)(device, x, y); });
}

}  // namespace

static_assert(std::is_trivially_copyable_v<decltype(Abs::bind({}).prepare<float>(
                  std::declval<fk::host::Device&>(), fk::nchw(1, 1, 1, 1), fk::nchw(1, 1, 1, 1)))>);

TEST_CASE("prepared runs are bitwise identical to their layers, within workspace_bytes()") {
    fk::host::Device device(2);
    for (bool const last : {false, true}) {
        auto const layout = last ? fk::nhwc(3, 10, 12, 5) : fk::nchw(3, 5, 10, 12);
        auto const x = fk::random<float>(device, layout), z = fk::random<float>(device, layout, 2);
        auto const w = fk::random<float>(device, fk::kcrs(5, 5, 3, 3), 3),
                   thin = fk::random<float>(device, fk::kcrs(5, 1, 3, 3), 3);
        auto const b = fk::random<float>(device, fk::channels(5), 4);
        fk::Tensor<float, fk::host::Device, 1> mean(device, fk::channels(5)), variance(device, fk::channels(5)),
            scratch(device, fk::channels(fk::ChannelStatistics::scratch(layout.shape)));
        using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
        using Relu = fk::Activation<fk::Relu>;
        auto const pooled = last ? fk::nhwc(3, 5, 6, 5) : fk::nchw(3, 5, 5, 6);
        check(Biased::bind({.bias = b}, {}), x, layout);
        check(fk::Plan<Conv, fk::Bias>::bind({.weights = w}, {.bias = b}), x, layout);
        check(fk::Plan<fk::Bias, Relu, Conv>::bind({.bias = b}, {}, {.weights = w}), x, layout);
        check(fk::Plan<fk::Conv<fk::filter(3, 3).pad(1).groups(5)>>::bind({.weights = thin}), x, layout);
        check(fk::Plan<Conv, fk::Pool<fk::Max, 2, 2>>::bind({.weights = w}, {}), x, pooled);
        check(fk::Plan<Relu, fk::Pool<fk::Average, 2, 2>>::bind({}, {}), x, pooled);
        check(fk::Plan<Conv, fk::ChannelStatistics>::bind({.weights = w},
                                                          {.mean = mean, .variance = variance, .scratch = scratch}),
              x, layout);
        check(fk::Plan<fk::BatchNormTraining<fk::Spatial>>::bind({.scale = b, .shift = b}), x, layout, false);
    }
}

TEST_CASE("signals, volumes and elements of two bytes are prepared too") {
    fk::host::Device device(1);
    auto const check_layout = [&]<class T>(T, auto const& layout) {
        auto const x = fk::random<T>(device, layout);
        fk::Tensor<T, fk::host::Device, std::remove_cvref_t<decltype(layout)>::rank> y(device, layout);
        auto const run = Abs::bind({}).template prepare<T>(device, layout, layout);
        run(device, x, y);
        for (std::int64_t i = 0; i < x.size(); ++i) REQUIRE(float(y.data()[i]) == std::fabs(float(x.data()[i])));
    };
    check_layout(float{}, fk::ncw(2, 3, 5));
    check_layout(fk::half{}, fk::ncdhw(2, 3, 2, 3, 4));
    check_layout(fk::bfloat16{}, fk::nhwc(2, 3, 2, 3));
    check_layout(double{}, fk::nchw(2, 3, 2, 3));
}

TEST_CASE("a prepared run refuses the same arguments as its layer, with the same message") {
    fk::host::Device device(2);
    auto const layout = fk::nchw(1, 4, 1, 2);
    auto x = fk::random<float>(device, layout), y = fk::random<float>(device, layout),
         values = fk::random<float>(device, layout);
    auto b = fk::random<float>(device, fk::channels(4));
    auto const biased = Biased::bind({.bias = b}, {}).prepare<float>(device, layout, layout, 4);
    std::string const plan = "Plan<Bias, Activation<Abs>>: ";
    std::string const apart = "expected memory apart from the output's, got memory that overlaps it";
    float const* const null = nullptr;
    CHECK(refused(y, biased, device, null, y.data()) ==
          plan + "x: expected a pointer to 1 x 4 x 1 x 2 elements, got a null pointer");
    CHECK(refused(y, biased, device, x.data(), static_cast<float*>(nullptr)) ==
          plan + "y: expected a pointer to 1 x 4 x 1 x 2 elements, got a null pointer");
    CHECK(refused(y, biased, device, x.data(), x.data() + 7) ==
          plan + "x: expected memory apart from the output's, or the output itself, got memory that overlaps it");
    CHECK(refused(y, biased, device, x.data(), b.data() + 3) == plan + "Bias.bias: " + apart);
    CHECK(refused(y, biased, device, x.data(), b.data() - 7) == plan + "Bias.bias: " + apart);
    CHECK(refused(y, biased, device, x, fk::TensorView(y.data(), fk::nchw(1, 4, 2, 1))) ==
          plan + "y.shape: expected 1 x 4 x 1 x 2, as it was prepared for, got 1 x 4 x 2 x 1");

    auto const aligned = Biased::bind({.bias = b}, {}).prepare<float>(device, layout, layout);
    CHECK(refused(y, aligned, device, x.data() + 2, y.data()) ==
          plan + "x: expected memory aligned to 16 bytes, as it was prepared for, got a multiple of 8");
    fk::host::Device wider(3);
    CHECK(refused(y, biased, wider, x, y) ==
          plan + "stream: expected a device of 2 threads, as it was prepared for, got 3");
    alignas(64) char memory[128];
    CHECK(refused(y, biased, device, x, y, fk::WorkspaceView{memory + 4, 64}) ==
          plan + "workspace: expected memory aligned to 64 bytes, got a multiple of 4");

    auto const stored = Stored::bind({.values = values}, {}).prepare(device, x, y);
    CHECK(refused(y, stored, device, x, values).ends_with("Store.values: " + apart));
    CHECK(refused(y, stored, device, values, y).ends_with("apart from the input's, got memory that overlaps it"));
    CHECK(!stored.try_run(device, x, y));
}

TEST_CASE("prepare refuses wrong arguments with the layer's message") {
    fk::host::Device device(1);
    auto const b = fk::random<float>(device, fk::channels(4));
    auto const layer = Biased::bind({.bias = b}, {});
    auto const four = fk::nchw(1, 4, 1, 1), five = fk::nchw(1, 5, 1, 1);
    auto const run = layer.try_prepare<float>(device, five, five);
    REQUIRE(!run);
    CHECK((run.error().plan == "Plan<Bias, Activation<Abs>>" && run.error().operator_name == "Bias" &&
           run.error().argument == "bias" && run.error().expected == "5 (K)" && run.error().given == "4"));
    CHECK_THROWS_AS(layer.prepare<float>(device, five, five), fk::Error);
    CHECK_THROWS_AS(layer.prepare<float>(device, four, five), fk::Error);
    CHECK(!layer.try_prepare<float>(device, four, four, 2));
    CHECK(!layer.try_prepare<float>(device, four, four, 12));
    CHECK(!layer.try_prepare<float>(device, four, fk::Layout<4>{four.shape, {{0, 0, 0, 0}}}));
    auto const far = std::int64_t{1} << 60;
    CHECK(!layer.try_prepare<float>(device, fk::Layout<4>{{{2, 4, 1, 1}}, {{far, 1, 1, 1}}}, fk::nchw(2, 4, 1, 1)));
    CHECK(!layer.try_prepare<float>(device, fk::nchw(-1, 4, 1, 1), fk::nchw(-1, 4, 1, 1)));
    CHECK(layer.try_prepare<float>(device, fk::nchw(0, 4, 1, 1), fk::nchw(0, 4, 1, 1)));
    CHECK(layer.try_prepare<float>(device, four, four));
    auto const w = fk::random<float>(device, fk::kcrs(4, 4, 1, 1));
    CHECK(!fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = fk::filter(1, 1).groups(0)})
               .try_prepare<float>(device, four, four));
}

TEST_CASE("one prepared run is run by many threads, on one device and on devices of their own") {
    fk::host::Device device(2);
    auto const x = fk::random<float>(device, fk::nchw(2, 3, 9, 9)), w = fk::random<float>(device, fk::kcrs(4, 3, 3, 3));
    auto const layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>::bind({.weights = w});
    auto const expected = numbers(layer(device, x));
    auto const layout = fk::nchw(2, 4, 9, 9);
    auto const run = layer.prepare<float>(device, x.layout(), layout);
    std::vector<float> got[4];
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            fk::host::Device own(2);
            fk::Workspace const workspace(own, run.workspace_bytes());
            Floats y(own, layout);
            for (int i = 0; i < 20; ++i)
                if (t % 2) run(device, x, y);
                else run(own, x, y, workspace);
            got[t] = numbers(y);
        });
    for (std::thread& thread : threads) thread.join();
    for (auto const& values : got) CHECK(values == expected);
}
