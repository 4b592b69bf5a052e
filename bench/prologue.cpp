// SPDX-License-Identifier: MIT
//
// Cost of a prologue: times a convolution + bias + ReLU with batch norm + ReLU as its prologue, in one kernel, against
// the convolution alone, and against two kernels.
#include <fusekit/hip.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "layers.hpp"
#include "support/chains.hpp"
#include "support/difference.hpp"
#include "support/graph_timing.hpp"
#include "support/hip_machine.hpp"
#include "support/layer_choice.hpp"
#include "support/machine.hpp"
#include "support/options.hpp"
#include "support/records.hpp"

namespace {

using namespace bench;

struct Options {
    int index = 0, batch = 64, repeats = 9;
    std::string layers = "3x3", layout = "all", output = "bench-output";
};

/// Seconds of the convolution alone, with its prologue, and after a separate kernel.
struct Times {
    double alone, fused, apart;
};

/// In float. Throws if the prologue's results differ from those of two kernels by more than rounding.
template <fk::Filter<2> Filter>
Times measure(fk::hip::Device& device, ConvLayer const& l, bool last, Options const& options) {
    using Norm = fk::BatchNormInference<fk::Spatial>;
    using Relu = fk::Activation<fk::Relu>;
    using Conv = fk::Conv<Filter>;
    Extents const input{options.batch, l.c, l.h, l.w, last}, output{options.batch, l.k, l.p(), l.q(), last};
    auto const weights = fk::random<float>(device, activations({l.k, l.c, l.r, l.s, last}), 2);
    auto const bias = fk::random<float>(device, fk::channels(l.k), 3);
    auto const mean = fk::random<float>(device, fk::channels(l.c), 4),
               scale = fk::random<float>(device, mean.layout(), 5), shift = fk::random<float>(device, mean.layout(), 6);
    fk::Tensor<float, fk::hip::Device, 1> variance(device, mean.layout());
    variance.copy_from(std::vector<float>(static_cast<std::size_t>(l.c), 1.0f).data());

    auto const norm = fk::Plan<Norm, Relu>::bind({mean, variance, scale, shift}, {});
    auto const conv = fk::Plan<Conv, fk::Bias, Relu>::bind({.weights = weights}, {.bias = bias}, {});
    auto const both = fk::Plan<Norm, Relu, Conv, fk::Bias, Relu>::bind({mean, variance, scale, shift}, {},
                                                                       {.weights = weights}, {.bias = bias}, {});
    Rotation<float, fk::hip::Device> io(device, activations(input), activations(output),
                                        gpu_rotated_bytes(device.index()));
    fk::Tensor<float, fk::hip::Device> between(device, activations(input));
    Subject const alone = [&](std::int64_t call) { conv(device, io.x(call), io.y(call)); };
    Subject const fused = [&](std::int64_t call) { both(device, io.x(call), io.y(call)); };
    Subject const apart = [&](std::int64_t call) {
        norm(device, io.x(call), between);
        conv(device, between, io.y(call));
    };
    auto const result = [&](Subject const& subject) {
        io.poison_output(0);
        subject(0);
        return to_host(io.y(0));
    };
    if (!(largest_difference(result(fused), result(apart)) <= 1e-4))
        throw std::runtime_error("a prologue's result is wrong");
    auto const seconds = graph_medians(device.stream(), {alone, fused, apart}, io.size(), options.repeats);
    return {seconds[0], seconds[1], seconds[2]};
}

int run(int argc, char** argv) {
    Options options;
    CommandLine const command_line =
        CommandLine("prologue", "what operators before a convolution cost, in float")
            .integer("--index", options.index, 0, 1023, "which GPU")
            .integer("--batch", options.batch, 1, 4096, "images in a batch")
            .text("--layers", "LIST", options.layers, "'conv', names or parts of names, with commas between")
            .choice("--layout", options.layout, {"nchw", "nhwc", "all"}, "memory order of the activations")
            .integer("--repeats", options.repeats, 1, 1000, "samples of each time, of which the median is reported")
            .text("--output", "DIR", options.output, "where prologue.csv and prologue.json go");
    if (!command_line.parse(argc, argv)) return 0;
    LayerChoice const chosen = choose_layers(options.layers);

    fk::hip::Device device(options.index);
    bench::require(hipSetDevice(options.index), "hipSetDevice");
    Machine const machine = gpu_machine(device);
    std::printf("%s, driver %s, %s; batch %d, float; microseconds\n%-28s %10s %10s %10s %12s %12s\n",
                machine.device.c_str(), machine.driver.c_str(), machine.compiler.c_str(), options.batch, "layer",
                "alone", "prologue", "two", "of alone", "over two");
    Records records({{"batch", std::to_string(options.batch)},
                     {"dtype", "float"},
                     {"machine", machine.device},
                     {"driver", machine.driver},
                     {"compiler", machine.compiler},
                     {"date", today()},
                     {"command", command_text(argc, argv)}});
    double logs[2] = {}, most = 0;
    int count = 0;
    for (bool const last : {false, true}) {
        char const* const layout = last ? "nhwc" : "nchw";
        if (options.layout != "all" && options.layout != layout) continue;
        for (ConvLayer const& l : chosen.conv) {
            Times const took = l.r == 1 ? measure<fk::filter(1, 1)>(device, l, last, options)
                                        : measure<fk::filter(3, 3).pad(1)>(device, l, last, options);
            double const of_alone = took.fused / took.alone, over_two = took.apart / took.fused;
            std::printf("%-23s %-4s %10.2f %10.2f %10.2f %12.3f %12.3f\n", l.name().c_str(), layout, took.alone * 1e6,
                        took.fused * 1e6, took.apart * 1e6, of_alone, over_two);
            std::fflush(stdout);
            records.add({{"layer", l.name()},
                         {"layout", layout},
                         {"alone_us", text("%.3f", took.alone * 1e6)},
                         {"prologue_us", text("%.3f", took.fused * 1e6)},
                         {"two_kernels_us", text("%.3f", took.apart * 1e6)},
                         {"of_alone", text("%.4f", of_alone)},
                         {"over_two", text("%.4f", over_two)}});
            logs[0] += std::log(of_alone), logs[1] += std::log(over_two), ++count;
            if (of_alone > most) most = of_alone;
        }
    }
    if (count > 0)
        std::printf(
            "time of the convolution alone: geometric mean %.3f, at most %.3f (bar: 1.05 on 3x3 layers); speed over "
            "two "
            "kernels: %.3f\n",
            std::exp(logs[0] / count), most, std::exp(logs[1] / count));
    records.write(options.output, "prologue");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("prologue", [&] { return run(argc, argv); });
}
