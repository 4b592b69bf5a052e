// expect: fusekit needs C++20: compile with -std=c++20
// with: -std=c++17
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Bias, fk::Activation<fk::Relu>>;

int main() {
    fk::hip::Device device;
    auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
    auto const b = fk::random<float>(device, fk::channels(4));
    auto const layer = Layer::bind(fk::Bias::Args{b}, fk::Relu::Args{});
    auto const y = layer(device, x);
}
