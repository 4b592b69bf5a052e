// SPDX-License-Identifier: MIT
//
// Comparison with cuDNN on an NVIDIA GPU: 13 convolution + bias + ReLU layers in float without TF32, half, bfloat16
// and, requantized, int8, NCHW and NHWC, in one run with the same timing. cuDNN's time for a layer is that of its
// fastest fused algorithm or engine, with unlimited workspace. --pass compares the convolutions' gradients.
#include <fusekit/hip.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "peers/cudnn_layers.hpp"
#include "support/layer_choice.hpp"
#include "support/options.hpp"

namespace bench {

extern template void run_layout<float>(CudnnRun const&, bool);
extern template void run_layout<fk::half>(CudnnRun const&, bool);
extern template void run_layout<fk::bfloat16>(CudnnRun const&, bool);
extern template void run_layout<fk::int8>(CudnnRun const&, bool);

}  // namespace bench

namespace {

using namespace bench;

/// Batches of a list such as "1,8,64".
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
    CudnnOptions options;
    CommandLine const command_line =
        CommandLine("peer_cudnn", "fused convolution layers beside cuDNN's, in one run; in float without TF32")
            .integer("--index", options.index, 0, 1023, "which GPU")
            .text("--batch", "LIST", options.batches, "images in a batch: numbers, separated by commas")
            .choice("--dtype", options.dtype, {"float", "half", "bfloat16", "int8"}, "element type of all tensors")
            .choice("--pass", options.pass, {"forward", "input", "weights"},
                    "the fused layer, or the gradient of its convolution by x or by the weights")
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
    if (options.dtype == "int8" && options.pass != "forward") throw UsageError("--pass: int8 has no gradients");
    if (layers.empty()) throw UsageError("--layers: '" + options.layers + "' names no convolution");

    setenv("NVIDIA_TF32_OVERRIDE", "0", 1);  // NVIDIA's libraries then never round to TF32
    fk::hip::Device device(options.index);
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
    CudnnRun of{device, handle, layers, options, facts, records};
    for (int const batch : batches_of(options.batches))
        for (bool const channels_last : {false, true}) {
            if (options.layout != "all" && (options.layout == "nhwc") != channels_last) continue;
            of.options.batch = batch;
            if (options.dtype == "float") run_layout<float>(of, channels_last);
            else if (options.dtype == "half") run_layout<fk::half>(of, channels_last);
            else if (options.dtype == "int8") run_layout<fk::int8>(of, channels_last);
            else run_layout<fk::bfloat16>(of, channels_last);
            records.write(options.output, file_of(options.pass));  // an interrupted run keeps its measurements
        }
    cudnnDestroy(handle);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("peer_cudnn", [&] { return run(argc, argv); });
}
