// SPDX-License-Identifier: MIT
//
// Prints the equations and the cost of a bound plan, as a table and as a Mermaid diagram; and the error of a call that
// does not fit.

#include <fusekit/fusekit.hpp>
#include <iostream>

namespace fk = fusekit;

using ConvBiasRelu = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>;

int main() {
    fk::host::Device device;
    auto x = fk::random<float>(device, fk::nchw(8, 64, 56, 56));
    auto w = fk::random<float>(device, fk::kcrs(64, 64, 3, 3));
    auto b = fk::random<float>(device, fk::channels(64));

    auto const about = fk::describe(ConvBiasRelu::bind({.weights = w}, {.bias = b}, {}), x);
    std::cout << about << "\n" << about.mermaid() << "\n";

    auto short_bias = fk::random<float>(device, fk::channels(32));
    try {
        auto const y = ConvBiasRelu::bind({.weights = w}, {.bias = short_bias}, {})(device, x);
        return 1;
    } catch (fk::Error const& error) {
        std::cout << error.what() << "\n";
    }
}
