// SPDX-License-Identifier: MIT
// Runs one plan if there is a GPU; otherwise exits with a message. With AMD_EVERY_PLAN all schedules are compiled. Has
// kernels of a plan of each kind: the convolution below, a reduction, and a pointwise plan.
#include <cstdio>

#include "plans.hpp"

using namespace amd;

template struct amd::Kernels<float, Plan<TrainN, A<fk::Relu>>, Plan<B, A<fk::Relu>>>;

int main() {
    if (fk::hip::device_count() == 0) {
        try {
            fk::hip::Device device;
        } catch (fk::Error const& error) {
            std::printf("no device: %s\n", error.what());
            return 0;
        }
        std::puts("no device is counted, but one can be had");
        return 1;
    }
    fk::hip::Device device;
    auto x = fk::random<float>(device, fk::nchw(2, 16, 14, 14));
    auto w = fk::random<float>(device, fk::kcrs(32, 16, 3, 3));
    auto b = fk::random<float>(device, fk::channels(32));
    auto layer = Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>::bind({.weights = w},
                                                                                                   {.bias = b}, {});
#ifdef AMD_EVERY_PLAN
    auto y = layer(device, x);
#else
    auto y = layer(device.with<fk::hip::NativeGemm<64, 64, 6>>(), x);
#endif
    device.synchronize();
    std::printf("%s: y is %s\n", device.name().c_str(), to_string(y.layout().shape).c_str());
}
