// SPDX-License-Identifier: MIT
//
// Compiled without exceptions: an error is printed, and the program aborts.
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

int main() {
    fk::host::Device device(1);
    auto const x = fk::random<float>(device, fk::nchw(1, 2, 1, 1)), w = fk::random<float>(device, fk::kcrs(1, 3, 1, 1));
    auto const y = fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = w})(device, x);
    return y.size() == 1 ? 0 : 1;
}
