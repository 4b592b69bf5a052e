// SPDX-License-Identifier: MIT
//
// Times a convolution with Bias and Relu, the same with a 2 x 2 pool after it in one kernel, and as two kernels, each
// by a schedule that is named: layers of VGG-16 and DenseNet before pools, half, NHWC where no order is named. Compares
// results with those of the two kernels: maxima bit for bit, means within the rounding of the values between the
// kernels.
//
// usage: conv_pools [BATCH...]
#include <fusekit/hip.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "support/graph_timing.hpp"

namespace {

namespace fk = fusekit;
using fk::half;
using fk::hip::WarpSpecialized, fk::hip::Roles;
using Tensor = fk::Tensor<half, fk::hip::Device>;
using Conv = fk::Conv<fk::dynamic>;
using Relu = fk::Activation<fk::Relu>;

struct Layer {
    int c, hw, k, taps;
};

std::vector<float> values_of(Tensor const& tensor) {
    std::vector<half> all(static_cast<std::size_t>(tensor.size()));
    tensor.copy_to(all.data());
    return {all.begin(), all.end()};
}

/// `count` numbers between -1 and 1, which repeat after a prime number of them.
std::vector<half> repeated_values(std::int64_t count) {
    constexpr std::size_t period = 1'048'583;
    std::vector<half> all(static_cast<std::size_t>(count));
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < all.size(); ++i) {
        state = state * 1664525u + 1013904223u;
        all[i] = i < period ? half(static_cast<float>(state >> 8) * 0x1p-23f - 1) : all[i - period];
    }
    return all;
}

/// Largest difference of `got` from `expected` over `bound` of its magnitude; infinite if all of `got` are equal.
double error_of(std::vector<float> const& got, std::vector<float> const& expected, double bound) {
    double worst = 0;
    bool varies = false;
    for (std::size_t i = 0; i < got.size(); ++i) {
        varies = varies || got[i] != got[0];
        double const difference = std::fabs(double{got[i]} - expected[i]);
        double const error = difference == 0 ? 0 : difference / (bound * (std::fabs(expected[i]) + 0.25));
        if (!(error <= worst)) worst = error;
    }
    return varies ? worst : INFINITY;
}

template <class Schedule, class Pool, bool last = true>
void measure(char const* schedule, Layer const& of, int batch) {
    fk::hip::Device device;
    auto const scheduled = device.with<Schedule>();
    auto const images = [&](int c, int hw) { return last ? fk::nhwc(batch, hw, hw, c) : fk::nchw(batch, c, hw, hw); };
    auto const in = images(of.c, of.hw), between = images(of.k, of.hw), out = images(of.k, of.hw / 2);
    double const bytes = sizeof(half) * static_cast<double>(in.size() + between.size());
    int const rotation = 1 + static_cast<int>(110e6 / bytes);
    auto const copied = fk::nhwc(1, 1, (in.size() + out.size()) / 128, 64);
    auto const w = fk::random<half>(
        device, last ? fk::krsc(of.k, of.taps, of.taps, of.c) : fk::kcrs(of.k, of.c, of.taps, of.taps), 1000);
    auto const b = fk::random<float>(device, fk::channels(of.k), 1001);
    std::vector<Tensor> x, full, y, source, target;
    auto const inputs = repeated_values(in.size());
    for (int i = 0; i < rotation; ++i) {
        x.emplace_back(device, in), source.emplace_back(device, copied);
        x.back().copy_from(inputs.data());
        full.emplace_back(device, between), y.emplace_back(device, out), target.emplace_back(device, copied);
    }
    fk::Conv<fk::dynamic>::Args const conv{.weights = w, .filter = fk::filter(of.taps, of.taps).pad(of.taps / 2)};
    auto const bare = fk::Plan<Conv, fk::Bias, Relu>::bind(conv, {.bias = b}, {});
    auto const pooled = fk::Plan<Conv, fk::Bias, Relu, Pool>::bind(conv, {.bias = b}, {}, {});
    auto const pool = fk::Plan<Pool>::bind({});
    auto const relu = fk::Plan<Relu>::bind({});
    auto const slot = [&](std::int64_t call) { return static_cast<std::size_t>(call % rotation); };
    std::vector<bench::Subject> const subjects{
        [&](std::int64_t call) { bare(scheduled, x[slot(call)], full[slot(call)]); },
        [&](std::int64_t call) { pooled(scheduled, x[slot(call)], y[slot(call)]); },
        [&](std::int64_t call) {
            bare(scheduled, x[slot(call)], full[slot(call)]);
            pool(device, full[slot(call)], y[slot(call)]);
        },
        [&](std::int64_t call) { relu(device, source[slot(call)], target[slot(call)]); }};
    double error = 0;
    bool const compares = out.size() < 20'000'000;
    subjects[2](0);
    device.synchronize();
    std::vector<float> expected;
    if (compares) expected = values_of(y[0]);
    std::vector<half> const poison(static_cast<std::size_t>(out.size()), half(-7.0f));
    if (compares) y[0].copy_from(poison.data());
    subjects[1](0);
    device.synchronize();
    constexpr bool largest = std::is_same_v<typename Pool::Reduce, fk::Max>;
    if (compares) error = error_of(values_of(y[0]), expected, largest ? 0x1p-30 : 0x1p-9);
    subjects[3](0);
    auto const seconds = bench::graph_medians(device.stream(), subjects, rotation, 5);
    std::printf("%-4s n%-3d %4d-%3d-%3d %dx%d  %-22s ", largest ? "max" : "mean", batch, of.c, of.hw, of.k, of.taps,
                of.taps, schedule);
    std::printf("bare %8.2f us, pooled %8.2f (%.3f), two kernels %8.2f, copy %7.2f; %s\n", 1e6 * seconds[0],
                1e6 * seconds[1], seconds[1] / seconds[0], 1e6 * seconds[2], 1e6 * seconds[3],
                !compares    ? "not compared"
                : error <= 1 ? "equal"
                             : "WRONG");
    std::fflush(stdout);
}

using Max = fk::Pool<fk::Max, 2, 2>;
using Mean = fk::Pool<fk::Average, 2, 2>;

constexpr Layer vgg_1{64, 224, 64, 3}, vgg_2{128, 112, 128, 3}, vgg_3{256, 56, 256, 3}, vgg_4{512, 28, 512, 3},
    vgg_5{512, 14, 512, 3}, resnet{64, 56, 64, 3}, dense_1{256, 56, 128, 1}, dense_2{512, 28, 256, 1};

void measure_all(int n) {
    using Wide = WarpSpecialized<192, 128, 4>;
    for (Layer const& each : {vgg_2, vgg_3, vgg_4, vgg_5}) measure<Wide, Max>("192x128x4", each, n);
    for (Layer const& each : {dense_1, dense_2}) measure<Wide, Mean>("192x128x4", each, n);
    using Tall = WarpSpecialized<96, 128, 5, Roles::ping_pong>;
    for (Layer const& each : {vgg_2, vgg_3, dense_1}) measure<Tall, Max>("96x128x5 ping-pong", each, n);
    using Small = WarpSpecialized<64, 64, 8, Roles::ping_pong>;
    for (Layer const& each : {vgg_4, vgg_5, dense_2}) measure<Small, Max>("64x64x8 ping-pong", each, n);
    using Short = WarpSpecialized<64, 128, 8>;
    for (Layer const& each : {vgg_3, vgg_5}) measure<Short, Max>("64x128x8", each, n);
    using Halo = fk::hip::Halo<>;
    for (Layer const& each : {vgg_1, resnet}) measure<Halo, Max>("Halo", each, n);
    measure<Halo, Mean>("Halo", resnet, n);
    using Planes = fk::hip::Planes<240, 1>;
    for (Layer const& each : {vgg_3, vgg_4, vgg_5}) measure<Planes, Max, false>("Planes NCHW", each, n);
    using Strips = fk::hip::StripHalo<>;
    for (Layer const& each : {vgg_1, vgg_2, vgg_3}) measure<Strips, Max>("StripHalo", each, n);
    if (n > 32) return;
    using Matrix = fk::hip::MatrixGemm<128, 64, 2>;  // whose pools are of any layout
    for (Layer const& each : {vgg_1, vgg_2, vgg_3, vgg_4, vgg_5}) measure<Matrix, Max>("MatrixGemm 128x64x2", each, n);
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 1)
        for (int const batch : {1, 32, 64}) measure_all(batch);
    for (int i = 1; i < count; ++i) measure_all(std::atoi(arguments[i]));
}
