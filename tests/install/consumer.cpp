// SPDX-License-Identifier: MIT
// A user's program: runs a fused layer, and checks that its headers are those of the package.
#include <cstdio>
#include <fusekit/fusekit.hpp>
#include <string>

namespace fk = fusekit;

using ConvBiasRelu = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, fk::Activation<fk::Relu>>;

int main() {
    fk::host::Device device;
    auto x = fk::tensor<float>(device, fk::nchw(1, 1, 2, 2), {1, 2, 3, 4});
    auto w = fk::tensor<float>(device, fk::kcrs(1, 1, 1, 1), {2});
    auto b = fk::tensor<float>(device, fk::channels(1), {-3});
    auto y = ConvBiasRelu::bind({.weights = w}, {.bias = b}, {})(device, x);

    float values[4];
    y.copy_to(values);
    std::string const version = std::to_string(fk::config::version_major) + "." +
                                std::to_string(fk::config::version_minor) + "." +
                                std::to_string(fk::config::version_patch);
    std::printf("fusekit %s: %g %g %g %g\n", version.c_str(), values[0], values[1], values[2], values[3]);
    bool const right = values[0] == 0 && values[1] == 1 && values[2] == 3 && values[3] == 5;
    return right && version == FUSEKIT_PACKAGE_VERSION ? 0 : 1;
}
