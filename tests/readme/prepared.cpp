// SPDX-License-Identifier: MIT
// The block of docs/memory.md on prepared runs, as a program.
#include <cstdio>
#include <fusekit/hip.hpp>
#include <vector>
namespace fk = fusekit;

int main() {
    fk::hip::Device device;
    fk::hip::Stream stream(device);
    auto x = fk::tensor<float>(device, fk::nchw(1, 2, 1, 2), {-1, 2, -3, 4});
    auto y = fk::tensor<float>(device, fk::nchw(1, 2, 1, 2), {7, 7, 7, 7});
    auto layer = fk::Plan<fk::Activation<fk::Relu>>::bind({});
    auto run = layer.prepare<float>(device, x.layout(), y.layout());  // or layer.prepare(device, x, y)
    fk::Workspace workspace(device, run.workspace_bytes());           // 0 bytes for most
    run(stream, x, y, workspace);  // or pointers: run(stream, x_pointer, y_pointer, workspace)
    if (fk::Refusal refusal = run.try_run(stream, x, y, workspace)) std::puts(refusal->what());  // instead of throwing
    stream.synchronize();

    std::vector<float> result(4);
    y.copy_to(result.data());
    return result == std::vector<float>{0, 2, 0, 4} ? 0 : 1;
}
