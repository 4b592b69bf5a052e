// SPDX-License-Identifier: MIT
//
// Convolution + bias + ReLU layers of real networks (layers.csv) in float on the host backend beside oneDNN, in one
// run, alternating: NHWC or plain NCHW for both. Rows are appended to a CSV that report.py reads; the same command
// resumes.
//
// Weights are packed before the timing on both sides: oneDNN's are reordered to its preferred format, fusekit's by
// fk::host::pack.
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "peers/onednn_conv.hpp"
#include "support/machine.hpp"
#include "support/timing.hpp"
#include "zoo/filter.hpp"
#include "zoo/rows.hpp"

extern "C" void omp_set_num_threads(int);  // of the runtime that oneDNN was built with

namespace {

using namespace bench;
using Device = fk::host::Device;

struct Options {
    int batch = 1, threads = 1, repeats = 5, seconds = 480;
    std::string layout = "nhwc", networks = "all", layers = ZOO_LAYERS, output = "bench-output/zoo_host.csv";
};

struct Times {
    double ours, peer, copy;  ///< seconds; `copy` is an elementwise plan that moves as many bytes
    double of_bound;  ///< the largest error of ours over its bound; infinite if elements were not written
    std::string implementation;
};

/// Compares samples of y with sums in double.
double check(std::vector<float> const& y, zoo::Layer const& l, Extents const& input, Extents const& output,
             std::vector<float> const& x, std::vector<float> const& w, std::vector<float> const& b) {
    Extents const filter{l.k, l.c / l.groups, l.r, l.s, input.channels_last};
    auto const oracle = [&](std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q) {
        std::int64_t const first = k / (l.k / l.groups) * filter.c;  // the first channel of k's group
        double sum = 0, squares = 0;
        for (int r = 0; r < l.r; ++r)
            for (int s = 0; s < l.s; ++s) {
                std::int64_t const row = p * l.stride - l.pad_h + r * l.dilation,
                                   column = q * l.stride - l.pad_w + s * l.dilation;
                if (row < 0 || row >= l.h || column < 0 || column >= l.w) continue;
                for (std::int64_t c = 0; c < filter.c; ++c) {
                    double const product = static_cast<double>(x[input.at(n, first + c, row, column)]) *
                                           static_cast<double>(w[filter.at(k, c, r, s)]);
                    sum += product, squares += product * product;
                }
            }
        double const shift = b[static_cast<std::size_t>(k)];
        return Expected{std::max(sum + shift, 0.0), std::fabs(sum) + std::fabs(shift), squares + shift * shift,
                        filter.c * l.r * l.s + 1};
    };
    Verdict const verdict = check_samples(y, output, 1000, 1, oracle);
    return verdict.unwritten ? std::numeric_limits<double>::infinity() : verdict.of_bound;
}

Times measure(Device& device, zoo::Layer const& l, Options const& options) {
    bool const last = options.layout == "nhwc";
    Extents const input{options.batch, l.c, l.h, l.w, last}, output{options.batch, l.k, l.p(), l.q(), last};
    Rotation<float, Device> io(device, activations(input), activations(output), rotated_bytes());
    auto weights = fk::random<float>(device, activations({l.k, l.c / l.groups, l.r, l.s, last}), 2);
    auto bias = fk::random<float>(device, fk::channels(l.k), 3);
    auto const layer = fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, fk::Activation<fk::Relu>>::bind(
        {.weights = weights, .filter = zoo::filter_of(l)}, {.bias = bias}, {});
    auto const ours = fk::host::pack(device, layer, io.x(0), io.y(0));
    io.poison_output(0);
    ours(io.x(0), io.y(0));
    double const of_bound = check(to_host(io.y(0)), l, input, output, io.host_input(), to_host(weights), to_host(bias));

    OneDnn const theirs(l, options.batch, last, weights, bias);
    std::vector<std::unordered_map<int, dnnl::memory>> arguments;
    for (std::int64_t i = 0; i < io.size(); ++i) arguments.push_back(theirs.arguments(io.x(i), io.y(i)));
    auto const row = fk::nchw(1, 1, 1, (l.elements(options.batch) + 1) / 2);
    Rotation<float, Device> copied(device, row, row, rotated_bytes());
    auto const copy = fk::Plan<fk::Activation<fk::Passthru>>::bind({});

    Sampling sampling;
    sampling.repeats = options.repeats;
    sampling.pause_seconds =
        0.02;  // libgomp's threads spin for milliseconds after their last work, and would slow down the other library
    auto const medians = interleaved_medians(
        {[&](std::int64_t call) { ours(io.x(call), io.y(call)); },
         [&](std::int64_t call) { theirs.execute(arguments[static_cast<std::size_t>(call % io.size())]); },
         [&](std::int64_t call) { copy(device, copied.x(call), copied.y(call)); }},
        sampling);
    return {medians[0], medians[1], medians[2], of_bound, theirs.implementation};
}

int run(int argc, char** argv) {
    Options options;
    CommandLine const command_line =
        CommandLine("zoo_host", "layers of real networks in float beside oneDNN's, in parts that resume into one CSV")
            .integer("--batch", options.batch, 1, 4096, "images in a batch")
            .integer("--threads", options.threads, 1, 1024, "threads of each library")
            .choice("--layout", options.layout, {"nhwc", "nchw"},
                    "memory order of activations and weights, of both libraries")
            .text("--networks", "LIST", options.networks, "'all', or networks of the table, separated by commas")
            .integer("--seconds", options.seconds, 0, 1 << 20, "stop after this time; run again to resume")
            .integer("--repeats", options.repeats, 1, 1000, "samples of each time, of which the median is reported")
            .text("--layers", "FILE", options.layers, "the table of layers")
            .text("--output", "FILE", options.output, "the CSV");
    if (!command_line.parse(argc, argv)) return 0;
    if (DNNL_CPU_RUNTIME != DNNL_RUNTIME_OMP) throw UsageError("--threads needs a oneDNN that computes with OpenMP");
    auto const layers = zoo::read_layers(options.layers, options.networks);
    zoo::Rows rows(options.output, zoo::Rows::layer_columns, zoo::Rows::layer_key_size);

    bool const busy = is_busy();
    Device device(options.threads);
    omp_set_num_threads(device.threads());
    dnnl_version_t const& version = *dnnl_version();
    std::string const versions =
        text("oneDNN %d.%d.%d, %s, %d-bit vectors%s", version.major, version.minor, version.patch,
             compiler_name().c_str(), 8 * fk::config::vector_bytes, busy ? ", busy machine" : "");
    std::printf("%s; %s\n%s%-44s %11s %11s %7s %11s %6s\n", cpu_name().c_str(), versions.c_str(),
                busy ? busy_warning().c_str() : "", "layer", "ours us", "oneDNN us", "ratio", "copy us", "error");
    double const begin = seconds_now();
    int remaining = 0;
    bool right = true;
    for (zoo::Layer const& layer : layers) {
        std::string const key = text("forward,float,%s,%d,%d,%s", options.layout.c_str(), options.batch,
                                     device.threads(), layer.name.c_str());
        if (rows.has(key)) continue;
        if (seconds_now() - begin >= options.seconds) {
            ++remaining;
            continue;
        }
        Times const times = measure(device, layer, options);
        right = right && times.of_bound <= 1;
        std::printf("%-44s %11.2f %11.2f %7.2f %11.2f %6.2f%s\n", layer.name.c_str(), 1e6 * times.ours,
                    1e6 * times.peer, times.peer / times.ours, 1e6 * times.copy, times.of_bound,
                    times.of_bound <= 1 ? "" : "  WRONG");
        std::fflush(stdout);
        rows.add(key, {text("%.3f", 1e6 * times.ours), text("%.3f", 1e6 * times.peer), times.implementation,
                       text("%.3f", 1e6 * times.copy), text("%.3g", times.of_bound), "", cpu_name(), versions, today(),
                       command_text(argc, argv)});
    }
    if (remaining) std::printf("%d of %zu layers remain: run the same command again\n", remaining, layers.size());
    else std::printf("bench/zoo/report.py %s prints the distribution\n", options.output.c_str());
    return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("zoo_host", [&] { return run(argc, argv); });
}
