// SPDX-License-Identifier: MIT
//
// Speedup of 8-bit float convolutions over half: times convolution + bias + ReLU in half, and in e4m3 with a scale
// before the store, with and without Amax before it; NHWC, on one GPU in one run. Results on integers that half
// represents exactly are compared first.
#include <fusekit/hip.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "layers.hpp"
#include "support/chains.hpp"
#include "support/graph_timing.hpp"
#include "support/hip_machine.hpp"
#include "support/layer_choice.hpp"
#include "support/machine.hpp"
#include "support/options.hpp"
#include "support/records.hpp"

namespace {

using namespace bench;
using fk::hip::Roles;
using fk::hip::WarpSpecialized;

struct Options {
    int index = 0, batch = 64, repeats = 9;
    std::string layers = "conv", output = "bench-output";
};

template <class... Schedules>
struct List {};
/// Candidates for tuning/nvidia.hpp, beside the library's own choice.
using Candidates = List<WarpSpecialized<192, 128, 4>, WarpSpecialized<128, 128, 5>, WarpSpecialized<96, 128, 7>,
                        WarpSpecialized<64, 128, 8>, WarpSpecialized<64, 128, 5, Roles::ping_pong>,
                        WarpSpecialized<192, 64, 8, Roles::ping_pong>>;

template <class T>
using Tensor4 = fk::Tensor<T, fk::hip::Device>;

/// The same plan for both types; `factor` is 1 for half.
template <class T, fk::Filter<2> Filter>
struct Layer {
    using Relu = fk::Activation<fk::Relu>;
    using Conv = fk::Conv<Filter>;

    Tensor4<T> weights;
    fk::Tensor<float, fk::hip::Device, 1> bias;
    float factor;

    auto with_amax(fk::Tensor<float, fk::hip::Device, 1>& amax) const {
        return fk::Plan<Conv, fk::Bias, Relu, fk::Amax, fk::Scale>::bind({.weights = weights}, {.bias = bias}, {},
                                                                         {.amax = amax}, {.factor = factor});
    }
    auto bound() const {
        if constexpr (sizeof(T) == 2)
            return fk::Plan<Conv, fk::Bias, Relu>::bind({.weights = weights}, {.bias = bias}, {});
        else
            return fk::Plan<Conv, fk::Bias, Relu, fk::Scale>::bind({.weights = weights}, {.bias = bias}, {},
                                                                   {.factor = factor});
    }
};

/// Integers from -2 to 2.
std::vector<float> integers(std::int64_t count, unsigned seed) {
    std::mt19937 generator(seed);
    std::vector<float> all(static_cast<std::size_t>(count));
    for (float& each : all) each = static_cast<float>(static_cast<int>(generator() % 5)) - 2;
    return all;
}
template <class T, int Rank>
fk::Tensor<T, fk::hip::Device, Rank> filled(fk::hip::Device& device, fk::Layout<Rank> const& layout,
                                            std::vector<float> const& values) {
    fk::Tensor<T, fk::hip::Device, Rank> tensor(device, layout);
    std::vector<T> const elements(values.begin(), values.end());
    tensor.copy_from(elements.data());
    return tensor;
}

/// Throws if, on integers, the e4m3 result is not a quarter of half's, or the largest magnitude differs.
template <class Device, fk::Filter<2> Filter>
void check(fk::hip::Device& device, Device& on, ConvLayer const& l) {
    auto const x_layout = activations({3, l.c, l.h, l.w, true}), y_layout = activations({3, l.k, l.p(), l.q(), true}),
               w_layout = activations({l.k, l.c, l.r, l.s, true});
    auto const x = integers(x_layout.size(), 1), w = integers(w_layout.size(), 2), b = integers(l.k, 3);
    auto largest = filled<float>(device, fk::channels(1), {0});
    auto const run = [&]<class T>(T, auto& scheduled) {
        Layer<T, Filter> const layer{filled<T>(device, w_layout, w), filled<float>(device, fk::channels(l.k), b),
                                     0.25f};
        auto const input = filled<T>(device, x_layout, x);
        auto y = filled<T>(device, y_layout, std::vector<float>(static_cast<std::size_t>(y_layout.size()), NAN));
        if constexpr (sizeof(T) == 1 && std::is_same_v<std::remove_cvref_t<decltype(scheduled)>, fk::hip::Device>)
            layer.with_amax(largest)(scheduled, input, y);
        else layer.bound()(scheduled, input, y);
        return to_host(y);
    };
    auto const exact = run(fk::half{}, device);
    auto const got = run(fk::e4m3{}, on);
    for (std::size_t i = 0; i < got.size(); ++i)
        if (float{got[i]} != float{fk::e4m3(float{exact[i]} * 0.25f)})
            throw std::runtime_error(text("%s: y[%zu] of e4m3 is %g, of half %g", l.name().c_str(), i,
                                          double{float{got[i]}}, double{float{exact[i]}}));
    if constexpr (std::is_same_v<Device, fk::hip::Device>) {
        float found = 0, expected = 0;
        for (fk::half const each : exact) expected = std::fmax(expected, each);
        largest.copy_to(&found);
        if (found != expected)
            throw std::runtime_error(text("%s: Amax is %g, not %g", l.name().c_str(), double{found}, double{expected}));
    }
}

template <class T, fk::Filter<2> Filter>
class Timed {
public:
    Timed(fk::hip::Device& device, ConvLayer const& l, int batch)
        : layer{fk::random<T>(device, activations({l.k, l.c, l.r, l.s, true}), 2),
                fk::random<float>(device, fk::channels(l.k), 3), 0.25f},
          amax(fk::random<float>(device, fk::channels(1), 4)),
          io(device, activations({batch, l.c, l.h, l.w, true}), activations({batch, l.k, l.p(), l.q(), true}),
             gpu_rotated_bytes(device.index())) {}

    template <class Device>
    Subject on(Device& device) {
        return [this, &device](std::int64_t call) { layer.bound()(device, io.x(call), io.y(call)); };
    }
    Subject with_amax(fk::hip::Device& device) {
        return [this, &device](std::int64_t call) { layer.with_amax(amax)(device, io.x(call), io.y(call)); };
    }
    std::int64_t size() const { return io.size(); }

private:
    Layer<T, Filter> layer;
    fk::Tensor<float, fk::hip::Device, 1> amax;
    Rotation<T, fk::hip::Device> io;
};

/// Seconds of half, of e4m3 with the library's choice, of that with Amax, and of each candidate.
template <fk::Filter<2> Filter, class... Schedules>
std::vector<double> measure(List<Schedules...>, fk::hip::Device& device, ConvLayer const& l, Options const& options) {
    auto scheduled = std::make_tuple(device.with<Schedules>()...);
    check<fk::hip::Device, Filter>(device, device, l);
    std::apply([&](auto&... each) { (check<std::remove_reference_t<decltype(each)>, Filter>(device, each, l), ...); },
               scheduled);
    Timed<fk::half, Filter> half(device, l, options.batch);
    Timed<fk::e4m3, Filter> narrow(device, l, options.batch);
    std::vector<Subject> const subjects = std::apply(
        [&](auto&... each) {
            return std::vector<Subject>{half.on(device), narrow.on(device), narrow.with_amax(device),
                                        narrow.on(each)...};
        },
        scheduled);
    for (Subject const& subject : subjects) subject(0);
    return graph_medians(device.stream(), subjects, narrow.size(), options.repeats);
}

int run(int argc, char** argv) {
    Options options;
    CommandLine const command_line =
        CommandLine("float8", "convolutions of e4m3 beside those of half")
            .integer("--index", options.index, 0, 1023, "which GPU")
            .integer("--batch", options.batch, 1, 4096, "images in a batch")
            .text("--layers", "LIST", options.layers, "'conv', names or parts of names, with commas between")
            .integer("--repeats", options.repeats, 1, 1000, "samples of each time, of which the median is reported")
            .text("--output", "DIR", options.output, "where float8.csv and float8.json go");
    if (!command_line.parse(argc, argv)) return 0;
    LayerChoice const chosen = choose_layers(options.layers);

    fk::hip::Device device(options.index);
    bench::require(hipSetDevice(options.index), "hipSetDevice");
    Machine const machine = gpu_machine(device);
    std::printf("%s, driver %s, %s, %s; batch %d, NHWC; microseconds\n%-23s %8s %8s %6s %8s %8s  candidates\n",
                machine.device.c_str(), machine.driver.c_str(), machine.compiler.c_str(), today().c_str(),
                options.batch, "layer", "half", "e4m3", "ratio", "TFLOP/s", "Amax");
    Records records({{"batch", std::to_string(options.batch)},
                     {"layout", "nhwc"},
                     {"machine", machine.device},
                     {"driver", machine.driver},
                     {"compiler", machine.compiler},
                     {"date", today()},
                     {"command", command_text(argc, argv)}});
    for (ConvLayer const& l : chosen.conv) {
        auto const seconds = l.r == 1 ? measure<fk::filter(1, 1)>(Candidates{}, device, l, options)
                                      : measure<fk::filter(3, 3).pad(1)>(Candidates{}, device, l, options);
        std::printf("%-23s %8.2f %8.2f %6.2f %8.0f %8.2f ", l.name().c_str(), seconds[0] * 1e6, seconds[1] * 1e6,
                    seconds[0] / seconds[1], l.flops(options.batch) / seconds[1] * 1e-12, seconds[2] * 1e6);
        for (std::size_t i = 3; i < seconds.size(); ++i) std::printf(" %7.2f", seconds[i] * 1e6);
        std::printf("\n");
        std::fflush(stdout);
        records.add({{"layer", l.name()},
                     {"half_us", text("%.3f", seconds[0] * 1e6)},
                     {"e4m3_us", text("%.3f", seconds[1] * 1e6)},
                     {"amax_us", text("%.3f", seconds[2] * 1e6)},
                     {"ratio", text("%.4f", seconds[0] / seconds[1])}});
    }
    records.write(options.output, "float8");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("float8", [&] { return run(argc, argv); });
}
