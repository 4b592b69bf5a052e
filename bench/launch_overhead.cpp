// SPDX-License-Identifier: MIT
//
// Host overhead of a call: layer(stream, x, y) validates its arguments, selects a schedule and enqueues one kernel; a
// prepared run checks pointers and enqueues. Measures the time until each returns, against the launch of an empty
// kernel.
#include <fusekit/hip.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "support/hip_error.hpp"
#include "support/hip_machine.hpp"
#include "support/machine.hpp"
#include "support/options.hpp"
#include "support/records.hpp"
#include "support/timing.hpp"

namespace {

using namespace bench;
namespace fk = fusekit;

__global__ void empty() {}

struct Cost {
    double median, least;  ///< nanoseconds per call
};

/// Times `rounds` rounds of 100 calls; the stream is drained between rounds, so its queue is never full.
template <class Call>
Cost cost_of(hipStream_t stream, int rounds, Call const& call) {
    constexpr int calls = 100;
    std::vector<double> samples;
    for (int round = -10; round < rounds; ++round) {
        double const begin = seconds_now();
        for (int i = 0; i < calls; ++i) call();
        double const taken = seconds_now() - begin;
        require(hipStreamSynchronize(stream), "hipStreamSynchronize");
        if (round >= 0) samples.push_back(1e9 * taken / calls);
    }
    return {median(samples), *std::min_element(samples.begin(), samples.end())};
}

int run(int argc, char** argv) {
    int index = 0, repeats = 200;
    std::string output = "bench-output";
    CommandLine const command_line =
        CommandLine("launch_overhead", "host time of a call, on a tiny problem")
            .integer("--index", index, 0, 1023, "which GPU")
            .integer("--repeats", repeats, 1, 100000, "rounds of 100 calls, of which the median is reported")
            .text("--output", "DIR", output, "where launch_overhead.csv and launch_overhead.json go");
    if (!command_line.parse(argc, argv)) return 0;

    fk::hip::Device device(index);
    require(hipSetDevice(index), "hipSetDevice");
    auto const x = fk::random<float>(device, fk::nchw(1, 16, 8, 8));
    auto const weights = fk::random<float>(device, fk::kcrs(16, 16, 3, 3));
    auto const parameter = fk::random<float>(device, fk::channels(16));
    fk::Tensor<float, fk::hip::Device> y(device, x.layout());
    fk::Tensor<float, fk::hip::Device, 1> variance(device, fk::channels(16));
    variance.copy_from(std::vector<float>(16, 1.0f).data());

    using Relu = fk::Activation<fk::Relu>;
    auto const conv = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, Relu>::bind({.weights = weights},
                                                                                        {.bias = parameter}, {});
    auto const norm = fk::Plan<fk::BatchNormInference<fk::Spatial>, Relu>::bind(
        {.mean = parameter, .variance = variance, .scale = parameter, .shift = parameter}, {});

    auto const training =
        fk::Plan<fk::BatchNormTraining<fk::Spatial>, Relu>::bind({.scale = parameter, .shift = parameter}, {});

    Machine const machine = gpu_machine(device);
    std::printf("%s, driver %s, %s; host %s\n\n%-36s %12s %12s\n", machine.device.c_str(), machine.driver.c_str(),
                machine.compiler.c_str(), cpu_name().c_str(), "call", "median ns", "least ns");
    Records records({{"machine", machine.device},
                     {"host", cpu_name()},
                     {"driver", machine.driver},
                     {"compiler", machine.compiler},
                     {"date", today()},
                     {"command", command_text(argc, argv)}});
    auto const report = [&](std::string const& what, Cost const& cost, double bar) {
        char const* const verdict = cost.median <= bar ? "PASS" : "FALLS SHORT";
        std::printf("%-36s %12.0f %12.0f", what.c_str(), cost.median, cost.least);
        if (bar > 0) std::printf("   bar %.0f: %s", bar, verdict);
        std::printf("\n");
        records.add({{"call", what}, {"median_ns", text("%.0f", cost.median)}, {"least_ns", text("%.0f", cost.least)}});
    };
    fk::hip::Stream const stream(device, device.stream());
    Cost const empty_cost = cost_of(device.stream(), repeats, [&] { empty<<<1, 64, 0, device.stream()>>>(); });
    require(hipGetLastError(), "launch");
    double const empty_kernel = empty_cost.median;
    report("an empty kernel", empty_cost, 0);
    auto const report_both = [&](std::string const& name, auto const& layer) {
        auto const prepared = layer.prepare(device, x, y);
        fk::Workspace const workspace(device, prepared.workspace_bytes());
        report(name + ": layer", cost_of(device.stream(), repeats, [&] { layer(device, x, y); }), 5000);
        report(name + ": run", cost_of(device.stream(), repeats, [&] { prepared(stream, x, y, workspace); }),
               empty_kernel + 300);
        report(name + ": run of pointers",
               cost_of(device.stream(), repeats, [&] { prepared(stream, x.data(), y.data(), workspace); }),
               empty_kernel + 300);
    };
    report_both("Conv, Bias, Relu", conv);
    report_both("BatchNormInference, Relu", norm);
    report_both("BatchNormTraining, Relu", training);
    std::printf("\n");
    records.write(output, "launch_overhead");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("launch_overhead", [&] { return run(argc, argv); });
}
