// SPDX-License-Identifier: MIT
//
// Cost of selecting plans at run time, on the CPU; runtime_gpu is the same on a GPU.
#include <fusekit/fusekit.hpp>

#include "fusekit_runtime_host.hpp"
#include "runtime.hpp"

namespace {

using namespace bench;

int run(int argc, char** argv) {
    int repeats = 50;
    std::string output = "bench-output";
    CommandLine const command_line = CommandLine("runtime_host", "what plans chosen at run time cost, on the CPU")
                                         .integer("--repeats", repeats, 1, 100000, "rounds, of which the median counts")
                                         .text("--output", "DIR", output, "where runtime_host.csv and .json go");
    if (!command_line.parse(argc, argv)) return 0;
    fusekit_device c_device;
    require(fusekit_device_create_host(1, &c_device));
    fk::host::Device device(1);
    return measure_runtime<fk::host::Device, rt::ready_made::HostSet>(
        argc, argv, "runtime_host", FUSEKIT_HOST, device, c_device,
        {{"machine", cpu_name()}, {"threads", "1"}, {"compiler", __VERSION__}}, repeats, output);
}

}  // namespace

int main(int argc, char** argv) {
    return bench::run_program("runtime_host", [&] { return run(argc, argv); });
}
