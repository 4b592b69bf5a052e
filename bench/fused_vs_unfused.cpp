// SPDX-License-Identifier: MIT
//
// What does fusing buy? The layers of MIOpen's two fusion charts as one plan each, beside the same operators as plans
// of one operator that hand each other whole tensors, on the CPU or on a GPU. Prints tables, writes them as CSV and
// JSON, and two charts as SVG.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "layers.hpp"
#include "support/backend.hpp"
#include "support/bar_chart.hpp"
#include "support/bars.hpp"
#include "support/group.hpp"
#include "support/layer_choice.hpp"
#include "support/machine.hpp"
#include "support/options.hpp"
#include "support/records.hpp"

namespace {

using namespace bench;

struct Options {
    int index = 0, batch = 0, threads = 0, repeats = 9;
    std::string device = "best", layers = "all", mode = "all", dtype = "float", layout = "nchw",
                output = "bench-output";

    bool wants(NormMode of) const { return mode == "all" || (mode == "spatial") == (of == NormMode::spatial); }
    bool one_form() const { return dtype != "all" && layout != "all"; }
};

std::unique_ptr<Backend> open_backend(Options const& options) {
    int const gpus = options.device == "host" ? 0 : gpu_count();
    if (options.device == "host" || (options.device == "best" && gpus == 0)) return host_backend(options.threads);
    if (gpus == 0) throw std::runtime_error("there is no GPU here that this program was built for");
    if (options.index >= gpus) throw UsageError(text("--index: there are %d GPUs, counted from 0", gpus));
    return hip_backend(options.index);
}

void print_header(Group const& group) {
    std::printf("\n%s, %s, %s\n%-24s %11s %9s %8s %7s %9s %8s %9s %14s\n", group.title, name(group.form.type),
                group.layout(), "layer", "unfused ms", "fused ms", "speedup", "MIOpen", group.unit, "of peak",
                "of floor", "largest error");
}

void print_row(Group const& group, Row const& row) {
    std::printf("%-24s %11.4f %9.4f %8.2f %7.2f %9.1f %7.0f%% %8.0f%% %14.1e%s\n", row.name.c_str(),
                row.measured.unfused_seconds * 1e3, row.measured.fused_seconds * 1e3, row.measured.speedup(),
                row.miopen, row.rate(), 100 * row.rate() / group.ceiling, 100 * row.of_floor(),
                row.measured.fused.largest_error, row.measured.passed() ? "" : "  WRONG");
    auto const explain = [](char const* which, Verdict const& verdict) {
        if (!verdict.passed())
            std::printf(
                "  %s: %lld elements not written, largest error %.1e (%.2f of its bound), %.0f %% of samples zero\n",
                which, static_cast<long long>(verdict.unwritten), verdict.largest_error, verdict.of_bound,
                100 * verdict.zeros);
    };
    explain("fused", row.measured.fused);
    explain("unfused", row.measured.unfused);
    std::fflush(stdout);
}

/// Measures every layer of `layers`, and prints its row as soon as there is one. `row_of(layer)` makes the row.
template <class Layer, class RowOf>
void run_group(std::vector<Layer> const& layers, Group& group, RowOf const& row_of) {
    if (layers.empty()) return;
    print_header(group);
    for (Layer const& layer : layers) {
        if (isatty(fileno(stdout))) {  // a line that the next one overwrites
            std::printf("%-24s measuring, layer %zu of %zu ...\r\033[K", layer.name().c_str(), group.rows.size() + 1,
                        layers.size());
            std::fflush(stdout);
        }
        group.rows.push_back(row_of(layer));
        print_row(group, group.rows.back());
    }
    BarChart::Row const mean = group.geometric_mean();
    std::printf("%-24s %11s %9s %8.2f %7.2f\n", mean.name.c_str(), "", "", mean.measured, mean.published);
}

/// All groups in one element type and layout.
void run_form(Backend& backend, Options const& options, LayerChoice const& chosen, Ceilings const& ceilings,
              Case const& form, std::vector<Group>& groups) {
    int const size = form.type == fusekit::DataType::float32 ? 4 : 2;
    auto const floor = [&](double flops, double bytes) {
        return 1e-9 * std::max(flops / ceilings.gflops, bytes / ceilings.gigabytes_a_second);
    };
    Group conv{"conv", "Convolution + bias + ReLU", "conv_bias_relu", "GFLOP/s", ceilings.gflops, form};
    run_group(chosen.conv, conv, [&](ConvLayer const& layer) {
        double const flops = layer.flops(form.batch), bytes = layer.bytes(form.batch, size);
        double const output = 1.0 * size * form.batch * layer.k * layer.p() * layer.q();
        return Row{layer.name(), layer.miopen, output, flops, floor(flops, bytes), backend.measure(layer, form)};
    });
    groups.push_back(std::move(conv));
    for (NormMode const mode : {NormMode::spatial, NormMode::per_activation}) {
        if (!options.wants(mode)) continue;
        bool const spatial = mode == NormMode::spatial;
        Group norm{spatial ? "norm_spatial" : "norm_per_activation",
                   spatial ? "Batch norm (spatial) + ReLU, inference" : "Batch norm (per activation) + ReLU, inference",
                   spatial ? "batch_norm_relu" : "batch_norm_per_activation_relu",
                   "GB/s",
                   ceilings.gigabytes_a_second,
                   form};
        run_group(chosen.norm, norm, [&](NormLayer const& layer) {
            double const bytes = layer.bytes(form.batch, size, mode);
            double const output = size * layer.elements(form.batch);
            return Row{layer.name(), layer.miopen, output, bytes, floor(0, bytes), backend.measure(layer, mode, form)};
        });
        groups.push_back(std::move(norm));
    }
}

void write_chart(Group const& group, Options const& options, Machine const& machine, std::string const& command) {
    BarChart chart;
    chart.title = std::string(group.title) + ": what fusing buys";
    chart.axis = "time unfused / time fused (1.0 = no gain)";
    chart.measured = "fusekit, " + machine.device;
    chart.published = "MIOpen, its published chart (GPU not stated)";
    chart.caption = {text("batch %d, %s, %s, median of %d samples, %s", group.form.batch, name(group.form.type),
                          group.layout(), options.repeats, today().c_str()),
                     (machine.driver.empty() ? "" : "driver " + machine.driver + "; ") + machine.compiler, command};
    if (machine.busy) chart.caption.push_back("BUSY MACHINE");
    for (Row const& row : group.rows) chart.rows.push_back({row.name, row.measured.speedup(), row.miopen});
    chart.summary = group.geometric_mean();
    std::string const form = options.one_form() ? "" : text("_%s_%s", name(group.form.type), group.layout());
    write_file(std::filesystem::path(options.output) / (group.file + form + ".svg"), chart.svg());
}

void write_results(std::vector<Group> const& groups, Options const& options, Backend const& backend,
                   Ceilings const& ceilings, std::string const& command) {
    Machine const machine = backend.machine();
    Records records({{"ceiling_gflops", text("%.2f", ceilings.gflops)},
                     {"ceiling_gigabytes_a_second", text("%.2f", ceilings.gigabytes_a_second)},
                     {"device", backend.kind()},
                     {"machine", machine.device},
                     {"busy", machine.busy ? "yes" : "no"},
                     {"driver", machine.driver},
                     {"compiler", machine.compiler},
                     {"date", today()},
                     {"command", command}});
    for (Group const& group : groups) {
        for (Row const& row : group.rows) {
            Measurement const& m = row.measured;
            records.add({{"kind", group.kind},
                         {"layer", row.name},
                         {"batch", std::to_string(group.form.batch)},
                         {"dtype", name(group.form.type)},
                         {"layout", group.layout()},
                         {"unfused_ms", text("%.5f", m.unfused_seconds * 1e3)},
                         {"fused_ms", text("%.5f", m.fused_seconds * 1e3)},
                         {"speedup", text("%.4f", m.speedup())},
                         {"miopen_chart_speedup", text("%.2f", row.miopen)},
                         {"rate", text("%.2f", row.rate())},
                         {"rate_unit", group.unit},
                         {"of_ceiling", text("%.4f", row.rate() / group.ceiling)},
                         {"floor_ms", text("%.5f", row.floor_seconds * 1e3)},
                         {"of_floor", text("%.4f", row.of_floor())},
                         {"largest_error", text("%.3e", m.fused.largest_error)},
                         {"error_of_bound", text("%.3f", m.fused.of_bound)},
                         {"passed", m.passed() ? "yes" : "no"}});
        }
        if (!group.rows.empty() && group.kind != std::string("norm_per_activation"))
            write_chart(group, options, machine, command);
    }
    records.write(options.output, "fused_vs_unfused");
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
    std::printf("fused at least as fast as unfused on %zu of %zu layers; least speedup %.2f, %s\n", faster, layers,
                slowest->measured.speedup(), slowest->name.c_str());
    std::printf("%s: %zu of %zu layers within their error bounds\n", right == layers ? "PASSED" : "FAILED", right,
                layers);
    return right == layers;
}

int run(int argc, char** argv) {
    Options options;
    CommandLine const command_line =
        CommandLine("fused_vs_unfused", "the layers of MIOpen's fusion charts, fused and unfused")
            .choice("--device", options.device, {"best", "host", "hip"}, "the CPU or a GPU; best is a GPU where one is")
            .integer("--index", options.index, 0, 1023, "which GPU")
            .integer("--batch", options.batch, 1, 4096, "images in a batch (default 64 on a GPU, 8 on the CPU)")
            .text("--layers", "LIST", options.layers,
                  "'conv', 'norm', 'all', names or parts of names, separated by commas")
            .choice("--mode", options.mode, {"spatial", "per_activation", "all"}, "of batch norm")
            .choice("--dtype", options.dtype, {"float", "half", "bfloat16", "all"}, "element type")
            .choice("--layout", options.layout, {"nchw", "nhwc", "all"},
                    "memory order of the activations; the filters' follows it")
            .integer("--threads", options.threads, 0, 1024, "of the CPU; 0 is one for each processor")
            .integer("--repeats", options.repeats, 1, 1000, "samples of each time, of which the median is reported")
            .text("--output", "DIR", options.output, "where the CSV, JSON and SVG files go");
    if (!command_line.parse(argc, argv)) return 0;
    LayerChoice const chosen = choose_layers(options.layers);

    std::unique_ptr<Backend> const backend = open_backend(options);
    Machine const machine = backend->machine();
    int const batch = options.batch ? options.batch : backend->usual_batch();
    std::printf("%s%s%s, %s\n%sbatch %d%s\n%s; the median of %d samples a time\n", machine.device.c_str(),
                machine.driver.empty() ? "" : ", driver ", machine.driver.c_str(), machine.compiler.c_str(),
                machine.busy ? busy_warning : "", batch, batch == 64 ? "" : " (MIOpen's charts have 64)",
                backend->method().c_str(), options.repeats);
    Ceilings const ceilings = backend->measure_ceilings();
    std::printf(
        "measured peaks: %.0f GFLOP/s of float multiply-adds, %.1f GB/s copying memory; floor: the larger of "
        "operations "
        "and bytes over these\n"
        "checked: 2,000 elements of each output, corners and rims among them, against sums in double; the largest "
        "error is over these\n",
        ceilings.gflops, ceilings.gigabytes_a_second);

    std::vector<Group> groups;
    for (auto const type : {fusekit::DataType::float32, fusekit::DataType::float16, fusekit::DataType::bfloat16})
        for (bool const channels_last : {false, true}) {
            if (options.dtype != "all" && options.dtype != name(type)) continue;
            if (options.layout != "all" && (options.layout == "nhwc") != channels_last) continue;
            run_form(*backend, options, chosen, ceilings, {batch, type, channels_last, options.repeats}, groups);
        }
    std::printf("\n");
    write_results(groups, options, *backend, ceilings, command_text(argc, argv));
    if (std::string(backend->kind()) == "hip") print_bars(groups);
    return print_verdict(groups) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("fused_vs_unfused", [&] { return run(argc, argv); });
}
