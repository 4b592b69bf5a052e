// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/hip.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "peers/cudnn_passes.hpp"
#include "support/bar_chart.hpp"
#include "support/difference.hpp"
#include "support/graph_timing.hpp"
#include "support/hip_ceilings.hpp"
#include "support/hip_machine.hpp"
#include "support/machine.hpp"
#include "support/near_fastest.hpp"
#include "support/records.hpp"

/// Compares all layers in one type with cuDNN. One unit per type (peers/cudnn_types/).
namespace bench {

/// Maximum difference, relative to the largest value. In float, TF32's error is several times this, Winograd's a tenth;
/// in other types both results are rounded once, in int8 by up to half a step each.
template <class T>
constexpr double max_difference = sizeof(T) == 4                ? 1e-4
                                  : sizeof(T) == 1              ? 1.0 / 127
                                  : std::is_same_v<T, fk::half> ? 0x1p-10
                                                                : 0x1p-7;
template <class T>
constexpr cudnnDataType_t cudnn_type = sizeof(T) == 4                ? CUDNN_DATA_FLOAT
                                       : sizeof(T) == 1              ? CUDNN_DATA_INT8
                                       : std::is_same_v<T, fk::half> ? CUDNN_DATA_HALF
                                                                     : CUDNN_DATA_BFLOAT16;

/// cuDNN's fastest implementation of a kind.
struct Fastest {
    CudnnWay way;
    double seconds = 0;
    double difference = 0;  ///< largest difference between the results, over the largest result

    void take(CudnnWay const& other, double other_seconds, double other_difference) {
        if (!way.run || other_seconds < seconds) *this = {other, other_seconds, other_difference};
    }
};

struct Row {
    double ours = 0;  ///< seconds
    Fastest fused;  ///< of implementations without intermediate tensors in the workspace
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

/// Implementations whose first call takes longer than the fastest one's by more than this factor are timed once.
inline constexpr double most_times_slower = 4;

/// Workspace of fusekit's plans. Weight gradients split a layer's pixels among more CTAs with more workspace.
inline constexpr std::size_t own_workspace_bytes = std::size_t{64} << 20;

template <class T, class Pass>
Row measure(fk::hip::Device& device, cudnnHandle_t handle, Workspace const& workspace, ConvLayer const& layer,
            bool channels_last, CudnnOptions const& options) {
    Rotation<T, fk::hip::Device> io(device, activations(Pass::input(options, layer, channels_last)),
                                    activations(Pass::output(options, layer, channels_last)),
                                    gpu_rotated_bytes(device.index()));
    Pass const own(device, layer, channels_last, options);
    auto const plan = own.bind();

    fk::Workspace const lent(device, own_workspace_bytes);
    fk::hip::Stream stream(device, device.stream(), lent);
    Subject const ours = [&](std::int64_t call) { plan(stream, io.x(call), io.y(call)); };
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
    auto const attempt = [&](auto const& body) {
        try {
            body();
        } catch (std::exception const& error) {  // unsupported for this problem, or not capturable
            std::fprintf(stderr, "  %s: %s\n", layer.name().c_str(), error.what());
            device.synchronize();
            static_cast<void>(hipGetLastError());
        }
    };
    auto const once = [&](CudnnWay const& way) {
        std::optional<double> seconds;
        if (way.workspace_bytes > Workspace::bytes) return seconds;
        ++row.tried;
        attempt([&] {
            Subject const run = subject(way);
            run(0);  // loads its kernels, which is not possible during capture
            seconds = CapturedCalls(device.stream(), run, 1).seconds();
        });
        return seconds;
    };
    auto const at_length = [&](CudnnWay const& way) {
        attempt([&] {
            Subject const run = subject(way);
            double const seconds = graph_medians(device.stream(), {run}, io.size(), 3)[0];
            double const difference = largest_difference(result(run), expected);
            if (!(difference <= max_difference<T>)) {
                std::printf("  %s differs by %.1e: not taken\n", way.name.c_str(), difference);
                return;
            }
            row.any.take(way, seconds, difference);
            if (way.workspace_bytes < tensors) row.fused.take(way, seconds, difference);
        });
    };
    auto const try_all = [&](std::vector<CudnnWay> const& ways) {
        time_near_fastest(ways, most_times_slower, once, at_length);
    };
    CudnnProblem problem{handle, layer, options.batch, channels_last, cudnn_type<T>};
    own.give(problem);
    Pass::try_ways(problem, options, try_all);
    if (!row.any.way.run) try_all(Pass::last_ways(problem));
    if (!row.fused.way.run) row.fused = row.any;
    if (!row.any.way.run) return row;
    auto const medians = graph_medians(device.stream(), {ours, subject(row.fused.way), subject(row.any.way)}, io.size(),
                                       options.repeats);
    row.ours = medians[0];
    row.fused.seconds = medians[1];
    row.any.seconds = medians[2];
    return row;
}

/// Machine facts for tables and charts.
struct Facts {
    Machine machine;
    Ceilings ceilings;
    std::string cudnn;
};

template <class T>
Row measure_pass(fk::hip::Device& device, cudnnHandle_t handle, Workspace const& workspace, ConvLayer const& layer,
                 bool channels_last, CudnnOptions const& options) {
    auto const of = [&]<fk::Filter<2> Filter>() {
        if constexpr (sizeof(T) > 1) {
            if (options.pass == "input")
                return measure<T, InputGradient<T, Filter>>(device, handle, workspace, layer, channels_last, options);
            if (options.pass == "weights")
                return measure<T, WeightGradient<T, Filter>>(device, handle, workspace, layer, channels_last, options);
        }
        return measure<T, Forward<T, Filter>>(device, handle, workspace, layer, channels_last, options);
    };
    if (layer.r == 7)  // no gradient of the input image
        return measure<T, Forward<T, fk::filter(7, 7).pad(3).stride(2)>>(device, handle, workspace, layer,
                                                                         channels_last, options);
    return layer.r == 1 ? of.template operator()<fk::filter(1, 1)>()
                        : of.template operator()<fk::filter(3, 3).pad(1)>();
}

/// Title of a pass in charts.
inline char const* title_of(std::string const& pass) {
    return pass == "input"     ? "Gradient of a convolution by its input"
           : pass == "weights" ? "Gradient of a convolution by its weights"
                               : "Convolution + bias + ReLU";
}

inline std::string file_of(std::string const& pass) { return pass == "forward" ? "cudnn" : "cudnn_" + pass; }

/// State of a program run.
struct CudnnRun {
    fk::hip::Device& device;
    cudnnHandle_t handle;
    std::vector<ConvLayer> layers;
    CudnnOptions options;
    Facts facts;
    Records& records;
};

/// Compares all layers in one type, batch and layout: table, geometric mean and chart.
template <class T>
void run_layout(CudnnRun const& run, bool channels_last) {
    auto const& [device, handle, layers, options, facts, records] = run;
    char const* const layout = channels_last ? "NHWC" : "NCHW";
    BarChart chart;
    Workspace const workspace;
    std::printf("\n%s: %s, batch %d, %s\n%-24s %9s %8s %9s %8s %8s %6s %11s %9s %6s  %s\n", title_of(options.pass),
                name(fk::data_type<T>), options.batch, layout, "layer", "cuDNN us", "TFLOP/s", "ours us", "TFLOP/s",
                "of peak", "ratio", "difference", "any us", "ratio",
                "cuDNN's fused way; its fastest of any kind (of how many)");
    std::vector<double> ratios, any_ratios;
    for (ConvLayer const& layer : layers) {
        Row row;
        try {
            row = measure_pass<T>(device, handle, workspace, layer, channels_last, options);
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
        records.add({{"pass", options.pass},
                     {"dtype", name(fk::data_type<T>)},
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
    chart.title = text("%s: %s, %s, batch %d", title_of(options.pass), name(fk::data_type<T>), layout, options.batch);
    chart.axis = "cuDNN's time / fusekit's time (1.0 = as fast)";
    chart.measured = "beside the fastest of cuDNN's fused kernels";
    chart.published = "beside the fastest of all its ways, several kernels and other layouts among them";
    chart.caption = {text("%s, %s; cuDNN %s; median of %d samples, %s", facts.machine.device.c_str(),
                          facts.machine.compiler.c_str(), facts.cudnn.c_str(), options.repeats, today().c_str()),
                     "layers: C-H-W-K-RxS-p(pad)-s(stride)"};
    if (facts.machine.busy) chart.warning = "BUSY MACHINE: these figures are not to be trusted";
    chart.summary = {"geometric mean", geometric_mean(ratios), geometric_mean(any_ratios)};
    write_file(std::filesystem::path(options.output) / text("%s_%s_%s_%d.svg", file_of(options.pass).c_str(),
                                                            name(fk::data_type<T>), channels_last ? "nhwc" : "nchw",
                                                            options.batch),
               chart.svg());
    std::printf(
        "geometric mean of our throughput over cuDNN's fused kernels, %zu layers: %.3f, least %.3f\n"
        "over its fastest of any kind, transformed tensors in a workspace among them: %.3f\n",
        ratios.size(), geometric_mean(ratios), *std::min_element(ratios.begin(), ratios.end()),
        geometric_mean(any_ratios));
}

}  // namespace bench
