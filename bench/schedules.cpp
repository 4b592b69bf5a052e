// SPDX-License-Identifier: MIT
//
// Times each of the schedules listed below on MIOpen's layers, against the library's choice: the source of
// backend/hip/tuning/.
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
using fk::hip::Elementwise;
using fk::hip::Gemm;
using fk::hip::MatrixGemm;
using fk::hip::Planes;
using fk::hip::Roles;
using fk::hip::Split;
using fk::hip::Stem;
using fk::hip::WarpSpecialized;

template <class... Schedules>
struct List {};

using Gemms =
    List<Gemm<128, 128, 8, 2>, Gemm<128, 128, 16, 2>, Gemm<64, 64, 8, 6>, Gemm<64, 64, 16, 6>, Gemm<128, 64, 8, 4>,
         Gemm<128, 64, 16, 4>, Gemm<64, 128, 8, 4>, Split<Gemm<64, 64, 16, 4>, 2>, Split<Gemm<64, 64, 16, 4>, 4>,
         Split<Gemm<64, 64, 16, 4>, 8>, MatrixGemm<128, 128, 1>, MatrixGemm<128, 64, 1>>;
using MatrixGemms =
    List<WarpSpecialized<192, 128, 4>, WarpSpecialized<128, 128, 5>, WarpSpecialized<96, 128, 7>,
         WarpSpecialized<64, 128, 8>, WarpSpecialized<64, 64, 8>, WarpSpecialized<128, 128, 4, Roles::ping_pong>,
         WarpSpecialized<96, 128, 5, Roles::ping_pong>, WarpSpecialized<64, 128, 5, Roles::ping_pong>,
         WarpSpecialized<192, 64, 5, Roles::ping_pong>, WarpSpecialized<128, 64, 6, Roles::ping_pong>,
         WarpSpecialized<96, 64, 7, Roles::ping_pong>, WarpSpecialized<64, 64, 8, Roles::ping_pong>>;
using RegisterGemms = List<MatrixGemm<128, 64, 2>, Split<MatrixGemm<64, 64, 4>, 2>, Split<MatrixGemm<64, 64, 4>, 4>,
                           Split<MatrixGemm<64, 64, 4>, 8>, Planes<240, 1>, Split<Planes<240, 1>, 2>,
                           Split<Planes<240, 1>, 4>, Split<Planes<240, 1>, 8>, Planes<64, 2>, Split<Planes<64, 2>, 2>,
                           Split<Planes<64, 2>, 4>, Split<Planes<64, 2>, 8>>;
using Stems = List<MatrixGemm<128, 64, 2>, Stem<2>, Stem<3>, Stem<4>, Stem<6>>;
using Streams = List<Elementwise<128, 16, 1, 1, 16>, Elementwise<128, 16, 2, 1, 16>, Elementwise<128, 16, 4, 1, 16>,
                     Elementwise<256, 16, 1, 1, 8>, Elementwise<256, 16, 2, 1, 8>, Elementwise<256, 16, 2, 2, 5>,
                     Elementwise<256, 16, 4, 4, 5>>;

struct Options {
    int index = 0, batch = 64, repeats = 5;
    std::string layers = "conv", layout = "all", dtype = "float", output = "bench-output";
};

template <int M, int N, int K, int Blocks>
std::string label(Gemm<M, N, K, Blocks>) {
    return text("%dx%dx%d/%d", M, N, K, Blocks);
}
template <int M, int N, int Blocks>
std::string label(MatrixGemm<M, N, Blocks>) {
    return text("%dx%d/%d", M, N, Blocks);
}
template <int Pixels, int Parts>
std::string label(Planes<Pixels, Parts>) {
    return text("%d:%d", Pixels, Parts);
}
template <class Schedule, int Parts>
std::string label(Split<Schedule, Parts>) {
    return label(Schedule{}) + text("s%d", Parts);
}
template <int Warpgroups>
std::string label(Stem<Warpgroups>) {
    return text("%dw", Warpgroups);
}
template <int M, int N, int Stages, Roles roles, int Blocks>
std::string label(WarpSpecialized<M, N, Stages, roles, Blocks>) {
    return text("%dx%dx%d%s/%d", M, N, Stages, roles == Roles::ping_pong ? "p" : "c", Blocks);
}
template <int Threads, int Bytes, int Iterations, int Unroll, int Blocks, int TileIterations>
std::string label(Elementwise<Threads, Bytes, Iterations, Unroll, Blocks, TileIterations>) {
    return text("%d:%d:%d,%d:%d/%d", Threads, Bytes, Iterations, TileIterations, Unroll, Blocks);
}

/// Seconds of one layer: the library's choice, then each schedule's; NaN if a schedule refuses the layer.
template <class Element, class... Schedules, class BoundPlan>
std::vector<double> measure(List<Schedules...>, fk::hip::Device& device, BoundPlan const& layer, Extents const& input,
                            Extents const& output, int repeats) {
    Rotation<Element, fk::hip::Device> io(device, activations(input), activations(output),
                                          gpu_rotated_bytes(device.index()));
    std::vector<Subject> const subjects{[&](std::int64_t call) { layer(device, io.x(call), io.y(call)); },
                                        [&](std::int64_t call) {
                                            auto scheduled = device.with<Schedules>();
                                            layer(scheduled, io.x(call), io.y(call));
                                        }...};
    std::vector<Element> expected;
    std::vector<Subject> taken;
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        io.poison_output(0);
        try {
            subjects[i](0);
        } catch (fk::Error const&) {
            continue;
        }
        auto const result = to_host(io.y(0));
        if (expected.empty()) expected = result;
        if (!(largest_difference(result, expected) <= 1e-2)) throw std::runtime_error("schedules disagree");
        taken.push_back(subjects[i]);
        numbers.push_back(i);
    }
    std::vector<double> const medians = graph_medians(device.stream(), taken, io.size(), repeats);
    std::vector<double> seconds(subjects.size(), std::nan(""));
    for (std::size_t i = 0; i < taken.size(); ++i) seconds[numbers[i]] = medians[i];
    return seconds;
}

/// Prints the header of a list.
template <class... Schedules>
std::vector<std::string> print_header(List<Schedules...>, char const* what) {
    std::vector<std::string> const labels{label(Schedules{})...};
    std::printf("\n%s, microseconds\n%-28s %10s", what, "layer", "own choice");
    for (auto const& each : labels) std::printf(" %11s", each.c_str());
    std::printf("\n");
    return labels;
}

void print_row(Records& records, std::string const& layer, char const* layout, std::vector<std::string> const& labels,
               std::vector<double> const& seconds) {
    std::size_t best = 1;
    for (std::size_t i = 2; i < seconds.size(); ++i)
        if (!(seconds[i] >= seconds[best])) best = std::isnan(seconds[i]) ? best : i;
    std::printf("%-23s %-4s %10.2f", layer.c_str(), layout, seconds[0] * 1e6);
    for (std::size_t i = 1; i < seconds.size(); ++i) {
        if (std::isnan(seconds[i])) {
            std::printf(" %11s", "- ");
            continue;
        }
        std::printf(" %10.2f%s", seconds[i] * 1e6, i == best ? "*" : " ");
        records.add({{"layer", layer},
                     {"layout", layout},
                     {"schedule", labels[i - 1]},
                     {"us", text("%.3f", seconds[i] * 1e6)},
                     {"own_us", text("%.3f", seconds[0] * 1e6)}});
    }
    std::printf("\n");
    std::fflush(stdout);
}

template <class Element, class Schedules, fk::Filter<2> Filter>
std::vector<double> measure_conv_with(fk::hip::Device& device, ConvLayer const& l, bool last, Options const& options) {
    auto const weights = fk::random<Element>(device, activations({l.k, l.c, l.r, l.s, last}), 2);
    auto const bias = fk::random<Element>(device, fk::channels(l.k), 3);
    auto const layer =
        fk::Plan<fk::Conv<Filter>, fk::Bias, fk::Activation<fk::Relu>>::bind({.weights = weights}, {.bias = bias}, {});
    return measure<Element>(Schedules{}, device, layer, {options.batch, l.c, l.h, l.w, last},
                            {options.batch, l.k, l.p(), l.q(), last}, options.repeats);
}

template <class Element, class Schedules>
std::vector<double> measure_conv(fk::hip::Device& device, ConvLayer const& l, bool last, Options const& options) {
    return l.r == 1 ? measure_conv_with<Element, Schedules, fk::filter(1, 1)>(device, l, last, options)
                    : measure_conv_with<Element, Schedules, fk::filter(3, 3).pad(1)>(device, l, last, options);
}

std::vector<double> measure_stem(fk::hip::Device& device, ConvLayer const& l, Options const& options) {
    return l.r == 7 ? measure_conv_with<fk::half, Stems, fk::filter(7, 7).pad(3).stride(2)>(device, l, true, options)
                    : measure_conv_with<fk::half, Stems, fk::filter(3, 3).pad(1)>(device, l, true, options);
}

std::vector<double> measure_norm(fk::hip::Device& device, NormLayer const& l, bool last, Options const& options) {
    auto const mean = fk::random<float>(device, fk::channels(l.c), 2),
               scale = fk::random<float>(device, mean.layout(), 3), shift = fk::random<float>(device, mean.layout(), 4);
    fk::Tensor<float, fk::hip::Device, 1> variance(device, fk::channels(l.c));
    variance.copy_from(std::vector<float>(static_cast<std::size_t>(l.c), 1.0f).data());
    auto const layer = fk::Plan<fk::BatchNormInference<fk::Spatial>, fk::Activation<fk::Relu>>::bind(
        {.mean = mean, .variance = variance, .scale = scale, .shift = shift}, {});
    Extents const shape{options.batch, l.c, l.h, l.w, last};
    return measure<float>(Streams{}, device, layer, shape, shape, options.repeats);
}

int run(int argc, char** argv) {
    Options options;
    CommandLine const command_line =
        CommandLine("schedules", "times of schedules, a layer each")
            .integer("--index", options.index, 0, 1023, "which GPU")
            .integer("--batch", options.batch, 1, 4096, "images in a batch")
            .text("--layers", "LIST", options.layers,
                  "'conv', 'stem' (half, NHWC), 'norm', 'all', names or parts of names, with commas between")
            .choice("--dtype", options.dtype, {"float", "half"},
                    "element type of convolutions; half is on the tensor cores of sm_90a")
            .choice("--layout", options.layout, {"nchw", "nhwc", "all"}, "memory order of the activations")
            .integer("--repeats", options.repeats, 1, 1000, "samples of each time, of which the median is reported")
            .text("--output", "DIR", options.output, "where schedules.csv and schedules.json go");
    if (!command_line.parse(argc, argv)) return 0;
    LayerChoice const chosen = choose_layers(options.layers);

    fk::hip::Device device(options.index);
    bench::require(hipSetDevice(options.index), "hipSetDevice");
    Machine const machine = gpu_machine(device);
    std::printf("%s, driver %s, %s; batch %d, %s\n", machine.device.c_str(), machine.driver.c_str(),
                machine.compiler.c_str(), options.batch, options.dtype.c_str());
    Records records({{"batch", std::to_string(options.batch)},
                     {"dtype", options.dtype},
                     {"machine", machine.device},
                     {"driver", machine.driver},
                     {"compiler", machine.compiler},
                     {"date", today()},
                     {"command", command_text(argc, argv)}});
    auto const each_layout = [&](auto const& body) {
        for (bool const last : {false, true})
            if (options.layout == "all" || (options.layout == "nhwc") == last) body(last, last ? "nhwc" : "nchw");
    };
    if (!chosen.conv.empty() && options.dtype == "half") {
        each_layout([&](bool last, char const* layout) {
            auto const labels =
                last ? print_header(MatrixGemms{}, "Convolution + bias + ReLU: TileM x TileN x stages / blocks")
                     : print_header(RegisterGemms{},
                                    "Convolution + bias + ReLU: TileM x TileN / blocks, s parts; pixels : parts");
            for (ConvLayer const& l : chosen.conv)
                print_row(records, l.name(), layout, labels,
                          last ? measure_conv<fk::half, MatrixGemms>(device, l, last, options)
                               : measure_conv<fk::half, RegisterGemms>(device, l, last, options));
        });
    } else if (!chosen.conv.empty()) {
        auto const labels = print_header(Gemms{}, "Convolution + bias + ReLU: TileM x TileN x TileK / blocks, s parts");
        each_layout([&](bool last, char const* layout) {
            for (ConvLayer const& l : chosen.conv)
                print_row(records, l.name(), layout, labels, measure_conv<float, Gemms>(device, l, last, options));
        });
    }
    if (!chosen.stem.empty() && options.dtype == "half" && options.layout != "nchw") {
        auto const labels =
            print_header(Stems{}, "First convolution + bias + ReLU: TileM x TileN / blocks; w warpgroups");
        for (ConvLayer const& l : chosen.stem)
            print_row(records, l.name(), "nhwc", labels, measure_stem(device, l, options));
    }
    if (!chosen.norm.empty()) {
        auto const labels = print_header(
            Streams{}, "Batch norm (spatial) + ReLU: threads : bytes : iterations, of tiles : unroll / blocks");
        each_layout([&](bool last, char const* layout) {
            for (NormLayer const& l : chosen.norm)
                print_row(records, l.name(), layout, labels, measure_norm(device, l, last, options));
        });
    }
    std::printf("\n");
    records.write(options.output, "schedules");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("schedules", [&] { return run(argc, argv); });
}
