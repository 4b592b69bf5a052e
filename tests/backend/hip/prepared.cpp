// SPDX-License-Identifier: MIT
#include "fusekit/plan/prepared.hpp"

#include <cmath>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "backend/hip/gpu.hpp"

using namespace test;
using namespace fusekit::hip;  // HIP's names are here on some platforms

namespace {

using Channels = fk::Tensor<float, fk::hip::Device, 1>;
using Biased = fk::Plan<fk::Bias, fk::Activation<fk::Abs>>;
using Stored = fk::Plan<fk::Store, fk::Activation<fk::Abs>>;
using Norm = fk::Plan<fk::BatchNormTraining<fk::Spatial>, fk::Activation<fk::Relu>>;
using Collected = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::ChannelStatistics, fk::Activation<fk::Relu>>;

/// Planes of an odd size: no cluster computes sums over them in float, so that norm() uses workspace on every GPU.
inline constexpr fk::Layout<4> odd_planes = fk::nchw(16, 2, 23, 25);

/// Layers of every kind of head, and the tensors bound to them.
struct Layers {
    fk::hip::Device& device;
    Floats x, w;
    Channels b, scale, shift, mean, variance, scratch;

    explicit Layers(fk::hip::Device& the_device, fk::Layout<4> const& layout = fk::nchw(16, 2, 24, 24))
        : device(the_device),
          x(fk::random<float>(the_device, layout)),
          w(fk::random<float>(the_device, fk::kcrs(2, 2, 3, 3), 2)),
          b(fk::random<float>(the_device, fk::channels(2), 3)),
          scale(fk::random<float>(the_device, fk::channels(2), 4)),
          shift(fk::random<float>(the_device, fk::channels(2), 5)),
          mean(the_device, fk::channels(2)),
          variance(the_device, fk::channels(2)),
          scratch(the_device, fk::channels(fk::ChannelStatistics::scratch(x.layout().shape))) {}

    auto biased() const { return Biased::bind({.bias = b}, {}); }
    auto conv() const {
        return fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias>::bind({.weights = w}, {.bias = b});
    }
    auto pool() const { return fk::Plan<fk::Activation<fk::Abs>, fk::Pool<fk::Max, 2, 2>>::bind({}, {}); }
    auto norm() const { return Norm::bind({.scale = scale, .shift = shift}, {}); }
    auto collected() {
        return Collected::bind({.weights = w}, {.mean = mean, .variance = variance, .scratch = scratch}, {});
    }

    /// Calls f(layer) for each layer.
    template <class F>
    void each(F const& f) {
        f(biased());
        f(conv());
        f(pool());
        f(norm());
        f(collected());
    }

    template <class Layer>
    Floats output(Layer const& layer) const {
        return Floats(device, fk::packed_like(layer.output_shape(x.layout().shape), x.layout()));
    }
};

/// Fills y with NaN, to detect elements that are not written.
void spoil(Floats& y) { y.copy_from(std::vector<float>(static_cast<std::size_t>(y.size()), NAN).data()); }

bool same_bits(std::vector<float> const& a, std::vector<float> const& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Returns the message of a refused run; checks that nothing was written.
template <class Run, class... Arguments>
std::string refused(Floats& y, Run const& run, Arguments&&... arguments) {
    y.copy_from(std::vector<float>(static_cast<std::size_t>(y.size()), 7).data());
    fk::Refusal const returned = run.try_run(arguments...);
    std::string const thrown = refusal([&] { run(arguments...); });
    CHECK(numbers(y) == std::vector<float>(static_cast<std::size_t>(y.size()), 7));
    CHECK(thrown == (returned ? returned->what() : "accepted"));
    return thrown;
}

/// Stream of the application.
struct Borrowed {
    hipStream_t stream = nullptr;

    Borrowed() { REQUIRE(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking) == hipSuccess); }
    ~Borrowed() { CHECK(hipStreamDestroy(stream) == hipSuccess); }
};

/// Runs a layer in all forms and compares bits. Does not use Catch's INFO, in which nvcc 13 does not return here.
template <class Layer>
void check_forms(fk::hip::Device& device, Layers& layers, Layer const& layer, hipStream_t application) {
    Floats y = layers.output(layer);
    layer(device, layers.x, y);
    std::vector<float> const expected = numbers(y);
    auto const run = layer.template prepare<float>(device, layers.x.layout(), y.layout());
    auto const same = layer.prepare(device, layers.x, y);
    CHECK(run.workspace_bytes() == same.workspace_bytes());
    auto const check = [&](std::function<void()> const& form) {
        spoil(y);
        device.synchronize();
        form();
        REQUIRE(hipDeviceSynchronize() == hipSuccess);
        CHECK(same_bits(numbers(y), expected));
    };
    fk::hip::Stream own(device), beside = fk::hip::Stream::non_blocking(device);
    fk::Workspace const workspace(device, run.workspace_bytes());
    fk::hip::Stream const theirs(device, application), lent(device, application, workspace);
    check([&] { run(device, layers.x, y); });
    check([&] { run(own, layers.x.data(), y.data()); });
    check([&] { same(beside, layers.x, y.data()); });
    check([&] { same(theirs, layers.x.data(), y.view(), workspace); });
    check([&] { run(lent, layers.x, y); });
    check([&] { layer(own, layers.x, y); });
    check([&] { run(fk::hip::Stream(device, application), layers.x, y, workspace); });
    CHECK(same_bits(numbers(layer(own, layers.x)), expected));
    CHECK(same_bits(numbers(layer(beside, layers.x)), expected));
}

}  // namespace

TEST_CASE("HIP: a prepared run is bitwise identical to its layer, from pointers and tensors, on any stream") {
    fk::hip::Device device = gpu();
    Layers layers(device);
    Borrowed application;
    layers.each([&](auto const& layer) { check_forms(device, layers, layer, application.stream); });
    Layers odd(device, odd_planes);
    check_forms(device, odd, odd.norm(), application.stream);
}

TEST_CASE("HIP: a schedule named by the caller is prepared and computes y") {
    fk::hip::Device device = gpu();
    Layers layers(device);
    auto const layer = layers.conv();
    Floats y = layers.output(layer);
    std::vector<float> const expected = numbers(layer(device.with<fk::hip::Direct<64>>(), layers.x));
    auto const run = layer.prepare(device.with<fk::hip::Direct<64>>(), layers.x, y);
    run(device, layers.x, y);
    CHECK(same_bits(numbers(y), expected));
    fk::hip::Stream stream(device);
    static_assert(std::is_same_v<decltype(layer(stream.with<fk::hip::Direct<64>>(), layers.x)), Floats>);
    CHECK(same_bits(numbers(layer(stream.with<fk::hip::Direct<64>>(), layers.x)), expected));
}

TEST_CASE("HIP: a prepared run is refused null pointers, and less alignment than it was prepared for") {
    fk::hip::Device device = gpu();
    auto const layout = fk::nchw(1, 1, 1, 8);
    auto x = fk::random<float>(device, fk::nchw(1, 1, 1, 12)), all = fk::random<float>(device, fk::nchw(1, 1, 1, 12));
    float const* const null = nullptr;
    auto const run = Abs::bind({}).prepare<float>(device, layout, layout);
    CHECK(refused(all, run, device, null, all.data()) ==
          "Plan<Activation<Abs>>: x: expected a pointer to 1 x 1 x 1 x 8 elements, got a null pointer");
    CHECK(refused(all, run, device, x.data(), static_cast<float*>(nullptr)) ==
          "Plan<Activation<Abs>>: y: expected a pointer to 1 x 1 x 1 x 8 elements, got a null pointer");
    CHECK(refused(all, run, device, x.data() + 1, all.data()) ==
          "Plan<Activation<Abs>>: x: expected memory aligned to 16 bytes, as it was prepared for, got a multiple of 4");
    CHECK(refused(all, run, device, x.data(), all.data() + 2) ==
          "Plan<Activation<Abs>>: y: expected memory aligned to 16 bytes, as it was prepared for, got a multiple of 8");
    CHECK(!run.try_run(device, x.data() + 4, all.data() + 4));

    auto const anywhere = Abs::bind({}).prepare<float>(device, layout, layout, 4);
    CHECK(!anywhere.try_run(device, x.data() + 1, all.data() + 3));
    auto const as_given =
        Abs::bind({}).prepare(device, fk::TensorView(x.data() + 1, layout), fk::TensorView(all.data() + 2, layout));
    CHECK(!as_given.try_run(device, x.data() + 3, all.data() + 2));
    CHECK(refused(all, as_given, device, x.data(), all.data() + 1) ==
          "Plan<Activation<Abs>>: y: expected memory aligned to 8 bytes, as it was prepared for, got a multiple of 4");
}

TEST_CASE("HIP: a prepared run is refused memory that overlaps y's, or an output's") {
    fk::hip::Device device = gpu();
    auto const layout = fk::nchw(1, 4, 1, 2);
    auto x = fk::random<float>(device, layout), y = fk::random<float>(device, layout),
         values = fk::random<float>(device, layout);
    auto const b = fk::random<float>(device, fk::channels(4));
    auto const biased = Biased::bind({.bias = b}, {}).prepare<float>(device, layout, layout, 4);
    auto const apart = "expected memory apart from the output's, got memory that overlaps it";
    CHECK(refused(y, biased, device, x.data(), x.data() + 7) ==
          "Plan<Bias, Activation<Abs>>: x: expected memory apart from the output's, or the output itself, got memory "
          "that overlaps it");
    CHECK(refused(y, biased, device, x.data(), const_cast<float*>(b.data()) + 3) ==
          std::string("Plan<Bias, Activation<Abs>>: Bias.bias: ") + apart);
    auto const stored = Stored::bind({.values = values}, {}).prepare(device, x, y);
    CHECK(refused(y, stored, device, x, values) == std::string("Plan<Store, Activation<Abs>>: Store.values: ") + apart);
    CHECK(
        refused(y, stored, device, values, y) ==
        "Plan<Store, Activation<Abs>>: Store.values: expected memory apart from the input's, got memory that overlaps "
        "it");
    CHECK(!stored.try_run(device, x, y));
}

TEST_CASE("HIP: a prepared run is refused tensors of other layouts") {
    fk::hip::Device device = gpu();
    auto x = fk::random<float>(device, fk::nchw(1, 2, 1, 3)), y = fk::random<float>(device, fk::nchw(1, 2, 1, 3));
    auto const run = Abs::bind({}).prepare(device, x, y);
    CHECK(refused(y, run, device, fk::TensorView(x.data(), fk::nchw(1, 1, 1, 3)), y) ==
          "Plan<Activation<Abs>>: x.shape: expected 1 x 2 x 1 x 3, as it was prepared for, got 1 x 1 x 1 x 3");
    CHECK(refused(y, run, device, x, fk::TensorView(y.data(), fk::nhwc(1, 1, 3, 2))) ==
          "Plan<Activation<Abs>>: y.strides: expected 6 x 3 x 3 x 1, as it was prepared for, got 6 x 1 x 6 x 2");
}

TEST_CASE("HIP: a prepared run is refused memory of the host") {
    fk::hip::Device device = gpu();
    hipDeviceProp_t properties;
    REQUIRE(hipGetDeviceProperties(&properties, 0) == hipSuccess);
    if (properties.pageableMemoryAccess) SKIP("this GPU reads the host's memory");
    auto const layout = fk::nchw(1, 1, 1, 4);
    auto x = fk::random<float>(device, layout), y = fk::random<float>(device, layout);
    alignas(64) float host[1024];
    auto const run = Abs::bind({}).prepare<float>(device, layout, layout);
    CHECK(refused(y, run, device, host, y.data()) ==
          "Plan<Activation<Abs>>: x: expected memory of device 0, got memory of the host");
    CHECK(refused(y, run, device, x.data(), host) ==
          "Plan<Activation<Abs>>: y: expected memory of device 0, got memory of the host");
    Layers layers(device, odd_planes);
    Floats z = layers.output(layers.norm());
    auto const norm = layers.norm().prepare(device, layers.x, z);
    CHECK(refused(z, norm, device, layers.x, z, fk::WorkspaceView{host, std::size_t{1} << 20}) ==
          "Plan<BatchNormTraining<Spatial>, Activation<Relu>>: workspace: expected memory of device 0, got memory of "
          "the host");
}

TEST_CASE("HIP: a prepared run is refused streams and memory of another device") {
    fk::hip::Device second = gpu(1), first;
    auto const layout = fk::nchw(1, 1, 1, 4);
    auto here = fk::random<float>(first, layout), y = fk::random<float>(first, layout),
         there = fk::random<float>(second, layout);
    auto const run = Abs::bind({}).prepare<float>(first, layout, layout);
    CHECK(refused(y, run, second, here, y) ==
          "Plan<Activation<Abs>>: stream: expected a stream of device 0, as it was prepared for, got one of device 1");
    CHECK(refused(y, run, first, there, y) ==
          "Plan<Activation<Abs>>: x: expected memory of device 0, got memory of device 1");
}

TEST_CASE("HIP: a reduction is refused if the workspace is too small") {
    fk::hip::Device device = gpu();
    Layers layers(device, odd_planes);
    Borrowed application;
    fk::hip::Stream const theirs(device, application.stream);
    std::string const plan = "Plan<BatchNormTraining<Spatial>, Activation<Relu>>: workspace: expected ";
    auto const layer = layers.norm();
    Floats y = layers.output(layer);
    auto const run = layer.prepare(device, layers.x, y);
    std::size_t const bytes = run.workspace_bytes();
    REQUIRE(bytes > 0);
    fk::Workspace const workspace(device, bytes + 64);
    void* const memory = workspace.view().data;
    std::string const expected = plan + std::to_string(bytes) + " bytes";
    CHECK(refused(y, run, theirs, layers.x, y) == expected + ", passed to the run or owned by the stream, got none");
    CHECK(refusal([&] { layer(theirs, layers.x, y); }) ==
          expected + ", passed to the run or owned by the stream, got none");
    CHECK(refused(y, run, theirs, layers.x, y, fk::WorkspaceView{memory, bytes - 1}) ==
          expected + ", got " + std::to_string(bytes - 1));
    fk::hip::Stream const little(device, application.stream, {memory, 8});
    CHECK(refused(y, run, little, layers.x, y) == expected + ", passed to the run or owned by the stream, got 8");
    CHECK(refused(y, run, theirs, layers.x, y, fk::WorkspaceView{static_cast<char*>(memory) + 16, bytes}) ==
          plan + "memory aligned to 64 bytes, got a multiple of 16");
    CHECK(!run.try_run(theirs, layers.x, y, {memory, bytes}));
    REQUIRE(hipStreamSynchronize(application.stream) == hipSuccess);
}

TEST_CASE("HIP: prepare refuses wrong arguments with the layer's message") {
    fk::hip::Device device = gpu();
    auto const b = fk::random<float>(device, fk::channels(4));
    auto const layer = Biased::bind({.bias = b}, {});
    auto const check = [&](auto const& run, char const* text) {
        REQUIRE(!run);
        CHECK(std::string(run.error().what()) == text);
        CHECK(refusal([&] { static_cast<void>(run.value()); }) == text);
    };
    auto const four = fk::nchw(1, 4, 1, 1), five = fk::nchw(1, 5, 1, 1);
    check(layer.try_prepare<float>(device, five, five),
          "Plan<Bias, Activation<Abs>>: Bias.bias: expected 5 (K), got 4");
    check(layer.try_prepare<float>(device, four, five),
          "Plan<Bias, Activation<Abs>>: y: expected 1 x 4 x 1 x 1 (N x K x P x Q), got 1 x 5 x 1 x 1");
    check(layer.try_prepare<float>(device, four, four, 6),
          "Plan<Bias, Activation<Abs>>: prepare.alignment: expected a power of two, 4 or more, got 6");
    CHECK(refusal([&] { static_cast<void>(layer.prepare<float>(device, four, five)); }).ends_with("1 x 5 x 1 x 1"));
    auto const long_rows = fk::nchw(1, 1, 1, std::int64_t{1} << 31);
    CHECK(Abs::bind({}).try_prepare<float>(device, long_rows, long_rows));  // reads no coordinates
    auto const wide = fk::nchw(1, 4, 1, std::int64_t{1} << 29);
    check(layer.try_prepare<float>(device, wide, wide),
          "Plan<Bias, Activation<Abs>>: y.shape: expected an image of fewer than 2^31 elements, got 1 x 4 x 1 x "
          "536870912");
    auto const w = fk::random<float>(device, fk::kcrs(4, 4, 1, 1));
    check(fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = fk::filter(1, 1).groups(0)})
              .try_prepare<float>(device, four, four),
          "Plan<Conv<dynamic>>: Conv<dynamic>.filter: expected 1 group or more, got 0");
}

TEST_CASE("HIP: one prepared run is run by many threads, on streams of their own") {
    fk::hip::Device device = gpu();
    Layers layers(device, odd_planes);
    auto const check = [&](auto const& layer) {
        std::vector<float> const expected = numbers(layer(device, layers.x));
        Floats any = layers.output(layer);
        auto const run = layer.prepare(device, layers.x, any);
        std::vector<float> got[4];
        std::thread threads[4];
        for (int t = 0; t < 4; ++t)
            threads[t] = std::thread([&, t] {
                fk::hip::Stream stream(device);
                Floats y = layers.output(layer);
                for (int i = 0; i < 3; ++i) run(stream, layers.x, y);
                stream.synchronize();
                got[t] = numbers(y);
            });
        for (std::thread& thread : threads) thread.join();
        for (auto const& values : got) CHECK(same_bits(values, expected));
    };
    check(layers.conv());
    check(layers.norm());
}

TEST_CASE("HIP: graphs captured with workspaces of their own run at the same time") {
    fk::hip::Device device = gpu();
    Layers layers(device, odd_planes);
    auto const layer = layers.norm();
    std::vector<float> const expected = numbers(layer(device, layers.x));
    Floats outputs[] = {layers.output(layer), layers.output(layer)};
    auto const run = layer.prepare(device, layers.x, outputs[0]);
    fk::Workspace<fk::hip::Memory> const workspaces[] = {{device, run.workspace_bytes()},
                                                         {device, run.workspace_bytes()}};
    Borrowed application[2];
    hipGraph_t graphs[2];
    hipGraphExec_t executables[2];
    for (int i = 0; i < 2; ++i) {
        fk::hip::Stream const stream(device, application[i].stream);
        REQUIRE(hipStreamBeginCapture(stream.stream(), hipStreamCaptureModeThreadLocal) == hipSuccess);
        run(stream, layers.x, outputs[i], workspaces[i]);
        REQUIRE(hipStreamEndCapture(stream.stream(), &graphs[i]) == hipSuccess);
        REQUIRE(hipGraphInstantiate(&executables[i], graphs[i], nullptr, nullptr, 0) == hipSuccess);
        spoil(outputs[i]);
    }
    for (int replay = 0; replay < 20; ++replay)
        for (int i = 0; i < 2; ++i) REQUIRE(hipGraphLaunch(executables[i], application[i].stream) == hipSuccess);
    for (int i = 0; i < 2; ++i) {
        REQUIRE(hipStreamSynchronize(application[i].stream) == hipSuccess);
        CHECK(same_bits(numbers(outputs[i]), expected));
        REQUIRE(hipGraphExecDestroy(executables[i]) == hipSuccess);
        REQUIRE(hipGraphDestroy(graphs[i]) == hipSuccess);
    }
}
