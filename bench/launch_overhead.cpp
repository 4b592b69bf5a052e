// SPDX-License-Identifier: MIT
//
// What does a call cost on the host's side? layer(device, x, y) validates its arguments and puts one kernel on the
// stream; this is the time until it returns, next to the launch of an empty kernel.
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
    double median, least;  ///< nanoseconds a call
};

/// Of `rounds` rounds of 100 calls, between which the stream runs dry: its queue is never full.
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

    Machine const machine = gpu_machine(device);
    std::printf("%s, driver %s, %s; host %s\n\n%-28s %12s %12s\n", machine.device.c_str(), machine.driver.c_str(),
                machine.compiler.c_str(), cpu_name().c_str(), "call", "median ns", "least ns");
    Records records({{"machine", machine.device},
                     {"host", cpu_name()},
                     {"driver", machine.driver},
                     {"compiler", machine.compiler},
                     {"date", today()},
                     {"command", command_text(argc, argv)}});
    auto const report = [&](char const* what, bool ours, Cost const& cost) {
        std::printf("%-28s %12.0f %12.0f%s\n", what, cost.median, cost.least,
                    !ours                 ? ""
                    : cost.median <= 5000 ? "   bar 5000: PASS"
                                          : "   bar 5000: FALLS SHORT");
        records.add({{"call", what}, {"median_ns", text("%.0f", cost.median)}, {"least_ns", text("%.0f", cost.least)}});
    };
    report("an empty kernel", false,
           cost_of(device.stream(), repeats, [&] { empty<<<1, 64, 0, device.stream()>>>(); }));
    require(hipGetLastError(), "launch");
    report("Conv, Bias, Relu", true, cost_of(device.stream(), repeats, [&] { conv(device, x, y); }));
    report("BatchNormInference, Relu", true, cost_of(device.stream(), repeats, [&] { norm(device, x, y); }));
    std::printf("\n");
    records.write(output, "launch_overhead");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("launch_overhead", [&] { return run(argc, argv); });
}
