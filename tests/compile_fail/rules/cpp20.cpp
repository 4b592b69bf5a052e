// expect: fusekit needs C++20: compile with -std=c++20
// with: -std=c++17
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const b = fk::random<float>(device, fk::channels(4));

using Layer = fk::Plan<fk::Bias, fk::Activation<fk::Relu>>;
auto const layer = Layer::bind(fk::Bias::Args{b}, fk::Relu::Args{});
auto const y = layer(device, x);
