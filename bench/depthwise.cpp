// SPDX-License-Identifier: MIT
//
// Times depthwise convolutions of networks, NHWC half, then NCHW half and float, with a filter that is known at run
// time only: a Relu after it; and a Relu of x, whose time is scaled to the bytes of x and y. Checks samples of y
// against sums in double. Arguments select tensors: "nhwc half", "nchw half", "nchw float".
#include <fusekit/hip.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "support/graph_timing.hpp"

namespace {

namespace fk = fusekit;
using fk::half;
template <class T>
using Tensor = fk::Tensor<T, fk::hip::Device>;

template <class T>
std::vector<float> values_of(Tensor<T> const& tensor) {
    std::vector<T> all(static_cast<std::size_t>(tensor.size()));
    tensor.copy_to(all.data());
    return {all.begin(), all.end()};
}

template <class T>
void measure(bool channels_last, int n, int c, int hw, int size, int stride) {
    auto const filter = fk::filter(size, size).pad(size / 2).stride(stride).groups(c);
    int const of_y = static_cast<int>(filter.output(0, hw));
    fk::hip::Device device;
    auto const depthwise = device.with<fk::hip::Depthwise<>>();
    auto const layout_of = [&](int height) {
        return channels_last ? fk::nhwc(n, height, height, c) : fk::nchw(n, c, height, height);
    };
    auto const x_layout = layout_of(hw), y_layout = layout_of(of_y);
    auto const bytes = double{sizeof(T)} * static_cast<double>(x_layout.size() + y_layout.size());
    int const rotation = 1 + static_cast<int>(130e6 / bytes);
    std::vector<Tensor<T>> x, y, z;
    Tensor<T> const w = fk::random<T>(device, fk::krsc(c, size, size, 1));
    // values repeat, because the host is slow to make them
    Tensor<T> const some = fk::random<T>(device, fk::nhwc(1, 1, 1, 1 << 20));
    std::vector<T> all(static_cast<std::size_t>(some.size() + x_layout.size()));
    some.copy_to(all.data());
    for (auto i = static_cast<std::size_t>(some.size()); i < all.size(); ++i)
        all[i] = all[i - static_cast<std::size_t>(some.size())];
    for (int i = 0; i < rotation; ++i) {
        x.emplace_back(device, x_layout), y.emplace_back(device, y_layout), z.emplace_back(device, x_layout);
        x.back().copy_from(all.data());
    }
    auto const slot = [&](std::int64_t call) { return static_cast<std::size_t>(call % rotation); };
    auto const forward =
        fk::Plan<fk::Conv<fk::dynamic>, fk::Activation<fk::Relu>>::bind({.weights = w, .filter = filter}, {});
    auto const relu = fk::Plan<fk::Activation<fk::Relu>>::bind({});
    std::vector<bench::Subject> const subjects{
        [&](std::int64_t call) { forward(depthwise, x[slot(call)], y[slot(call)]); },
        [&](std::int64_t call) { relu(device, x[slot(call)], z[slot(call)]); }};
    subjects[0](0);
    device.synchronize();
    std::vector<float> const of_x = values_of(x[0]), of_w = values_of(w), got = values_of(y[0]);
    double worst = 0;
    for (std::int64_t i = 0; i < 2000; ++i) {
        std::int64_t const image = i * 7919 % n, k = (i * 104729 + 3) % c, p = i * 31 % of_y, q = i * 17 % of_y;
        double exact = 0, magnitude = 1e-3;
        for (std::int64_t r = 0; r < size; ++r)
            for (std::int64_t s = 0; s < size; ++s) {
                std::int64_t const h = p * stride + r - size / 2, v = q * stride + s - size / 2;
                if (h < 0 || v < 0 || h >= hw || v >= hw) continue;
                double const product = double{of_x[static_cast<std::size_t>(x_layout.offset({{image, k, h, v}}))]} *
                                       double{of_w[static_cast<std::size_t>(w.layout().offset({{k, 0, r, s}}))]};
                exact += product, magnitude += std::fabs(product);
            }
        exact = std::fmax(exact, 0.0);
        double const error = std::fabs(got[static_cast<std::size_t>(y_layout.offset({{image, k, p, q}}))] - exact) /
                             (1e-3 * exact + 1e-5 * magnitude);
        if (!(error <= worst)) worst = error;
    }
    auto const seconds = bench::graph_medians(device.stream(), subjects, rotation, 5);
    double const copy = 1e6 * seconds[1] * bytes / (2.0 * sizeof(T) * static_cast<double>(x_layout.size()));
    std::printf("%s %-5s %2d x %4d-%d-%d %dx%d s%d: %6.2f us, copy %6.2f, share %.2f; error / bound %.2f%s\n",
                channels_last ? "nhwc" : "nchw", fk::name(fk::data_type<T>), n, c, hw, hw, size, size, stride,
                1e6 * seconds[0], copy, copy / (1e6 * seconds[0]), worst, worst <= 1 ? "" : " WRONG");
    std::fflush(stdout);
}

template <class T>
void measure_all(bool channels_last) {
    struct Layer {
        int n, c, hw, size, stride;
    };
    for (auto const [n, c, hw, size, stride] : {
             Layer{32, 144, 56, 3, 1}, {32, 32, 112, 3, 1}, {32, 576, 14, 3, 1}, {32, 960, 7, 3, 1},
             {32, 16, 112, 3, 1},      {32, 116, 28, 3, 1}, {32, 384, 14, 3, 1}, {1, 144, 56, 3, 1},
             {1, 576, 14, 3, 1},       {32, 96, 112, 3, 2}, {32, 144, 56, 3, 2}, {32, 58, 56, 3, 2},
             {32, 576, 14, 3, 2},      {1, 96, 112, 3, 2},  {32, 240, 28, 5, 1}, {32, 1152, 7, 5, 1},
             {32, 672, 14, 5, 1},      {32, 144, 56, 5, 2}, {32, 96, 56, 7, 1},  {32, 384, 14, 7, 1},
             {32, 768, 7, 7, 1},       {32, 192, 28, 7, 1}, {1, 96, 56, 7, 1},   {1, 384, 14, 7, 1},
         })
        measure<T>(channels_last, n, c, hw, size, stride);
}

}  // namespace

int main(int count, char** arguments) {
    std::string const only = count > 2 ? std::string(arguments[1]) + " " + arguments[2] : "";
    if (only.empty() || only == "nhwc half") measure_all<half>(true);
    if (only.empty() || only == "nchw half") measure_all<half>(false);
    if (only.empty() || only == "nchw float") measure_all<float>(false);
}
