// SPDX-License-Identifier: MIT
//
// Times pools alone, their gradients, upsampling and pixel shuffles, half, NHWC and NCHW, beside a Relu that moves the
// same bytes. Checks samples of the result against double.
#include <fusekit/hip.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

#include "support/graph_timing.hpp"

namespace {

namespace fk = fusekit;
using fk::half;
using Tensor = fk::Tensor<half, fk::hip::Device>;
using Taps = fk::Tensor<fk::int8, fk::hip::Device>;

std::vector<float> values_of(Tensor const& tensor) {
    std::vector<half> all(static_cast<std::size_t>(tensor.size()));
    tensor.copy_to(all.data());
    return {all.begin(), all.end()};
}

struct Shape {
    int n, c, h, w;
    fk::Layout<4> layout(bool last) const { return last ? fk::nhwc(n, h, w, c) : fk::nchw(n, c, h, w); }
};

/// Times `run`, which reads x and writes y, of these shapes, with `more` bytes beside; `exact(x, at)` is y at `at`.
template <class Run, class Exact>
void measure(char const* name, bool last, Shape const& from, Shape const& to, double more, Run const& run,
             Exact const& exact) {
    fk::hip::Device device;
    fk::Layout<4> const in = from.layout(last), out = to.layout(last);
    double const bytes = sizeof(half) * static_cast<double>(in.size() + out.size()) + more;
    int const rotation = 1 + static_cast<int>(130e6 / bytes);
    auto const copied = fk::nhwc(1, 1, static_cast<std::int64_t>(bytes / (2 * sizeof(half) * 64)), 64);
    std::vector<Tensor> x, y, source, target;
    for (int i = 0; i < rotation; ++i) {
        x.push_back(fk::random<half>(device, in, static_cast<unsigned>(i)));
        source.push_back(fk::random<half>(device, copied, static_cast<unsigned>(i)));
        y.emplace_back(device, out), target.emplace_back(device, copied);
    }
    auto const slot = [&](std::int64_t call) { return static_cast<std::size_t>(call % rotation); };
    auto const relu = fk::Plan<fk::Activation<fk::Relu>>::bind({});
    std::vector<bench::Subject> const subjects{
        [&](std::int64_t call) { run(device, x[slot(call)], y[slot(call)]); },
        [&](std::int64_t call) { relu(device, source[slot(call)], target[slot(call)]); }};
    subjects[0](0);
    device.synchronize();
    auto const values = values_of(x[0]), results = values_of(y[0]);
    double worst = 0;
    for (std::int64_t i = 0; i < 200; ++i) {
        fk::Index<4> const at{{i * 7919 % to.n, i * 104729 % to.c, i * 31 % to.h, i * 17 % to.w}};
        double const value = exact(
            [&](std::int64_t k, std::int64_t h, std::int64_t w) {
                return double{values[static_cast<std::size_t>(in.offset({{at[0], k, h, w}}))]};
            },
            at);
        double const error =
            std::fabs(results[static_cast<std::size_t>(out.offset(at))] - value) / (0x1p-10 * (std::fabs(value) + 1));
        if (!(error <= worst)) worst = error;
    }
    auto const seconds = bench::graph_medians(device.stream(), subjects, rotation, 7);
    std::printf("%-22s %-5s %4d x %5d x %4d x %4d: %8.2f us, copy %8.2f, share %.2f; error %.2f%s\n", name,
                last ? "nhwc" : "nchw", from.n, from.c, from.h, from.w, 1e6 * seconds[0], 1e6 * seconds[1],
                seconds[1] / seconds[0], worst, worst <= 1 ? "" : " WRONG");
    std::fflush(stdout);
}

/// Largest value or mean of a 3x3 window of stride 2 or 1 around (p stride, q stride), inside the image.
template <bool largest, int stride>
double window_value(Shape const& x, auto const& at, fk::Index<4> const& y) {
    double most = -INFINITY, sum = 0, count = 0;
    for (std::int64_t h = y[2] * stride - 1; h <= y[2] * stride + 1; ++h)
        for (std::int64_t w = y[3] * stride - 1; w <= y[3] * stride + 1; ++w)
            if (h >= 0 && h < x.h && w >= 0 && w < x.w) {
                double const value = at(y[1], h, w);
                most = std::fmax(most, value), sum += value, ++count;
            }
    return largest ? most : sum / count;
}

void measure_all(bool last, Shape const& x) {
    constexpr auto halved = fk::filter(3, 3).pad(1).stride(2), same = fk::filter(3, 3).pad(1);
    Shape const half_size{x.n, x.c, (x.h + 1) / 2, (x.w + 1) / 2}, twice{x.n, x.c, 2 * x.h, 2 * x.w},
        blocks{x.n, x.c / 4, 2 * x.h, 2 * x.w};
    auto const simple = []<class Op>(std::type_identity<Op>) {
        return [](auto& device, auto const& from, auto& to) { fk::Plan<Op>::bind({})(device, from, to); };
    };
    auto const of = [&]<class Op>(char const* name, std::type_identity<Op> op, Shape const& to, auto const& exact) {
        measure(name, last, x, to, 0, simple(op), exact);
    };
    of("max 3x3 / 2", std::type_identity<fk::Pool<fk::Max, halved>>{}, half_size,
       [&](auto const& at, fk::Index<4> const& y) { return window_value<true, 2>(x, at, y); });
    of("average 3x3", std::type_identity<fk::Pool<fk::Average, same>>{}, x,
       [&](auto const& at, fk::Index<4> const& y) { return window_value<false, 1>(x, at, y); });
    of("global average", std::type_identity<fk::GlobalAverage>{}, {x.n, x.c, 1, 1},
       [&](auto const& at, fk::Index<4> const& y) {
           double sum = 0;
           for (std::int64_t h = 0; h < x.h; ++h)
               for (std::int64_t w = 0; w < x.w; ++w) sum += at(y[1], h, w);
           return sum / (x.h * x.w);
       });
    of("upsample nearest", std::type_identity<fk::UpsampleNearest<2>>{}, twice,
       [](auto const& at, fk::Index<4> const& y) { return at(y[1], y[2] / 2, y[3] / 2); });
    of("pixel shuffle", std::type_identity<fk::PixelShuffle<2>>{}, blocks, [](auto const& at, fk::Index<4> const& y) {
        return at(4 * y[1] + y[2] % 2 * 2 + y[3] % 2, y[2] / 2, y[3] / 2);
    });
    of("gradient of average", std::type_identity<fk::PoolGradient<fk::AverageWithPadding, same>>{}, x,
       [&](auto const& at, fk::Index<4> const& y) {
           double sum = 0;
           for (std::int64_t h = y[2] - 1; h <= y[2] + 1; ++h)
               for (std::int64_t w = y[3] - 1; w <= y[3] + 1; ++w)
                   if (h >= 0 && h < x.h && w >= 0 && w < x.w) sum += at(y[1], h, w) / 9;
           return sum;
       });
    fk::hip::Device device;
    Taps taps(device, half_size.layout(last));
    double const bytes = static_cast<double>(taps.size());
    measure(
        "max with taps 3x3 / 2", last, x, half_size, bytes,
        [&](auto& on, auto const& from, auto& to) {
            fk::Plan<fk::Pool<fk::MaxWithTaps, halved>>::bind({.taps = taps})(on, from, to);
        },
        [&](auto const& at, fk::Index<4> const& y) { return window_value<true, 2>(x, at, y); });
}

}  // namespace

int main() {
    for (bool const last : {true, false})
        for (Shape const& shape : {Shape{32, 64, 112, 112},
                                   {64, 192, 35, 35},
                                   {64, 288, 35, 35},
                                   {64, 768, 17, 17},
                                   {8, 256, 64, 64},
                                   {1, 128, 256, 256}})
            measure_all(last, shape);
}
