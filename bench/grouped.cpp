// SPDX-License-Identifier: MIT
//
// Times grouped convolutions of ResNeXt and RegNet, half NHWC: forward, both gradients, and a Relu of x, whose time is
// scaled to the bytes of x and y. Checks samples of each result against sums in double.
#include <fusekit/hip.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "support/graph_timing.hpp"

namespace {

namespace fk = fusekit;
using fk::half;
using Tensor = fk::Tensor<half, fk::hip::Device>;

/// Elements of a tensor on the host, by coordinate.
struct Values {
    fk::Layout<4> layout;
    std::vector<half> all;

    explicit Values(Tensor const& tensor) : layout(tensor.layout()), all(static_cast<std::size_t>(tensor.size())) {
        tensor.copy_to(all.data());
    }
    /// Returns an element; 0 out of bounds of the tensor.
    double operator()(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
        if (h < 0 || h >= layout.shape[2] || w < 0 || w >= layout.shape[3]) return 0;
        return static_cast<float>(all[static_cast<std::size_t>(layout.offset({{n, c, h, w}}))]);
    }
};

/// Largest relative error of samples of a result.
template <class Sum>
double largest_error(Tensor const& tensor, Sum const& sum) {
    Values const got(tensor);
    fk::Index<4> const& shape = got.layout.shape;
    double worst = 0;
    for (std::int64_t i = 0; i < 64; ++i) {
        std::int64_t const a = i * 7919 % shape[0], b = (i * 104729 + 3) % shape[1], c = i * 31 % shape[2],
                           d = i * 17 % shape[3];
        double magnitude = 1e-3, exact = 0;
        sum(a, b, c, d, [&](double product) { exact += product, magnitude += std::fabs(product); });
        double const error = std::fabs(got(a, b, c, d) - exact);
        double const scaled = error / (1e-3 * std::fabs(exact) + 1e-4 * magnitude);
        if (!(scaled <= worst)) worst = scaled;
    }
    return worst;
}

template <auto filter>
void measure(int n, int c, int hw) {
    constexpr int groups = filter.group_count, stride = filter.strides[0], taps = filter.size[0],
                  pad = filter.pad_before[0];
    int const of_y = static_cast<int>(filter.output(0, hw)), in_group = c / groups;
    fk::hip::Device device;
    auto const grouped = device.with<fk::hip::Grouped<>>();
    auto const x_layout = fk::nhwc(n, hw, hw, c), y_layout = fk::nhwc(n, of_y, of_y, c),
               w_layout = fk::krsc(c, taps, taps, in_group);
    auto const bytes = 2.0 * static_cast<double>(x_layout.size() + y_layout.size());
    int const rotation = 1 + static_cast<int>(130e6 / bytes);
    std::vector<Tensor> x, y, dx, dy;
    Tensor const w = fk::random<half>(device, w_layout);
    Tensor dw(device, w_layout);
    for (int i = 0; i < rotation; ++i) {
        x.push_back(fk::random<half>(device, x_layout)), dy.push_back(fk::random<half>(device, y_layout));
        y.emplace_back(device, y_layout), dx.emplace_back(device, x_layout);
    }
    auto const slot = [&](std::int64_t call) { return static_cast<std::size_t>(call % rotation); };
    auto const forward = fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = filter});
    auto const by_x = fk::Plan<fk::TransposedConv<filter>>::bind({.weights = w});
    auto const relu = fk::Plan<fk::Activation<fk::Relu>>::bind({});
    std::vector<bench::Subject> const subjects{
        [&](std::int64_t call) { forward(grouped, x[slot(call)], y[slot(call)]); },
        [&](std::int64_t call) { by_x(grouped, dy[slot(call)], dx[slot(call)]); },
        [&](std::int64_t call) {
            fk::Plan<fk::ConvWeightGradient<filter>>::bind({.dy = dy[slot(call)]})(device, x[slot(call)], dw);
        },
        [&](std::int64_t call) { relu(device, x[slot(call)], dx[slot(call)]); }};
    for (std::size_t i = subjects.size(); i > 0; --i) subjects[i - 1](0);  // the copy, which overwrites dx, first
    device.synchronize();
    Values const of_x(x[0]), of_dy(dy[0]), of_w(w);
    double const errors[] = {
        largest_error(y[0],
                      [&](auto i, auto k, auto p, auto q, auto const& add) {
                          for (int cc = 0; cc < in_group; ++cc)
                              for (int r = 0; r < taps; ++r)
                                  for (int s = 0; s < taps; ++s)
                                      add(of_x(i, k / in_group * in_group + cc, p * stride + r - pad,
                                               q * stride + s - pad) *
                                          of_w(k, cc, r, s));
                      }),
        largest_error(dx[0],
                      [&](auto i, auto channel, auto h, auto v, auto const& add) {
                          for (int kk = 0; kk < in_group; ++kk)
                              for (int r = 0; r < taps; ++r)
                                  for (int s = 0; s < taps; ++s) {
                                      auto const p = h + pad - r, q = v + pad - s;
                                      if (p % stride != 0 || q % stride != 0) continue;
                                      auto const k = channel / in_group * in_group + kk;
                                      add(of_dy(i, k, p / stride, q / stride) * of_w(k, channel % in_group, r, s));
                                  }
                      }),
        largest_error(dw, [&](auto k, auto cc, auto r, auto s, auto const& add) {
            for (int i = 0; i < n; ++i)
                for (int p = 0; p < of_y; ++p)
                    for (int q = 0; q < of_y; ++q)
                        add(of_dy(i, k, p, q) *
                            of_x(i, k / in_group * in_group + cc, p * stride + r - pad, q * stride + s - pad));
        })};
    auto const seconds = bench::graph_medians(device.stream(), subjects, rotation, 9);
    std::printf(
        "%d x %d-%d-%d g%d s%d: forward %.1f us, by x %.1f, by weights %.1f, copy %.1f; errors / bound %.2f %.2f "
        "%.2f\n",
        n, c, hw, hw, groups, stride, 1e6 * seconds[0], 1e6 * seconds[1], 1e6 * seconds[2],
        1e6 * seconds[3] * bytes / (4.0 * static_cast<double>(x_layout.size())), errors[0], errors[1], errors[2]);
    std::fflush(stdout);
}

}  // namespace

int main() {
    constexpr auto three = fk::filter(3, 3).pad(1);
    for (int const n : {32, 1}) {
        measure<three.groups(32)>(n, 128, 56);
        measure<three.stride(2).groups(32)>(n, 256, 56);
        measure<three.groups(32)>(n, 256, 28);
        measure<three.stride(2).groups(32)>(n, 512, 28);
        measure<three.groups(32)>(n, 512, 14);
        measure<three.stride(2).groups(32)>(n, 1024, 14);
        measure<three.groups(32)>(n, 1024, 7);
        measure<three.groups(49)>(n, 784, 14);
        measure<three.groups(49)>(n, 784, 7);
        measure<three.stride(2).groups(9)>(n, 144, 56);
        measure<three.groups(9)>(n, 144, 28);
    }
}
