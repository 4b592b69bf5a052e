// SPDX-License-Identifier: MIT
// Counts the calls to the emulator of HIP's runtime.
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "hip_on_cpu/control.hpp"

using namespace test;

namespace {

/// Number of calls that allocate, free, copy or synchronize.
long calls() {
    long count = 0;
    for (char const* call : {"hipMalloc", "hipMallocAsync", "hipHostMalloc", "hipFree", "hipFreeAsync", "hipMemcpy",
                             "hipMemcpyAsync", "hipMemset", "hipMemsetAsync", "hipStreamSynchronize",
                             "hipDeviceSynchronize", "hipGetDeviceProperties", "hipStreamCreateWithFlags"})
        count += hip_on_cpu::calls(call);
    return count;
}
long launches() { return hip_on_cpu::calls("hipLaunchKernel") + hip_on_cpu::calls("hipLaunchCooperativeKernel"); }

/// Checks that all runs of a layer, the first included and in every form, only launch.
template <class Layer>
void check(Layer const& layer, Floats const& x) {
    INFO(fk::type_name<typename Layer::Plan>().c_str());
    fk::hip::Device device, another;
    Floats y(device, fk::packed_like(layer.output_shape(x.layout().shape), x.layout()));
    fk::hip::Stream stream(device);
    hipStream_t const application = nullptr;
    auto const run = layer.prepare(device, x, y);
    fk::Workspace const workspace(device, run.workspace_bytes());
    long const before = calls(), launched = launches();
    layer(another, x, y);
    layer(device, x, y);
    layer(stream, x, y);
    layer(fk::hip::Stream(device, application, workspace), x, y);
    run(device, x, y);
    run(stream, x.data(), y.data());
    run(fk::hip::Stream(device, application), x, y, workspace);
    auto const prepared = layer.prepare(stream, x, y);
    prepared(stream, x, y);
    CHECK(calls() == before);
    CHECK(launches() == launched + 8);
}

}  // namespace

TEST_CASE("no run allocates, copies or synchronizes") {
    fk::hip::Device device;
    for (bool const last : {false, true}) {
        auto const layout = last ? fk::nhwc(6, 24, 24, 2) : fk::nchw(6, 2, 24, 24);
        auto const x = fk::random<float>(device, layout), w = fk::random<float>(device, fk::kcrs(2, 2, 3, 3));
        fk::Tensor<float, fk::hip::Device, 1> const b = fk::random<float>(device, fk::channels(2));
        fk::Tensor<float, fk::hip::Device, 1> mean(device, fk::channels(2)), variance(device, fk::channels(2)),
            scratch(device, fk::channels(fk::ChannelStatistics::scratch(layout.shape)));
        using Relu = fk::Activation<fk::Relu>;
        using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
        using Norm = fk::Plan<fk::BatchNormTraining<fk::Spatial>, Relu>;
        auto const norm =
            Norm::bind({.scale = b, .shift = b, .saved_mean = mean, .saved_inverse_deviation = variance}, {});
        check(fk::Plan<fk::Bias, Relu>::bind({.bias = b}, {}), x);
        check(fk::Plan<Relu, fk::Pool<fk::Max, 2, 2>>::bind({}, {}), x);
        check(fk::Plan<Conv, fk::Bias>::bind({.weights = w}, {.bias = b}), x);
        check(fk::Plan<Conv, fk::ChannelStatistics>::bind({.weights = w},
                                                          {.mean = mean, .variance = variance, .scratch = scratch}),
              x);
        check(fk::Plan<fk::ChannelStatistics>::bind({.mean = mean, .variance = variance}), x);
        check(norm, x);
        static_cast<void>(norm(device, x));
        check(fk::Backward<Norm>::bind(norm, x, {}, {}), x);
    }
}

TEST_CASE("a prepared run queries a new pointer's device once") {
    fk::hip::Device device;
    auto const layout = fk::nchw(1, 1, 1, 4);
    auto memory = fk::random<float>(device, fk::nchw(1, 1, 1, 256));
    float *const x = memory.data(), *const y = x + 128;
    auto const run = Abs::bind({}).prepare<float>(device, layout, layout);
    long const before = hip_on_cpu::calls("hipPointerGetAttributes");
    for (int i = 0; i < 3; ++i) run(device, x, y);
    CHECK(hip_on_cpu::calls("hipPointerGetAttributes") == before + 2);
}

TEST_CASE("a new y is allocated and freed in stream order, without synchronization") {
    fk::hip::Device device;
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 2), {-1, 2});
    long const ordered = hip_on_cpu::calls("hipMallocAsync"), freed = hip_on_cpu::calls("hipFreeAsync"), all = calls(),
               objects = hip_on_cpu::live_objects();
    for (int i = 0; i < 3; ++i) {
        auto const y = Abs::bind({})(device, x);
        auto const z = Abs::bind({})(device.with<fk::hip::Elementwise<64>>(), y);
    }
    CHECK(hip_on_cpu::calls("hipMallocAsync") == ordered + 6);
    CHECK(hip_on_cpu::calls("hipFreeAsync") == freed + 6);
    CHECK(calls() == all + 12);
    CHECK(hip_on_cpu::live_objects() == objects);
    Floats kept = Abs::bind({})(device, x);
    kept = Abs::bind({})(device, kept);
    CHECK(numbers(kept) == std::vector<float>{1, 2});
}
