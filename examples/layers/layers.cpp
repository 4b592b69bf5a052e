// SPDX-License-Identifier: MIT
//
// A network assembled at run time from layers whose plans this unit does not include. It includes only the library's
// tensors, device and fk::Layer.
//
//     layers [none|relu|tanh]
#include <fusekit/backend/host/device.hpp>

#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

#include "plans.hpp"

namespace fk = fusekit;

int main(int argc, char** argv) {
    std::string_view const asked = argc > 1 ? argv[1] : "tanh";
    Activation const activation = asked == "relu"   ? Activation::relu
                                  : asked == "tanh" ? Activation::tanh
                                                    : Activation::none;
    Device device;
    auto const weights = fk::random<float>(device, fk::kcrs(8, 8, 3, 3));
    auto const bias = fk::random<float>(device, fk::channels(8), 2);
    std::vector<Layer> network(3, convolution(weights, bias, activation));
    network.push_back(global_average());

    auto x = fk::random<float>(device, fk::nchw(1, 8, 32, 32), 3);
    for (Layer const& layer : network) {
        auto const shape = layer.output_shape(x.layout().shape);
        std::printf("%-60s 1 x %d x %d x %d\n", layer.name().c_str(), static_cast<int>(shape[1]),
                    static_cast<int>(shape[2]), static_cast<int>(shape[3]));
        x = layer(device, x);
    }
    float means[8];
    x.copy_to(means);
    bool good = true;
    for (float mean : means)
        good = good && std::isfinite(mean) && (activation != Activation::tanh || std::fabs(mean) <= 1) &&
               (activation != Activation::relu || mean >= 0);
    std::printf("%s\n", good ? "ok" : "FAILED");
    return good ? 0 : 1;
}
