// SPDX-License-Identifier: MIT
//
// Times depthwise convolutions of networks, NHWC half with a filter that is known at run time only: a Relu
// after it; and a Relu of x, whose time is scaled to the bytes of x and y. Checks samples of y against sums in double.
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

void measure(int n, int c, int hw, int size, int stride) {
    auto const filter = fk::filter(size, size).pad(size / 2).stride(stride).groups(c);
    int const of_y = static_cast<int>(filter.output(0, hw));
    fk::hip::Device device;
    auto const depthwise = device.with<fk::hip::Depthwise<>>();
    auto const x_layout = fk::nhwc(n, hw, hw, c), y_layout = fk::nhwc(n, of_y, of_y, c);
    auto const bytes = 2.0 * static_cast<double>(x_layout.size() + y_layout.size());
    int const rotation = 1 + static_cast<int>(130e6 / bytes);
    std::vector<Tensor> x, y, z;
    Tensor const w = fk::random<half>(device, fk::krsc(c, size, size, 1));
    // values repeat, because the host is slow to make them
    Tensor const some = fk::random<half>(device, fk::nhwc(1, 1, 1, 1 << 20));
    std::vector<half> all(static_cast<std::size_t>(some.size() + x_layout.size()));
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
    double const copy = 1e6 * seconds[1] * bytes / (4.0 * static_cast<double>(x_layout.size()));
    std::printf("%2d x %4d-%d-%d %dx%d s%d: %6.2f us, copy %6.2f, share %.2f; error / bound %.2f%s\n", n, c, hw, hw,
                size, size, stride, 1e6 * seconds[0], copy, copy / (1e6 * seconds[0]), worst,
                worst <= 1 ? "" : " WRONG");
    std::fflush(stdout);
}

}  // namespace

int main() {
    measure(32, 144, 56, 3, 1), measure(32, 32, 112, 3, 1), measure(32, 576, 14, 3, 1), measure(32, 960, 7, 3, 1);
    measure(32, 16, 112, 3, 1), measure(32, 116, 28, 3, 1), measure(32, 384, 14, 3, 1);
    measure(1, 144, 56, 3, 1), measure(1, 576, 14, 3, 1);
    measure(32, 96, 112, 3, 2), measure(32, 144, 56, 3, 2), measure(1, 96, 112, 3, 2);
    measure(32, 240, 28, 5, 1), measure(32, 1152, 7, 5, 1), measure(32, 672, 14, 5, 1), measure(32, 144, 56, 5, 2);
    measure(32, 96, 56, 7, 1), measure(32, 384, 14, 7, 1), measure(32, 768, 7, 7, 1), measure(32, 192, 28, 7, 1);
    measure(1, 96, 56, 7, 1), measure(1, 384, 14, 7, 1);
}
