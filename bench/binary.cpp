// SPDX-License-Identifier: MIT
//
// Times y = x * z, half, with z of every kind of broadcast, alone and after a 1x1 convolution, beside a Relu of x
// scaled to the same bytes, and beside the convolution without it. Checks samples of y against the product in double.
#include <fusekit/hip.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

#include "support/graph_timing.hpp"

namespace {

namespace fk = fusekit;
using fk::half;
using Tensor = fk::Tensor<half, fk::hip::Device>;

std::vector<float> values_of(Tensor const& tensor) {
    std::vector<half> all(static_cast<std::size_t>(tensor.size()));
    tensor.copy_to(all.data());
    return {all.begin(), all.end()};
}

struct Broadcast {
    char const* name;
    int n, c, h, w;  ///< 1 where z has all elements along a mode, 0 where it has one
};

void measure(bool channels_last, int n, int c, int hw, Broadcast const& kind) {
    fk::hip::Device device;
    auto const layout_of = [&](std::int64_t images, std::int64_t channels, std::int64_t rows, std::int64_t columns) {
        return channels_last ? fk::nhwc(images, rows, columns, channels) : fk::nchw(images, channels, rows, columns);
    };
    auto const layout = layout_of(n, c, hw, hw);
    auto const of_z = layout_of(kind.n ? n : 1, kind.c ? c : 1, kind.h ? hw : 1, kind.w ? hw : 1);
    double const pair = 2.0 * sizeof(half) * static_cast<double>(layout.size()),
                 bytes = pair + static_cast<double>(sizeof(half)) * static_cast<double>(of_z.size());
    int const rotation = 1 + static_cast<int>(130e6 / bytes);
    std::vector<Tensor> x, y, z;
    for (int i = 0; i < rotation; ++i) {
        y.emplace_back(device, layout);
        if (i == 0) {
            x.push_back(fk::random<half>(device, layout)), z.push_back(fk::random<half>(device, of_z, 7));
            continue;
        }
        x.emplace_back(device, layout), z.emplace_back(device, of_z);
        fk::Plan<fk::Scale>::bind({.factor = 1})(device, x[0], x.back());
        fk::Plan<fk::Scale>::bind({.factor = 1})(device, z[0], z.back());
    }
    auto const slot = [&](std::int64_t call) { return static_cast<std::size_t>(call % rotation); };
    auto const wide = [&](std::int64_t call) { return fk::broadcast(z[slot(call)], n, c, hw, hw); };
    Tensor const w = fk::random<half>(device, fk::krsc(c, 1, 1, c));
    auto const relu = fk::Plan<fk::Activation<fk::Relu>>::bind({});
    using Conv = fk::Conv<fk::filter(1, 1)>;
    std::vector<bench::Subject> const subjects{
        [&](std::int64_t call) {
            fk::Plan<fk::Multiply>::bind({.z = wide(call)})(device, x[slot(call)], y[slot(call)]);
        },
        [&](std::int64_t call) { relu(device, x[slot(call)], y[slot(call)]); },
        [&](std::int64_t call) {
            fk::Plan<Conv, fk::Multiply>::bind({.weights = w}, {.z = wide(call)})(device, x[slot(call)], y[slot(call)]);
        },
        [&](std::int64_t call) { fk::Plan<Conv>::bind({.weights = w})(device, x[slot(call)], y[slot(call)]); }};
    subjects[0](0);
    device.synchronize();
    std::vector<float> const a = values_of(x[0]), b = values_of(z[0]), got = values_of(y[0]);
    double worst = 0;
    for (std::int64_t i = 0; i < 2000; ++i) {
        fk::Index<4> const at{{i * 7919 % n, (i * 104729 + 3) % c, i * 31 % hw, i * 17 % hw}};
        fk::Index<4> const small{{at[0] * kind.n, at[1] * kind.c, at[2] * kind.h, at[3] * kind.w}};
        double const exact = double{a[static_cast<std::size_t>(layout.offset(at))]} *
                             double{b[static_cast<std::size_t>(of_z.offset(small))]};
        double const error = std::fabs(got[static_cast<std::size_t>(layout.offset(at))] - exact) /
                             (0x1p-11 * std::fabs(exact) + 0x1p-25);
        if (!(error <= worst)) worst = error;
    }
    auto const seconds = bench::graph_medians(device.stream(), subjects, rotation, 7);
    double const copy = seconds[1] * bytes / pair;
    std::printf(
        "%s %2d x %4d-%d-%d z %-9s: %7.2f us, share of a copy %.2f; after a convolution %7.2f, alone %7.2f, plus "
        "z's bytes %.2f; error / bound %.2f%s\n",
        channels_last ? "nhwc" : "nchw", n, c, hw, hw, kind.name, 1e6 * seconds[0], copy / seconds[0], 1e6 * seconds[2],
        1e6 * seconds[3], seconds[2] / (seconds[3] + copy - seconds[1]), worst, worst <= 1 ? "" : " WRONG");
    std::fflush(stdout);
}

}  // namespace

int main() {
    Broadcast const kinds[] = {{"N C H W", 1, 1, 1, 1}, {"N C 1 1", 1, 1, 0, 0}, {"1 C 1 1", 0, 1, 0, 0},
                               {"N 1 H W", 1, 0, 1, 1}, {"1 1 H W", 0, 0, 1, 1}, {"1 C H W", 0, 1, 1, 1},
                               {"N 1 1 1", 1, 0, 0, 0}};
    for (bool const channels_last : {true, false})
        for (Broadcast const& kind : kinds) {
            measure(channels_last, 32, 64, 112, kind);
            measure(channels_last, 32, 240, 28, kind);
            measure(channels_last, 32, 116, 28, kind);
        }
}
