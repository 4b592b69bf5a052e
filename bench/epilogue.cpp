// SPDX-License-Identifier: MIT
//
// Cost of an epilogue: times a convolution + bias + ReLU, and variants with a residual, with batch norm instead of the
// bias, and with statistics, each in one kernel, against the time of the first plus that of the bytes that the operator
// moves.
#include <fusekit/hip.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "layers.hpp"
#include "support/chains.hpp"
#include "support/graph_timing.hpp"
#include "support/hip_ceilings.hpp"
#include "support/hip_machine.hpp"
#include "support/layer_choice.hpp"
#include "support/machine.hpp"
#include "support/options.hpp"
#include "support/records.hpp"

namespace {

using namespace bench;

struct Options {
    int index = 0, batch = 64, repeats = 9;
    std::string layers = "conv", layout = "nhwc", dtype = "half", output = "bench-output";
};

/// Seconds of each plan.
struct Times {
    double plain, residual, norm, statistics;
};

template <class T, fk::Filter<2> Filter>
Times measure(fk::hip::Device& device, ConvLayer const& l, bool last, Options const& options) {
    using Relu = fk::Activation<fk::Relu>;
    using Conv = fk::Conv<Filter>;
    Extents const input{options.batch, l.c, l.h, l.w, last}, output{options.batch, l.k, l.p(), l.q(), last};
    auto const weights = fk::random<T>(device, activations({l.k, l.c, l.r, l.s, last}), 2);
    auto const bias = fk::random<T>(device, fk::channels(l.k), 3);
    auto const mean = fk::random<float>(device, fk::channels(l.k), 4),
               scale = fk::random<float>(device, mean.layout(), 5), shift = fk::random<float>(device, mean.layout(), 6);
    fk::Tensor<float, fk::hip::Device, 1> variance(device, mean.layout()), found_mean(device, mean.layout()),
        found_variance(device, mean.layout()),
        scratch(device, fk::channels(fk::ChannelStatistics::scratch(activations(output).shape)));
    variance.copy_from(std::vector<float>(static_cast<std::size_t>(l.k), 1.0f).data());
    Rotation<T, fk::hip::Device> io(device, activations(input), activations(output), gpu_rotated_bytes(device.index()));
    Rotation<T, fk::hip::Device> others(device, activations(output), activations({1, 1, 1, 1, last}),
                                        gpu_rotated_bytes(device.index()));

    auto const plain = fk::Plan<Conv, fk::Bias, Relu>::bind({.weights = weights}, {.bias = bias}, {});
    auto const norm = fk::Plan<Conv, fk::BatchNormInference<fk::Spatial>, Relu>::bind(
        {.weights = weights}, {mean, variance, scale, shift}, {});
    auto const statistics = fk::Plan<Conv, fk::Bias, Relu, fk::ChannelStatistics>::bind(
        {.weights = weights}, {.bias = bias}, {}, {.mean = found_mean, .variance = found_variance, .scratch = scratch});
    auto const seconds = graph_medians(device.stream(),
                                       {[&](std::int64_t call) { plain(device, io.x(call), io.y(call)); },
                                        [&](std::int64_t call) {
                                            fk::Plan<Conv, fk::Bias, fk::Residual, Relu>::bind(
                                                {.weights = weights}, {.bias = bias}, {.z = others.x(call)}, {})(
                                                device, io.x(call), io.y(call));
                                        },
                                        [&](std::int64_t call) { norm(device, io.x(call), io.y(call)); },
                                        [&](std::int64_t call) { statistics(device, io.x(call), io.y(call)); }},
                                       io.size(), options.repeats);
    return {seconds[0], seconds[1], seconds[2], seconds[3]};
}

template <class T>
Times measure_layer(fk::hip::Device& device, ConvLayer const& l, bool last, Options const& options) {
    return l.r == 1 ? measure<T, fk::filter(1, 1)>(device, l, last, options)
                    : measure<T, fk::filter(3, 3).pad(1)>(device, l, last, options);
}

int run(int argc, char** argv) {
    Options options;
    CommandLine const command_line =
        CommandLine("epilogue", "what operators after a convolution cost")
            .integer("--index", options.index, 0, 1023, "which GPU")
            .integer("--batch", options.batch, 1, 4096, "images in a batch")
            .text("--layers", "LIST", options.layers, "'conv', names or parts of names, with commas between")
            .choice("--dtype", options.dtype, {"float", "half"}, "element type")
            .choice("--layout", options.layout, {"nchw", "nhwc", "all"}, "memory order of the activations")
            .integer("--repeats", options.repeats, 1, 1000, "samples of each time, of which the median is reported")
            .text("--output", "DIR", options.output, "where epilogue.csv and epilogue.json go");
    if (!command_line.parse(argc, argv)) return 0;
    LayerChoice const chosen = choose_layers(options.layers);

    fk::hip::Device device(options.index);
    bench::require(hipSetDevice(options.index), "hipSetDevice");
    Machine const machine = gpu_machine(device);
    Ceilings const ceilings = measure_ceilings(device.stream(), device.processors());
    int const element = options.dtype == "half" ? 2 : 4;
    std::printf(
        "%s, driver %s, %s; batch %d, %s; microseconds; memory is copied at %.0f GB/s\n%-28s %10s %10s %10s %10s"
        "  of plain and bytes: %8s %8s %8s\n",
        machine.device.c_str(), machine.driver.c_str(), machine.compiler.c_str(), options.batch, options.dtype.c_str(),
        ceilings.gigabytes_a_second, "layer", "plain", "residual", "norm", "statistics", "residual", "norm",
        "statist.");
    Records records({{"batch", std::to_string(options.batch)},
                     {"dtype", options.dtype},
                     {"copied_gigabytes_a_second", text("%.1f", ceilings.gigabytes_a_second)},
                     {"machine", machine.device},
                     {"driver", machine.driver},
                     {"compiler", machine.compiler},
                     {"date", today()},
                     {"command", command_text(argc, argv)}});
    double logs[3] = {};
    int count = 0;
    for (bool const last : {false, true}) {
        char const* const layout = last ? "nhwc" : "nchw";
        if (options.layout != "all" && options.layout != layout) continue;
        for (ConvLayer const& l : chosen.conv) {
            Times const took = element == 2 ? measure_layer<fk::half>(device, l, last, options)
                                            : measure_layer<float>(device, l, last, options);
            double const z_bytes = static_cast<double>(options.batch) * l.k * l.p() * l.q() * element;
            double const ratios[] = {took.residual / (took.plain + z_bytes / (ceilings.gigabytes_a_second * 1e9)),
                                     took.norm / took.plain, took.statistics / took.plain};
            std::printf("%-23s %-4s %10.2f %10.2f %10.2f %10.2f %28.3f %8.3f %8.3f\n", l.name().c_str(), layout,
                        took.plain * 1e6, took.residual * 1e6, took.norm * 1e6, took.statistics * 1e6, ratios[0],
                        ratios[1], ratios[2]);
            std::fflush(stdout);
            records.add({{"layer", l.name()},
                         {"layout", layout},
                         {"plain_us", text("%.3f", took.plain * 1e6)},
                         {"residual_us", text("%.3f", took.residual * 1e6)},
                         {"norm_us", text("%.3f", took.norm * 1e6)},
                         {"statistics_us", text("%.3f", took.statistics * 1e6)},
                         {"residual_of_plain_and_bytes", text("%.4f", ratios[0])},
                         {"norm_of_plain", text("%.4f", ratios[1])},
                         {"statistics_of_plain", text("%.4f", ratios[2])}});
            for (int i = 0; i < 3; ++i) logs[i] += std::log(ratios[i]);
            ++count;
        }
    }
    if (count > 0)
        std::printf(
            "time of the plain convolution and of the bytes that the operator moves, geometric means (bar: "
            "1.05): residual %.3f, batch norm %.3f, statistics %.3f\n",
            std::exp(logs[0] / count), std::exp(logs[1] / count), std::exp(logs[2] / count));
    records.write(options.output, "epilogue");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("epilogue", [&] { return run(argc, argv); });
}
