// SPDX-License-Identifier: MIT
#include <cstdio>
#include <fusekit/fusekit.hpp>
#include <vector>
namespace fk = fusekit;

// y = relu(conv3x3(x, w) + b): one type, one kernel, one pass over y.
using ConvBiasRelu = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>;

// The compiler proves it: by how much does each pixel exceed its left neighbour, beyond 2?
constexpr auto row = fk::literal<fk::nchw(1, 1, 1, 4)>(1, 4, 2, 9);
constexpr auto step = fk::literal<fk::kcrs(1, 1, 3, 3)>(0, 0, 0, -1, 1, 0, 0, 0, 0);
constexpr auto minus_two = fk::literal<fk::channels(1)>(-2);
static_assert(ConvBiasRelu::evaluate(row, {.weights = step}, {.bias = minus_two}, {}) ==
              fk::literal<fk::nchw(1, 1, 1, 4)>(0, 1, 0, 5));

int main() {
    fk::host::Device device;
    auto x = fk::random<float>(device, fk::nchw(8, 64, 56, 56));
    auto w = fk::random<float>(device, fk::kcrs(64, 64, 3, 3));
    auto b = fk::random<float>(device, fk::channels(64));

    auto layer = ConvBiasRelu::bind({.weights = w}, {.bias = b}, {});
    auto y = layer(device, x);  // layer(device, x, y) allocates nothing

    std::vector<float> values(static_cast<std::size_t>(y.size()));
    y.copy_to(values.data());
    std::printf("%s\n", fk::type_name<ConvBiasRelu>().c_str());
    std::printf("y is %s, y[0] = %.3f\n", fk::to_string(y.layout().shape).c_str(), static_cast<double>(values[0]));
}
