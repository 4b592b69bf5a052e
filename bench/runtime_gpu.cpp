// SPDX-License-Identifier: MIT
//
// Cost of selecting plans at run time, on a GPU; runtime_host is the same on the CPU.
#include <fusekit/hip.hpp>

#include "fusekit_runtime_gpu.hpp"
#include "runtime.hpp"
#include "support/hip_machine.hpp"

namespace {

using namespace bench;

int run(int argc, char** argv) {
    int index = 0, repeats = 50;
    std::string output = "bench-output";
    CommandLine const command_line = CommandLine("runtime_gpu", "what plans chosen at run time cost, on a GPU")
                                         .integer("--index", index, 0, 1023, "which GPU")
                                         .integer("--repeats", repeats, 1, 100000, "rounds, of which the median counts")
                                         .text("--output", "DIR", output, "where runtime_gpu.csv and .json go");
    if (!command_line.parse(argc, argv)) return 0;
    fk::hip::Device device(index);
    fusekit_device c_device;
    require(fusekit_device_create_gpu(index, &c_device));
    Machine const machine = gpu_machine(device);
    return measure_runtime<fk::hip::Device, rt::ready_made::GpuSet>(
        argc, argv, "runtime_gpu", FUSEKIT_GPU, device, c_device,
        {{"machine", machine.device}, {"host", cpu_name()}, {"driver", machine.driver}, {"compiler", machine.compiler}},
        repeats, output);
}

}  // namespace

int main(int argc, char** argv) {
    return bench::run_program("runtime_gpu", [&] { return run(argc, argv); });
}
