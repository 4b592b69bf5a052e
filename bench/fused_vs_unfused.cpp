// SPDX-License-Identifier: MIT
//
// Speedup by fusion: the layers of MIOpen's two fusion charts as one plan each, against one plan per operator with
// whole tensors between them, on the CPU or on a GPU. Prints tables, writes them as CSV and JSON, and two charts as
// SVG.
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

void print_row(Row const& row, Ceilings const& ceilings) {
    std::string const miopen = row.miopen > 0 ? text("%.2f", row.miopen) : "";
    std::printf("%-24s %11.4f %9.4f %8.2f %7s %9.1f %8.0f%% %14.1e%s\n", row.name.c_str(),
                row.measured.unfused_seconds * 1e3, row.measured.fused_seconds * 1e3, row.measured.speedup(),
                miopen.c_str(), row.rate(), 100 * row.of_floor(ceilings), row.measured.fused.largest_error,
                row.measured.passed() ? "" : "  WRONG");
    auto const explain = [](char const* which, Verdict const& verdict) {
        if (!verdict.passed())
            std::printf(
                "  %s: %lld elements not written, largest error %.1e (%.2f of its bound), %.0f %% of samples zero\n",
                which, static_cast<long long>(verdict.unwritten), verdict.largest_error, verdict.of_bound,
                100 * verdict.zeros);
    };
    explain("fused", row.measured.fused);
    explain("unfused", row.measured.unfused);
}

void print_group(Group const& group, Ceilings const& ceilings) {
    if (group.rows.empty()) return;
    std::printf("\n%s, %s, %s\n%-24s %11s %9s %8s %7s %9s %9s %14s\n", group.title, name(group.form.type),
                group.layout(), "layer", "unfused ms", "fused ms", "speedup", group.published() ? "MIOpen" : "",
                group.unit, "of floor", "largest error");
    for (Row const& row : group.rows) print_row(row, ceilings);
    BarChart::Row const mean = group.geometric_mean();
    std::string const published = group.published() ? text(" %7.2f", mean.published) : "";
    std::printf("%-24s %11s %9s %8.2f%s\n", mean.name.c_str(), "", "", mean.measured, published.c_str());
}

/// Measures every layer of `layers`. `row_of(layer)` makes its row.
template <class Layer, class RowOf>
void run_group(std::vector<Layer> const& layers, Group& group, RowOf const& row_of) {
    for (Layer const& layer : layers) {
        if (isatty(fileno(stdout))) {  // a line that the next one overwrites
            std::printf("%s: measuring %s, layer %zu of %zu ...\033[K\r", group.title, layer.name().c_str(),
                        group.rows.size() + 1, layers.size());
            std::fflush(stdout);
        }
        group.rows.push_back(row_of(layer));
    }
    if (isatty(fileno(stdout))) std::printf("\033[K");
}

/// All groups in one element type and layout.
std::vector<Group> run_form(Backend& backend, Options const& options, LayerChoice const& chosen, Case const& form) {
    int const size = form.type == fusekit::DataType::float32 ? 4 : 2;
    std::vector<Group> groups;
    groups.push_back({"conv", "Convolution + bias + ReLU", "conv_bias_relu", "GFLOP/s", form});
    run_group(chosen.conv, groups.back(), [&](ConvLayer const& layer) {
        double const flops = layer.flops(form.batch), bytes = layer.bytes(form.batch, size);
        double const output = 1.0 * size * form.batch * layer.k * layer.p() * layer.q();
        return Row{layer.name(), layer.miopen, output, flops, bytes, backend.measure(layer, form)};
    });
    for (NormMode const mode : {NormMode::spatial, NormMode::per_activation}) {
        if (!options.wants(mode)) continue;
        bool const spatial = mode == NormMode::spatial;
        groups.push_back(
            {spatial ? "norm_spatial" : "norm_per_activation",
             spatial ? "Batch norm (spatial) + ReLU, inference" : "Batch norm (per activation) + ReLU, inference",
             spatial ? "batch_norm_relu" : "batch_norm_per_activation_relu", "GB/s", form});
        run_group(chosen.norm, groups.back(), [&](NormLayer const& layer) {
            double const bytes = layer.bytes(form.batch, size, mode);
            double const output = size * layer.elements(form.batch);
            double const miopen = spatial ? layer.miopen : 0;  // its chart is of spatial batch norm
            return Row{layer.name(), miopen, output, 0, bytes, backend.measure(layer, mode, form)};
        });
    }
    return groups;
}

void write_chart(Group const& group, Options const& options, Machine const& machine, std::string const& command) {
    BarChart chart;
    chart.title = std::string(group.title) + ": what fusing buys";
    chart.axis = "time unfused / time fused (1.0 = no gain)";
    chart.measured = "fusekit, " + machine.device;
    if (group.published()) chart.published = "MIOpen, as its published chart has it";
    chart.caption = {text("batch %d, %s, %s, median of %d samples, %s", group.form.batch, name(group.form.type),
                          group.layout(), options.repeats, today().c_str()),
                     (machine.driver.empty() ? "" : "driver " + machine.driver + "; ") + machine.compiler, command};
    if (group.published())
        chart.caption.push_back(
            "Each colour is a ratio over an unfused chain of its own, on a machine of its own: MIOpen's GPU is not "
            "stated. They do not compare speeds.");
    chart.caption.push_back(std::string("layers: ") +
                            (group.kind == std::string("conv") ? ConvLayer::naming : "C-H-W"));
    if (machine.busy) chart.warning = "BUSY MACHINE: these figures are not to be trusted";
    for (Row const& row : group.rows) chart.rows.push_back({row.name, row.measured.speedup(), row.miopen});
    chart.summary = group.geometric_mean();
    std::string const form = options.one_form() ? "" : text("_%s_%s", name(group.form.type), group.layout());
    write_file(std::filesystem::path(options.output) / (group.file + form + ".svg"), chart.svg());
}

void write_results(std::vector<Group> const& groups, Options const& options, char const* device, Machine const& machine,
                   Ceilings const& ceilings, std::string const& command) {
    Records records({{"ceiling_gflops", text("%.2f", ceilings.gflops)},
                     {"ceiling_gigabytes_a_second", text("%.2f", ceilings.gigabytes_a_second)},
                     {"device", device},
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
                         {"miopen_chart_speedup", row.miopen > 0 ? text("%.2f", row.miopen) : ""},
                         {"rate", text("%.2f", row.rate())},
                         {"rate_unit", group.unit},
                         {"floor_ms", text("%.5f", ceilings.floor(row.flops, row.bytes) * 1e3)},
                         {"of_floor", text("%.4f", row.of_floor(ceilings))},
                         {"largest_error", text("%.3e", m.fused.largest_error)},
                         {"error_of_bound", text("%.3f", m.fused.of_bound)},
                         {"passed", m.passed() ? "yes" : "no"}});
        }
        if (!group.rows.empty()) write_chart(group, options, machine, command);
    }
    records.write(options.output, "fused_vs_unfused");
}

/// Prints how many layers are correct and how many are faster fused; false if one is wrong.
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
    Machine machine = backend->machine();
    int const batch = options.batch ? options.batch : backend->usual_batch();
    std::printf("%s%s%s, %s\n%sbatch %d%s\n%s; the median of %d samples a time\n", machine.device.c_str(),
                machine.driver.empty() ? "" : ", driver ", machine.driver.c_str(), machine.compiler.c_str(),
                machine.busy ? busy_warning().c_str() : "", batch, batch == 64 ? "" : " (MIOpen's charts have 64)",
                backend->method().c_str(), options.repeats);
    std::printf(
        "layers: of convolutions %s, so that 2048-7-7-512-1x1-p0-s1 has 2048 channels of\n"
        "  7 x 7 pixels, 512 filters of 1 x 1, no padding and stride 1; of batch norms C-H-W\n"
        "MIOpen: the speedup that its published chart shows for the layer, over its own unfused kernels, on a GPU "
        "that\n"
        "  it does not name\n"
        "of floor: the least time, which is the larger of operations and bytes over this machine's measured peaks, as "
        "a\n"
        "  share of the fused time\n"
        "checked: 2,000 elements of each output, corners and rims among them, against sums in double; the largest\n"
        "  error is over these\n",
        ConvLayer::naming);
    std::fflush(stdout);

    std::vector<Group> groups;
    Ceilings ceilings = backend->measure_ceilings();
    for (auto const type : {fusekit::DataType::float32, fusekit::DataType::float16, fusekit::DataType::bfloat16})
        for (bool const channels_last : {false, true}) {
            if (options.dtype != "all" && options.dtype != name(type)) continue;
            if (options.layout != "all" && (options.layout == "nhwc") != channels_last) continue;
            std::vector<Group> const of_form =
                run_form(*backend, options, chosen, {batch, type, channels_last, options.repeats});
            Ceilings const again = backend->measure_ceilings();
            bool const changed = !alike(ceilings, again);
            std::string const why =
                text("peaks of %.0f GFLOP/s and %.1f GB/s before, %.0f and %.1f after", ceilings.gflops,
                     ceilings.gigabytes_a_second, again.gflops, again.gigabytes_a_second);
            ceilings = larger(ceilings, again);
            for (Group const& group : of_form) ceilings = at_least(ceilings, group.rows);
            for (Group const& group : of_form) print_group(group, ceilings);
            std::printf(
                "measured peaks, of before, after and all layers the best: %.0f GFLOP/s of float multiply-adds, "
                "%.1f GB/s copying memory\n%s",
                ceilings.gflops, ceilings.gigabytes_a_second, changed ? busy_warning(why.c_str()).c_str() : "");
            std::fflush(stdout);
            machine.busy |= changed;
            groups.insert(groups.end(), of_form.begin(), of_form.end());
        }
    std::printf("\n");
    if (std::string(backend->kind()) == "hip") print_bars(groups, ceilings);
    bool const right = print_verdict(groups);
    write_results(groups, options, backend->kind(), machine, ceilings, command_text(argc, argv));
    std::printf(
        "next: look at the charts (SVG) in a browser; bench/README.md says what is measured, how, and what limits it;\n"
        "  README.md shows how to write plans and operators of your own\n");
    return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("fused_vs_unfused", [&] { return run(argc, argv); });
}
