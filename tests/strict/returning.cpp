// SPDX-License-Identifier: MIT
//
// Compiled without exceptions: errors are returned and printed, and the program continues.
#include <cstdio>
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

int main() {
    fk::host::Device device(1);
    auto const layout = fk::nchw(1, 2, 1, 1);
    auto const x = fk::random<float>(device, layout), b = fk::random<float>(device, layout);
    auto y = fk::random<float>(device, layout);
    auto const layer = fk::Plan<fk::Residual>::bind({.z = b, .alpha2 = 1.0f});
    auto const bad = layer.try_prepare<float>(device, layout, fk::nchw(1, 1, 1, 1));
    if (bad) return 1;
    std::printf("%s\n", bad.error().what());
    auto const run = layer.try_prepare<float>(device, layout, layout);
    if (!run) return 1;
    if (fk::Refusal const refusal = run->try_run(device, x, b.data() ? y.data() + 1 : nullptr))
        std::printf("%s\n", refusal->what());
    if (run->try_run(device, x, y)) return 1;
    std::printf("%s\n", y.data()[1] == x.data()[1] + b.data()[1] ? "ran" : "wrong");
}
