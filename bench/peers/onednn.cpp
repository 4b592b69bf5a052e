// SPDX-License-Identifier: MIT
//
// Comparison of the host backend with oneDNN: 13 convolution + bias + ReLU layers in float, in one run, alternating:
// NHWC against oneDNN's fused convolution on NHWC, NCHW against its fused convolution on plain NCHW.
//
// oneDNN's weights are reordered to its preferred format before the timing. fusekit gets the weights in a user's layout
// (KRSC with NHWC, KCRS with NCHW): its time includes packing them in every call.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "layers.hpp"
#include "peers/onednn_conv.hpp"
#include "support/ceilings.hpp"
#include "support/chains.hpp"
#include "support/difference.hpp"
#include "support/layer_choice.hpp"
#include "support/machine.hpp"
#include "support/options.hpp"
#include "support/records.hpp"

extern "C" void omp_set_num_threads(int);  // of the runtime that oneDNN was built with

namespace {

using namespace bench;
using Device = fk::host::Device;

struct Row {
    double ours, theirs;  ///< seconds
    double difference;  ///< largest difference between the results, over the largest result
    std::string implementation;
    double ratio() const { return theirs / ours; }
    bool agrees() const { return difference <= 1e-5; }
};

template <fk::Filter<2> Filter>
Row measure(Device& device, ConvLayer const& layer, int batch, bool channels_last, Sampling const& sampling) {
    Extents const input{batch, layer.c, layer.h, layer.w, channels_last};
    Extents const output{batch, layer.k, layer.p(), layer.q(), channels_last};
    Rotation<float, Device> io(device, activations(input), activations(output), rotated_bytes());
    auto weights = fk::random<float>(device, activations({layer.k, layer.c, layer.r, layer.s, channels_last}), 2);
    auto bias = fk::random<float>(device, fk::channels(layer.k), 3);

    auto const ours =
        fk::Plan<fk::Conv<Filter>, fk::Bias, fk::Activation<fk::Relu>>::bind({.weights = weights}, {.bias = bias}, {});
    OneDnn const theirs(zoo::layer_of(layer), batch, channels_last, weights, bias);
    std::vector<std::unordered_map<int, dnnl::memory>> arguments;
    for (std::int64_t i = 0; i < io.size(); ++i) arguments.push_back(theirs.arguments(io.x(i), io.y(i)));

    Subject const run_ours = [&](std::int64_t call) { ours(device, io.x(call), io.y(call)); };
    Subject const run_theirs = [&](std::int64_t call) {
        theirs.execute(arguments[static_cast<std::size_t>(call % io.size())]);
    };

    auto const result = [&](Subject const& run) {
        io.poison_output(0);
        run(0);
        return to_host(io.y(0));
    };
    auto const a = result(run_ours), b = result(run_theirs);
    auto const medians = interleaved_medians({run_ours, run_theirs}, sampling);
    return {medians[0], medians[1], largest_difference(a, b), theirs.implementation};
}

struct Options {
    int batch = 8, threads = 0, repeats = 9;
    std::string layers = "conv", output = "bench-output";
};

/// Compares all layers in one layout: table, geometric mean and the bar. False if results differ.
bool run_layout(Device& device, std::vector<ConvLayer> const& layers, Options const& options, bool channels_last,
                double bar, Ceilings const& ceilings, bool busy, Records& records) {
    Sampling sampling;
    sampling.repeats = options.repeats;
    sampling.sample_seconds = 0.02;
    sampling.pause_seconds = 0.02;  // libgomp's threads spin for milliseconds after their last work
    char const* const layout = channels_last ? "nhwc" : "nchw";
    std::printf("\n%s%s\n%-24s %9s %8s %8s %9s %8s %6s %11s  %s\n", channels_last ? "NHWC" : "NCHW",
                channels_last ? "" : " (plain, for both)", "layer", "oneDNN ms", "GFLOP/s", "ours ms", "GFLOP/s",
                "of peak", "ratio", "difference", "oneDNN's implementation");
    std::vector<double> ratios;
    bool agree = true;
    for (ConvLayer const& layer : layers) {
        Row const row = layer.r == 1
                            ? measure<fk::filter(1, 1)>(device, layer, options.batch, channels_last, sampling)
                            : measure<fk::filter(3, 3).pad(1)>(device, layer, options.batch, channels_last, sampling);
        double const work = layer.flops(options.batch) * 1e-9;
        std::printf("%-24s %9.3f %8.1f %8.3f %9.1f %7.0f%% %6.2f %11.1e  %s%s\n", layer.name().c_str(),
                    row.theirs * 1e3, work / row.theirs, row.ours * 1e3, work / row.ours,
                    100 * work / row.ours / ceilings.gflops, row.ratio(), row.difference, row.implementation.c_str(),
                    row.agrees() ? "" : "  DIFFERENT");
        std::fflush(stdout);
        records.add({{"layout", layout},
                     {"layer", layer.name()},
                     {"batch", std::to_string(options.batch)},
                     {"onednn_ms", text("%.5f", row.theirs * 1e3)},
                     {"onednn_gflops", text("%.2f", work / row.theirs)},
                     {"fusekit_ms", text("%.5f", row.ours * 1e3)},
                     {"fusekit_gflops", text("%.2f", work / row.ours)},
                     {"throughput_ratio", text("%.4f", row.ratio())},
                     {"difference", text("%.2e", row.difference)},
                     {"onednn_implementation", row.implementation}});
        ratios.push_back(row.ratio());
        agree = agree && row.agrees();
    }
    double const mean = geometric_mean(ratios);
    std::printf("geometric mean of our throughput over oneDNN's: %.3f; the bar is %.1f: %s%s\n", mean, bar,
                mean >= bar ? "PASS" : "FALLS SHORT", busy ? ", on a busy machine" : "");
    return agree;
}

int run(int argc, char** argv) {
    Options options;
    CommandLine const command_line =
        CommandLine("peer_onednn", "fused convolution layers in float beside oneDNN's, in one run")
            .integer("--batch", options.batch, 1, 4096, "images in a batch")
            .text("--layers", "LIST", options.layers, "'conv', names or parts of names, separated by commas")
            .integer("--threads", options.threads, 0, 1024, "threads of each library; 0 is one for each processor")
            .integer("--repeats", options.repeats, 1, 1000, "samples of each time, of which the median is reported")
            .text("--output", "DIR", options.output, "where onednn.csv and onednn.json go");
    if (!command_line.parse(argc, argv)) return 0;
    auto const layers = choose_layers(options.layers).conv;
    if (options.threads && DNNL_CPU_RUNTIME != DNNL_RUNTIME_OMP)
        throw UsageError("--threads needs a oneDNN that computes with OpenMP");
    if (layers.empty()) throw UsageError("--layers: '" + options.layers + "' names no convolution");

    bool const busy = is_busy();
    Device device(options.threads);
    omp_set_num_threads(device.threads());
    dnnl_version_t const& version = *dnnl_version();
    Ceilings const ceilings = measure_ceilings(device.threads());
    std::string const machine = cpu_and_threads(device.threads());
    std::printf(
        "%s, for each library; oneDNN %d.%d.%d, ours built for %d-bit vectors; batch %d, float\n%s"
        "the median of %d samples a time, taken in turn, buffers rotated past the caches; measured peak %.0f GFLOP/s\n"
        "oneDNN's weights are reordered before the timing; ours are as the user has them, packed at every call\n",
        machine.c_str(), version.major, version.minor, version.patch, 8 * fk::config::vector_bytes, options.batch,
        busy ? busy_warning().c_str() : "", options.repeats, ceilings.gflops);
    Records records({{"peak_gflops", text("%.1f", ceilings.gflops)},
                     {"machine", machine},
                     {"busy", busy ? "yes" : "no"},
                     {"compiler", compiler_name()},
                     {"date", today()},
                     {"command", command_text(argc, argv)}});
    bool const nhwc = run_layout(device, layers, options, true, 0.7, ceilings, busy, records);
    bool const nchw = run_layout(device, layers, options, false, 1.5, ceilings, busy, records);
    std::printf("\n");
    records.write(options.output, "onednn");
    std::printf("%s\n", nhwc && nchw ? "results agree" : "FAILED: results differ");
    return nhwc && nchw ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("peer_onednn", [&] { return run(argc, argv); });
}
