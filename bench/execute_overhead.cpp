// SPDX-License-Identifier: MIT
//
// Overhead of MIOpen's calls over fusekit's own: a tiny convolution with bias and ReLU, run by a prepared launch and by
// the drop-in's Execute, with unchanged and with new arguments. Measures the time until each call returns. On the CPU
// it includes the computation, and the difference is the overhead.
#include <miopen/miopen.h>
#include <fusekit/fusekit.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "support/machine.hpp"
#include "support/options.hpp"
#include "support/records.hpp"
#include "support/timing.hpp"

namespace {

using namespace bench;
namespace fk = fusekit;

using Device = fk::host::Device;
constexpr double bar = 1000;  ///< nanoseconds over a direct run

void require(miopenStatus_t status) {
    if (status != miopenStatusSuccess) throw std::runtime_error(fusekitMiopenLastError());
}

/// Nanoseconds per call: medians over `rounds` of 100 calls of each subject, interleaved; the device is drained after
/// each.
std::vector<double> costs(Device& device, int rounds, std::vector<std::function<void()>> const& calls) {
    constexpr int times = 100;
    std::vector<std::vector<double>> samples(calls.size());
    for (int round = -10; round < rounds; ++round)
        for (std::size_t i = 0; i < calls.size(); ++i) {
            double const begin = seconds_now();
            for (int j = 0; j < times; ++j) calls[i]();
            double const taken = seconds_now() - begin;
            device.synchronize();
            if (round >= 0) samples[i].push_back(1e9 * taken / times);
        }
    std::vector<double> medians;
    for (auto const& each : samples) medians.push_back(median(each));
    return medians;
}

int run(int argc, char** argv) {
    int repeats = 200;
    std::string output = "bench-output";
    CommandLine const command_line =
        CommandLine("execute_overhead", "host time of MIOpen's calls, on a tiny problem")
            .integer("--repeats", repeats, 1, 100000, "rounds of 100 calls, of which the median is reported")
            .text("--output", "DIR", output, "where execute_overhead.csv and execute_overhead.json go");
    if (!command_line.parse(argc, argv)) return 0;

    Device device;
    auto const x = fk::random<float>(device, fk::nchw(1, 4, 4, 4), 1);
    auto const weights = fk::random<float>(device, fk::kcrs(4, 4, 1, 1), 2),
               others = fk::random<float>(device, fk::kcrs(4, 4, 1, 1), 3);
    auto const bias = fk::random<float>(device, fk::channels(4), 4);
    fk::Tensor<float, Device> y(device, x.layout());
    using Layer = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, fk::Activation<fk::Relu>>;
    auto const layer = Layer::bind({.weights = weights}, {.bias = bias}, {});
    auto const prepared = layer.prepare(device, x, y);

    miopenHandle_t handle;
    miopenTensorDescriptor_t image, filters, channels;
    miopenConvolutionDescriptor_t convolution;
    miopenActivationDescriptor_t activation;
    miopenFusionPlanDescriptor_t plan;
    miopenFusionOpDescriptor_t conv, add, relu;
    miopenOperatorArgs_t args;
    require(miopenCreate(&handle));
    for (auto* each : {&image, &filters, &channels}) require(miopenCreateTensorDescriptor(each));
    require(miopenSet4dTensorDescriptor(image, miopenFloat, 1, 4, 4, 4));
    require(miopenSet4dTensorDescriptor(filters, miopenFloat, 4, 4, 1, 1));
    require(miopenSet4dTensorDescriptor(channels, miopenFloat, 1, 4, 1, 1));
    require(miopenCreateConvolutionDescriptor(&convolution));
    require(miopenInitConvolutionDescriptor(convolution, miopenConvolution, 0, 0, 1, 1, 1, 1));
    require(miopenCreateActivationDescriptor(&activation));
    require(miopenSetActivationDescriptor(activation, miopenActivationRELU, 0, 0, 0));
    require(miopenCreateFusionPlan(&plan, miopenVerticalFusion, image));
    require(miopenCreateOpConvForward(plan, &conv, convolution, filters));
    require(miopenCreateOpBiasForward(plan, &add, channels));
    require(miopenCreateOpActivationForward(plan, &relu, miopenActivationRELU));
    require(miopenCompileFusionPlan(handle, plan));
    require(miopenCreateOperatorArgs(&args));
    auto const set_weights = [&](float const* data) {
        require(miopenSetOpArgsConvForward(args, conv, nullptr, nullptr, data));
    };
    set_weights(weights.data());
    require(miopenSetOpArgsBiasForward(args, add, nullptr, nullptr, bias.data()));
    require(miopenSetOpArgsActivForward(args, relu, nullptr, nullptr, 0, 0, 0));
    auto const execute = [&] {
        require(miopenExecuteFusionPlan(handle, plan, image, x.data(), image, y.data(), args));
    };
    float const zero = 0;
    bool turn = false;

    char const* const names[] = {"a prepared run", "Execute, the same arguments",
                                 "SetOpArgs and Execute, other weights each time", "Compile",
                                 "ConvolutionBiasActivationForward"};
    auto const measured = costs(device, repeats,
                                {[&] { prepared(device, x.data(), y.data()); }, execute,
                                 [&] {
                                     set_weights((turn = !turn) ? others.data() : weights.data());
                                     execute();
                                 },
                                 [&] { require(miopenCompileFusionPlan(handle, plan)); },
                                 [&] {
                                     require(miopenConvolutionBiasActivationForward(
                                         handle, nullptr, image, x.data(), filters, weights.data(), convolution,
                                         miopenConvolutionFwdAlgoImplicitGEMM, nullptr, 0, &zero, nullptr, nullptr,
                                         channels, bias.data(), activation, image, y.data()));
                                 }});
    Records records({{"host", cpu_name()},
                     {"compiler", compiler_name()},
                     {"date", today()},
                     {"command", command_text(argc, argv)}});
    std::printf("%s\n\n%-48s %10s\n", cpu_name().c_str(), "call", "median ns");
    for (std::size_t i = 0; i < measured.size(); ++i) {
        std::printf("%-48s %10.0f", names[i], measured[i]);
        double const over = measured[i] - measured[0];
        if (i == 1) std::printf("   %+.0f over it, bar %.0f: %s", over, bar, over < bar ? "PASS" : "FALLS SHORT");
        std::printf("\n");
        records.add({{"call", names[i]}, {"median_ns", text("%.0f", measured[i])}});
    }
    records.write(output, "execute_overhead");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("execute_overhead", [&] { return run(argc, argv); });
}
