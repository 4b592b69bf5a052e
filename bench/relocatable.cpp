// SPDX-License-Identifier: MIT
//
// Times half convolutions of 3x3 filters and their gradients, as the library chooses, to compare a build with -rdc=true
// with one without:
//
//     options='-std=c++20 -O3 -gencode arch=compute_90a,code=sm_90a --expt-relaxed-constexpr -Iinclude -Ibench -x cu'
//     nvcc $options bench/relocatable.cpp -o whole
//     nvcc $options -rdc=true bench/relocatable.cpp -o relocatable
//
// FUSEKIT_LOG=1 prints the schedules.
#include <fusekit/hip.hpp>

#include <cstdio>
#include <vector>

#include "support/graph_timing.hpp"

namespace {

namespace fk = fusekit;
using fk::half;
using Tensor = fk::Tensor<half, fk::hip::Device>;

constexpr int images = 64;
constexpr auto filter = fk::filter(3, 3).pad(1);

/// Times a layer of C channels and C filters on images of HW x HW pixels.
void measure(int c, int hw, bool channels_last) {
    fk::hip::Device device;
    auto const pixels = channels_last ? fk::nhwc(images, hw, hw, c) : fk::nchw(images, c, hw, hw);
    auto const taps = channels_last ? fk::krsc(c, 3, 3, c) : fk::kcrs(c, c, 3, 3);
    int const rotation = 1 + static_cast<int>(130e6 / (4.0 * static_cast<double>(pixels.size())));
    Tensor const w = fk::random<half>(device, taps);
    auto const bias = fk::random<float>(device, fk::channels(c));
    Tensor dw(device, taps);
    std::vector<Tensor> x, y;
    for (int i = 0; i < rotation; ++i) {
        x.push_back(fk::random<half>(device, pixels));
        y.push_back(fk::random<half>(device, pixels));
    }
    auto const slot = [&](std::int64_t call) { return static_cast<std::size_t>(call % rotation); };
    using Forward = fk::Plan<fk::Conv<filter>, fk::Bias, fk::Activation<fk::Relu>>;
    auto const forward = Forward::bind({.weights = w}, {.bias = bias}, {});
    auto const by_x = fk::Plan<fk::TransposedConv<filter>>::bind({.weights = w});
    std::vector<bench::Subject> const subjects{
        [&](std::int64_t call) { forward(device, x[slot(call)], y[slot(call)]); },
        [&](std::int64_t call) { by_x(device, y[slot(call)], x[slot(call)]); },
        [&](std::int64_t call) {
            fk::Plan<fk::ConvWeightGradient<filter>>::bind({.dy = y[slot(call)]})(device, x[slot(call)], dw);
        }};
    for (auto const& subject : subjects) subject(0);
    auto const seconds = bench::graph_medians(device.stream(), subjects, rotation, 9);
    std::printf("%s %d-%d-%d: forward %.1f us, by x %.1f, by weights %.1f\n", channels_last ? "NHWC" : "NCHW", c, hw,
                hw, 1e6 * seconds[0], 1e6 * seconds[1], 1e6 * seconds[2]);
    std::fflush(stdout);
}

}  // namespace

int main() {
    for (bool const channels_last : {true, false})
        for (int const c : {64, 128, 256, 512}) measure(c, 56 * 64 / c, channels_last);
}
