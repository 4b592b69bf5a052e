// SPDX-License-Identifier: MIT
//
// How do convolutions on an NVIDIA GPU stand beside cuDNN? The 13 convolution + bias + ReLU layers in float without
// TF32, in half, in bfloat16 or, requantised, in int8, NCHW and NHWC, in one run, timed the same way. For each layer
// cuDNN is the fastest of its fused algorithms and engines, with as much workspace as they like.
#include <fusekit/hip.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "layers.hpp"
#include "peers/cudnn_fused.hpp"
#include "support/bar_chart.hpp"
#include "support/chains.hpp"
#include "support/difference.hpp"
#include "support/graph_timing.hpp"
#include "support/hip_ceilings.hpp"
#include "support/hip_machine.hpp"
#include "support/layer_choice.hpp"
#include "support/machine.hpp"
#include "support/options.hpp"
#include "support/records.hpp"

namespace {

using namespace bench;
using Device = fk::hip::Device;

/// No more than this, of the largest value. In float, what TF32 leaves is several times it, Winograd a tenth; in others
/// both results are rounded once, in int8 perhaps a half to either side.
template <class T>
constexpr double most_difference = sizeof(T) == 4                ? 1e-4
                                   : sizeof(T) == 1              ? 1.0 / 127
                                   : std::is_same_v<T, fk::half> ? 0x1p-10
                                                                 : 0x1p-7;
template <class T>
constexpr cudnnDataType_t cudnn_type = sizeof(T) == 4                ? CUDNN_DATA_FLOAT
                                       : sizeof(T) == 1              ? CUDNN_DATA_INT8
                                       : std::is_same_v<T, fk::half> ? CUDNN_DATA_HALF
                                                                     : CUDNN_DATA_BFLOAT16;

struct Options {
    int index = 0, batch = 64, repeats = 9, engines = 16, seconds = 3;
    std::string layers = "conv", layout = "all", dtype = "float", batches = "64", output = "bench-output";
};

/// cuDNN's fastest way of a kind.
struct Fastest {
    CudnnWay way;
    double seconds = 0;
    double difference = 0;  ///< largest between its result and ours, over the largest result

    void take(CudnnWay const& other, double other_seconds, double other_difference) {
        if (!way.run || other_seconds < seconds) *this = {other, other_seconds, other_difference};
    }
};

struct Row {
    double ours = 0;  ///< seconds
    Fastest fused;  ///< of those that keep no tensor in the workspace between kernels
    Fastest any;
    int tried = 0;
    double ratio() const { return fused.seconds / ours; }
};

struct Workspace {
    static constexpr std::size_t bytes = std::size_t{1} << 30;
    void* data = nullptr;
    Workspace() { require(hipMalloc(&data, bytes), "hipMalloc"); }
    Workspace(Workspace const&) = delete;
    Workspace& operator=(Workspace const&) = delete;
    ~Workspace() { static_cast<void>(hipFree(data)); }
};

/// Our plan of a layer, and what cuDNN takes as its bias and scale.
template <class T, fk::Filter<2> Filter>
struct Layer {
    fk::Tensor<T, Device> weights;
    fk::Tensor<T, Device, 1> bias;
    float scale = 1;
    using Plan = fk::Plan<fk::Conv<Filter>, fk::Bias, fk::Activation<fk::Relu>>;

    Layer(Device& device, ConvLayer const& l, bool last)
        : weights(fk::random<T>(device, activations({l.k, l.c, l.r, l.s, last}), 2)),
          bias(fk::random<T>(device, fk::channels(l.k), 3)) {}
    auto bind() const { return Plan::bind({.weights = weights}, {.bias = bias}, {}); }
    void const* cudnn_bias() const { return bias.data(); }
    void const* cudnn_scale() const { return nullptr; }
};

/// y = relu(sums + bias) scale, where scale is a power of two: cuDNN's scale sums + scale bias is exactly that.
template <fk::Filter<2> Filter>
struct Layer<fk::int8, Filter> {
    fk::Tensor<fk::int8, Device> weights;
    fk::Tensor<float, Device, 1> bias, scaled_bias, scales;
    float scale;
    using Plan = fk::Plan<fk::Conv<Filter>, fk::Bias, fk::Activation<fk::Relu>, fk::Requantize>;

    Layer(Device& device, ConvLayer const& l, bool last)
        : weights(fk::random<fk::int8>(device, activations({l.k, l.c, l.r, l.s, last}), 2)),
          bias(device, fk::channels(l.k)),
          scaled_bias(device, fk::channels(l.k)),
          scales(device, fk::channels(l.k)),
          scale(std::exp2(std::round(std::log2(40 / (5400 * std::sqrt(static_cast<float>(l.c * l.r * l.s))))))) {
        std::vector<float> numbers(static_cast<std::size_t>(l.k)), scaled(numbers), all(numbers.size(), scale);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            numbers[i] = static_cast<float>(i * 37 % 1001) - 500, scaled[i] = numbers[i] * scale;
        bias.copy_from(numbers.data());
        scaled_bias.copy_from(scaled.data());
        scales.copy_from(all.data());
    }
    auto bind() const { return Plan::bind({.weights = weights}, {.bias = bias}, {}, {.scale = scales}); }
    void const* cudnn_bias() const { return scaled_bias.data(); }
    void const* cudnn_scale() const { return scales.data(); }
};

template <class T, fk::Filter<2> Filter>
Row measure(Device& device, cudnnHandle_t handle, Workspace const& workspace, ConvLayer const& layer,
            bool channels_last, Options const& options) {
    Extents const input{options.batch, layer.c, layer.h, layer.w, channels_last};
    Extents const output{options.batch, layer.k, layer.p(), layer.q(), channels_last};
    Rotation<T, Device> io(device, activations(input), activations(output), gpu_rotated_bytes(device.index()));
    Layer<T, Filter> const own(device, layer, channels_last);
    auto const plan = own.bind();

    Subject const ours = [&](std::int64_t call) { plan(device, io.x(call), io.y(call)); };
    auto const subject = [&](CudnnWay const& way) -> Subject {
        return [&io, &workspace, way](std::int64_t call) {
            bench::require(way.run(io.x(call).data(), io.y(call).data(), workspace.data), way.name.c_str());
        };
    };
    auto const result = [&](Subject const& run) {
        io.poison_output(0);
        run(0);
        return to_host(io.y(0));
    };
    std::vector<T> const expected = result(ours);

    Row row;
    std::size_t const tensors = static_cast<std::size_t>(io.x(0).size() + io.y(0).size()) * sizeof(T);
    auto const try_all = [&](std::vector<CudnnWay> const& ways) {
        for (CudnnWay const& way : ways) {
            if (way.workspace_bytes > Workspace::bytes) continue;
            ++row.tried;
            try {
                Subject const run = subject(way);
                run(0);  // loads its kernels, which a capture cannot
                double const seconds = graph_medians(device.stream(), {run}, io.size(), 3)[0];
                double const difference = largest_difference(result(run), expected);
                if (!(difference <= most_difference<T>)) {
                    std::printf("  %s differs by %.1e: not taken\n", way.name.c_str(), difference);
                    continue;
                }
                row.any.take(way, seconds, difference);
                if (way.workspace_bytes < tensors) row.fused.take(way, seconds, difference);
            } catch (std::exception const& error) {  // it does not take this problem after all, or no capture
                std::fprintf(stderr, "  %s: %s\n", layer.name().c_str(), error.what());
                device.synchronize();
                static_cast<void>(hipGetLastError());
            }
        }
    };
    CudnnProblem const problem{handle,           layer,         options.batch,
                               channels_last,    cudnn_type<T>, own.weights.data(),
                               own.cudnn_bias(), own.scale,     own.cudnn_scale()};
    try_all(cudnn_fused_algorithms(problem));
    try {
        try_all(cudnn_fused_engines(problem, options.engines, options.seconds));
    } catch (std::exception const& error) {
        std::printf("  no engines: %s\n", error.what());
    }
    if (!row.any.way.run) try_all(cudnn_unfused_algorithms(problem));
    if (!row.fused.way.run) row.fused = row.any;
    if (!row.any.way.run) return row;
    auto const medians = graph_medians(device.stream(), {ours, subject(row.fused.way), subject(row.any.way)}, io.size(),
                                       options.repeats);
    row.ours = medians[0];
    row.fused.seconds = medians[1];
    row.any.seconds = medians[2];
    return row;
}

/// What a run's tables and charts say of the machine.
struct Facts {
    Machine machine;
    Ceilings ceilings;
    std::string cudnn;
};

/// All layers in one type, batch and layout: table, geometric mean and chart.
template <class T>
void run_layout(Device& device, cudnnHandle_t handle, std::vector<ConvLayer> const& layers, Options const& options,
                bool channels_last, Facts const& facts, Records& records) {
    char const* const layout = channels_last ? "NHWC" : "NCHW";
    BarChart chart;
    Workspace const workspace;
    std::printf("\n%s, batch %d, %s\n%-24s %9s %8s %9s %8s %8s %6s %11s %9s %6s  %s\n", name(fk::data_type<T>),
                options.batch, layout, "layer", "cuDNN us", "TFLOP/s", "ours us", "TFLOP/s", "of peak", "ratio",
                "difference", "any us", "ratio", "cuDNN's fused way; its fastest of any kind (of how many)");
    std::vector<double> ratios, any_ratios;
    for (ConvLayer const& layer : layers) {
        Row row;
        try {
            row = layer.r == 1 ? measure<T, fk::filter(1, 1)>(device, handle, workspace, layer, channels_last, options)
                  : layer.r == 3
                      ? measure<T, fk::filter(3, 3).pad(1)>(device, handle, workspace, layer, channels_last, options)
                      : measure<T, fk::filter(7, 7).pad(3).stride(2)>(device, handle, workspace, layer, channels_last,
                                                                      options);
        } catch (std::exception const& error) {
            std::printf("%-24s FAILED: %s\n", layer.name().c_str(), error.what());
            continue;
        }
        if (!row.any.way.run) {
            std::printf("%-24s cuDNN has no way (of %d)\n", layer.name().c_str(), row.tried);
            continue;
        }
        double const work = layer.flops(options.batch) * 1e-12, any_ratio = row.any.seconds / row.ours;
        std::printf("%-24s %9.1f %8.1f %9.1f %8.1f %7.0f%% %6.2f %11.1e %9.1f %6.2f  %s; %s (%d)\n",
                    layer.name().c_str(), row.fused.seconds * 1e6, work / row.fused.seconds, row.ours * 1e6,
                    work / row.ours, 1e5 * work / row.ours / facts.ceilings.gflops, row.ratio(), row.fused.difference,
                    row.any.seconds * 1e6, any_ratio, row.fused.way.name.c_str(), row.any.way.name.c_str(), row.tried);
        std::fflush(stdout);
        records.add({{"dtype", name(fk::data_type<T>)},
                     {"layout", channels_last ? "nhwc" : "nchw"},
                     {"layer", layer.name()},
                     {"batch", std::to_string(options.batch)},
                     {"cudnn_us", text("%.2f", row.fused.seconds * 1e6)},
                     {"cudnn_tflops", text("%.2f", work / row.fused.seconds)},
                     {"fusekit_us", text("%.2f", row.ours * 1e6)},
                     {"fusekit_tflops", text("%.2f", work / row.ours)},
                     {"throughput_ratio", text("%.4f", row.ratio())},
                     {"difference", text("%.2e", row.fused.difference)},
                     {"cudnn_way", row.fused.way.name},
                     {"cudnn_any_us", text("%.2f", row.any.seconds * 1e6)},
                     {"throughput_ratio_any", text("%.4f", any_ratio)},
                     {"cudnn_any_way", row.any.way.name},
                     {"cudnn_ways_tried", std::to_string(row.tried)}});
        ratios.push_back(row.ratio());
        any_ratios.push_back(any_ratio);
        chart.rows.push_back({layer.name(), row.ratio(), any_ratio});
    }
    if (ratios.empty()) return;
    chart.title = text("Convolution + bias + ReLU: %s, %s, batch %d", name(fk::data_type<T>), layout, options.batch);
    chart.axis = "cuDNN's time / fusekit's time (1.0 = as fast)";
    chart.measured = "beside the fastest of cuDNN's fused kernels";
    chart.published = "beside the fastest of all its ways, several kernels and other layouts among them";
    chart.caption = {text("%s, %s; cuDNN %s; median of %d samples, %s", facts.machine.device.c_str(),
                          facts.machine.compiler.c_str(), facts.cudnn.c_str(), options.repeats, today().c_str()),
                     "layers: C-H-W-K-RxS-p(pad)-s(stride)"};
    if (facts.machine.busy) chart.warning = "BUSY MACHINE: these figures are not to be trusted";
    chart.summary = {"geometric mean", geometric_mean(ratios), geometric_mean(any_ratios)};
    write_file(std::filesystem::path(options.output) /
                   text("cudnn_%s_%s_%d.svg", name(fk::data_type<T>), channels_last ? "nhwc" : "nchw", options.batch),
               chart.svg());
    std::printf(
        "geometric mean of our throughput over cuDNN's fused kernels, %zu layers: %.3f, least %.3f\n"
        "over its fastest of any kind, transformed tensors in a workspace among them: %.3f\n",
        ratios.size(), geometric_mean(ratios), *std::min_element(ratios.begin(), ratios.end()),
        geometric_mean(any_ratios));
}

/// The batches of a list such as "1,8,64".
std::vector<int> batches_of(std::string const& list) {
    std::vector<int> batches;
    for (std::size_t begin = 0; begin <= list.size();) {
        std::size_t const end = std::min(list.find(',', begin), list.size());
        int const batch = std::atoi(list.substr(begin, end - begin).c_str());
        if (batch < 1 || batch > 4096) throw UsageError("--batch: '" + list + "' is no list of numbers from 1 to 4096");
        batches.push_back(batch);
        begin = end + 1;
    }
    return batches;
}

int run(int argc, char** argv) {
    Options options;
    CommandLine const command_line =
        CommandLine("peer_cudnn", "fused convolution layers beside cuDNN's, in one run; in float without TF32")
            .integer("--index", options.index, 0, 1023, "which GPU")
            .text("--batch", "LIST", options.batches, "images in a batch: numbers, separated by commas")
            .choice("--dtype", options.dtype, {"float", "half", "bfloat16", "int8"}, "element type of all tensors")
            .text("--layers", "LIST", options.layers,
                  "'conv', names or parts of names, separated by commas; 'stem', first layers, which run alone")
            .choice("--layout", options.layout, {"nchw", "nhwc", "all"}, "memory order of the activations")
            .integer("--repeats", options.repeats, 1, 1000, "samples of each time, of which the median is reported")
            .integer("--engines", options.engines, 0, 64, "of cuDNN's backend interface, tried a layer, at most")
            .integer("--seconds", options.seconds, 0, 600, "a layer, after which no new engine is built")
            .text("--output", "DIR", options.output, "where cudnn.csv, cudnn.json and the charts go");
    if (!command_line.parse(argc, argv)) return 0;
    LayerChoice const chosen = choose_layers(options.layers);
    auto const& layers = chosen.conv.empty() ? chosen.stem : chosen.conv;
    if (layers.empty()) throw UsageError("--layers: '" + options.layers + "' names no convolution");

    setenv("NVIDIA_TF32_OVERRIDE", "0", 1);  // NVIDIA's libraries then never round to TF32
    Device device(options.index);
    bench::require(hipSetDevice(options.index), "hipSetDevice");
    cudnnHandle_t handle;
    bench::require(cudnnCreate(&handle), "cudnnCreate");
    bench::require(cudnnSetStream(handle, device.stream()), "cudnnSetStream");
    std::size_t const version = cudnnGetVersion();
    Facts const facts{gpu_machine(device), measure_ceilings(device.stream(), device.processors()),
                      text("%zu.%zu.%zu", version / 10000, version / 100 % 100, version % 100)};
    auto const& [machine, ceilings, cudnn] = facts;
    std::printf(
        "%s, driver %s, %s; cuDNN %s\n"
        "calls captured into graphs, in turn, buffers rotated past the caches, the median of %d samples; measured peak "
        "in float %.1f TFLOP/s\n",
        machine.device.c_str(), machine.driver.c_str(), machine.compiler.c_str(), cudnn.c_str(), options.repeats,
        1e-3 * ceilings.gflops);
    Records records({{"cudnn", cudnn},
                     {"peak_gflops", text("%.1f", ceilings.gflops)},
                     {"machine", machine.device},
                     {"driver", machine.driver},
                     {"compiler", machine.compiler},
                     {"date", today()},
                     {"command", command_text(argc, argv)}});
    for (int const batch : batches_of(options.batches))
        for (bool const channels_last : {false, true}) {
            if (options.layout != "all" && (options.layout == "nhwc") != channels_last) continue;
            options.batch = batch;
            if (options.dtype == "float")
                run_layout<float>(device, handle, layers, options, channels_last, facts, records);
            else if (options.dtype == "half")
                run_layout<fk::half>(device, handle, layers, options, channels_last, facts, records);
            else if (options.dtype == "int8")
                run_layout<fk::int8>(device, handle, layers, options, channels_last, facts, records);
            else run_layout<fk::bfloat16>(device, handle, layers, options, channels_last, facts, records);
        }
    std::printf("\n");
    records.write(options.output, "cudnn");
    cudnnDestroy(handle);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("peer_cudnn", [&] { return run(argc, argv); });
}
