// SPDX-License-Identifier: MIT
//
// What does fusing buy? The layers of MIOpen's two fusion charts as one plan each, beside the same operators as plans
// of one operator that hand each other whole tensors. Prints a table, writes it as CSV and two charts as SVG.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "layers.hpp"
#include "support/bar_chart.hpp"
#include "support/ceilings.hpp"
#include "support/chains.hpp"
#include "support/csv.hpp"
#include "support/layer_choice.hpp"
#include "support/machine.hpp"
#include "support/options.hpp"

namespace {

using namespace bench;

struct Options {
    int batch = 8, threads = 0, repeats = 9;
    std::string layers = "all", dtype = "float", layout = "nchw", output = "bench-output";
};

struct Row {
    std::string name;
    double miopen, work;  ///< work: operations of a convolution, bytes read and written of a batch norm
    Measurement measured;
};

/// One of the two charts with what it takes to print it.
struct Group {
    char const *kind, *title, *file, *unit;
    double ceiling;  ///< in `unit`, as this machine was measured to reach
    std::vector<Row> rows = {};

    /// Of the speedups; BarChart's row for them.
    BarChart::Row geometric_mean() const {
        std::vector<double> ours, miopen;
        for (Row const& row : rows) ours.push_back(row.measured.speedup()), miopen.push_back(row.miopen);
        return {"geometric mean", bench::geometric_mean(ours), bench::geometric_mean(miopen)};
    }
};

void print_header(Group const& group) {
    fmt::print("\n{}\n{:<24} {:>11} {:>9} {:>8} {:>7} {:>9} {:>8} {:>14}\n", group.title, "layer", "unfused ms",
               "fused ms", "speedup", "MIOpen", group.unit, "of peak", "largest error");
}

void print_row(Group const& group, Row const& row) {
    double const rate = row.work / row.measured.fused_seconds * 1e-9;
    fmt::print("{:<24} {:>11.3f} {:>9.3f} {:>8.2f} {:>7.2f} {:>9.1f} {:>7.0f}% {:>14.1e}{}\n", row.name,
               row.measured.unfused_seconds * 1e3, row.measured.fused_seconds * 1e3, row.measured.speedup(), row.miopen,
               rate, 100 * rate / group.ceiling, row.measured.fused.largest_error,
               row.measured.passed() ? "" : "  WRONG");
    std::fflush(stdout);
}

void print_failure(char const* which, Verdict const& verdict) {
    if (!verdict.passed())
        fmt::print(
            "  {}: {} elements not written, largest error {:.1e} ({:.2f} of its bound), {:.0f} % of samples zero\n",
            which, verdict.unwritten, verdict.largest_error, verdict.of_bound, 100 * verdict.zeros);
}

/// A line that the next one overwrites, where someone is watching.
void show_progress(std::string const& text) {
    if (isatty(fileno(stdout))) fmt::print("{}\r\033[K", text), std::fflush(stdout);
}

template <class T, class Device>
Measurement measure(Device& device, ConvLayer const& layer, Settings const& settings) {
    if (layer.r == 1) return measure_conv<T, fk::filter(1, 1)>(device, layer, settings);
    return measure_conv<T, fk::filter(3, 3).pad(1)>(device, layer, settings);
}
template <class T, class Device>
Measurement measure(Device& device, NormLayer const& layer, Settings const& settings) {
    return measure_norm<T>(device, layer, settings);
}

/// Measures every layer of `layers` that was chosen, and prints its row as soon as there is one.
template <class T, class Device, class Layer, class Work>
void run_group(Device& device, std::vector<Layer> const& layers, Settings const& settings, Group& group,
               Work const& work) {
    if (layers.empty()) return;
    print_header(group);
    for (Layer const& layer : layers) {
        show_progress(
            fmt::format("{:<24} measuring, layer {} of {} ...", layer.name(), group.rows.size() + 1, layers.size()));
        group.rows.push_back({layer.name(), layer.miopen, work(layer), measure<T>(device, layer, settings)});
        print_row(group, group.rows.back());
        print_failure("fused", group.rows.back().measured.fused);
        print_failure("unfused", group.rows.back().measured.unfused);
    }
    BarChart::Row const mean = group.geometric_mean();
    fmt::print("{:<24} {:>11} {:>9} {:>8.2f} {:>7.2f}\n", mean.name, "", "", mean.measured, mean.published);
}

/// Both groups on one device with elements of type T.
template <class T, class Device>
std::vector<Group> run_all(Device& device, Options const& options, LayerChoice const& chosen,
                           Ceilings const& ceilings) {
    Settings settings{options.batch, options.layout == "nhwc", 2000, {}};
    settings.sampling.repeats = options.repeats;
    settings.sampling.synchronize = [&] { device.synchronize(); };
    std::vector<Group> groups{
        {"conv", "Convolution + bias + ReLU", "conv_bias_relu", "GFLOP/s", ceilings.gflops},
        {"norm", "Batch norm (spatial) + ReLU, inference", "batch_norm_relu", "GB/s", ceilings.gigabytes_a_second}};
    run_group<T>(device, chosen.conv, settings, groups[0],
                 [&](ConvLayer const& layer) { return layer.flops(options.batch); });
    run_group<T>(device, chosen.norm, settings, groups[1], [&](NormLayer const& layer) {
        return 2.0 * static_cast<double>(layer.elements(options.batch)) * sizeof(T);
    });
    return groups;
}

template <class Device>
std::vector<Group> run_all(Device& device, Options const& options, LayerChoice const& chosen,
                           Ceilings const& ceilings) {
    if (options.dtype == "half") return run_all<fk::half>(device, options, chosen, ceilings);
    if (options.dtype == "bfloat16") return run_all<fk::bfloat16>(device, options, chosen, ceilings);
    return run_all<float>(device, options, chosen, ceilings);
}

void write_results(std::vector<Group> const& groups, Options const& options, std::string const& machine) {
    std::filesystem::path const directory = options.output;
    Csv csv({"kind", "layer", "batch", "dtype", "layout", "unfused_ms", "fused_ms", "speedup", "miopen_chart_speedup",
             "rate", "rate_unit", "rate_ceiling", "largest_error", "error_of_bound", "passed", "machine", "date"});
    for (Group const& group : groups) {
        for (Row const& row : group.rows) {
            Measurement const& m = row.measured;
            csv.row({group.kind, row.name, std::to_string(options.batch), options.dtype, options.layout,
                     fmt::format("{:.5f}", m.unfused_seconds * 1e3), fmt::format("{:.5f}", m.fused_seconds * 1e3),
                     fmt::format("{:.4f}", m.speedup()), fmt::format("{:.2f}", row.miopen),
                     fmt::format("{:.2f}", row.work / m.fused_seconds * 1e-9), group.unit,
                     fmt::format("{:.2f}", group.ceiling), fmt::format("{:.3e}", m.fused.largest_error),
                     fmt::format("{:.3f}", m.fused.of_bound), m.passed() ? "yes" : "no", machine, today()});
        }
        if (group.rows.empty()) continue;
        BarChart chart;
        chart.title = std::string(group.title) + ": what fusing buys";
        chart.axis = "time unfused / time fused (1.0 = no gain)";
        chart.measured = "fusekit, this machine";
        chart.published = "MIOpen, its published chart (GPU not stated)";
        chart.caption = {machine, fmt::format("batch {}, {}, {}, median of {} samples, {}", options.batch,
                                              options.dtype, options.layout, options.repeats, today())};
        for (Row const& row : group.rows) chart.rows.push_back({row.name, row.measured.speedup(), row.miopen});
        chart.summary = group.geometric_mean();
        write_file(directory / (std::string(group.file) + ".svg"), chart.svg());
        fmt::print("wrote {}\n", (directory / (std::string(group.file) + ".svg")).string());
    }
    csv.write(directory / "fused_vs_unfused.csv");
    fmt::print("wrote {}\n", (directory / "fused_vs_unfused.csv").string());
}

/// Says how many layers are right and how many are faster fused; false where one is wrong.
bool print_verdict(std::vector<Group> const& groups) {
    std::size_t layers = 0, right = 0, faster = 0;
    Row const* slowest = nullptr;
    for (Group const& group : groups)
        for (Row const& row : group.rows) {
            ++layers;
            right += row.measured.passed();
            faster += row.measured.speedup() >= 1;
            if (!slowest || row.measured.speedup() < slowest->measured.speedup()) slowest = &row;
        }
    fmt::print("fused at least as fast as unfused on {} of {} layers; least speedup {:.2f}, {}\n", faster, layers,
               slowest->measured.speedup(), slowest->name);
    fmt::print("{}: {} of {} layers within their error bounds\n", right == layers ? "PASSED" : "FAILED", right, layers);
    return right == layers;
}

int run(int argc, char** argv) {
    Options options;
    CommandLine const command_line =
        CommandLine("fused_vs_unfused", "the layers of MIOpen's fusion charts, fused and unfused, on the CPU")
            .integer("--batch", options.batch, 1, 4096, "images in a batch")
            .text("--layers", "LIST", options.layers,
                  "'conv', 'norm', 'all', names or parts of names, separated by commas")
            .choice("--dtype", options.dtype, {"float", "half", "bfloat16"}, "element type")
            .choice("--layout", options.layout, {"nchw", "nhwc"},
                    "memory order of the activations; the filters' follows it")
            .integer("--threads", options.threads, 0, 1024, "threads; 0 is one for each processor")
            .integer("--repeats", options.repeats, 1, 1000, "samples of each time, of which the median is reported")
            .text("--output", "DIR", options.output, "where the CSV and SVG files go");
    if (!command_line.parse(argc, argv)) return 0;
    LayerChoice const chosen = choose_layers(options.layers);

    fk::host::Device device(options.threads);
    std::string const busy = busy_warning();
    std::string const machine = machine_name(device.threads(), busy);
    fmt::print(
        "{}; built for {}-bit vectors\n{}batch {} (a host's: MIOpen's charts are for GPUs and 64), {}, {}\n"
        "the median of {} samples a time, fused and unfused in turn, buffers rotated past the caches\n",
        machine, 8 * fk::config::vector_bytes, busy, options.batch, options.dtype, options.layout, options.repeats);
    Ceilings const ceilings = measure_ceilings(device.threads());
    fmt::print(
        "measured peaks: {:.0f} GFLOP/s of float multiply-adds, {:.1f} GB/s copying memory\n"
        "checked: 2,000 elements of each output, corners and rims among them, against sums in double; the largest "
        "error is over these\n",
        ceilings.gflops, ceilings.gigabytes_a_second);

    std::vector<Group> const groups = run_all(device, options, chosen, ceilings);
    fmt::print("\n");
    write_results(groups, options, machine);
    return print_verdict(groups) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("fused_vs_unfused", [&] { return run(argc, argv); });
}
