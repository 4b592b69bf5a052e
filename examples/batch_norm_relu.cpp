// SPDX-License-Identifier: MIT
//
// Batch normalization at inference and ReLU in one pass over memory, with statistics per channel and per activation.

#include <fusekit/fusekit.hpp>

#include "support.hpp"

namespace fk = fusekit;

template <class Mode>
using Norm = fk::Plan<fk::BatchNormInference<Mode>>;
using Relu = fk::Plan<fk::Activation<fk::Relu>>;
template <class Mode>
using NormRelu = fk::Plan<fk::BatchNormInference<Mode>, fk::Activation<fk::Relu>>;

constexpr int n = 16, c = 64, h = 28, w = 28;
constexpr float epsilon = 1e-3f;

/// A parameter of the batch norm: random values in [low, low + 2).
template <class Device, int Rank>
auto parameter(Device& device, fk::Layout<Rank> const& layout, int seed, float low = -1) {
    auto result = fk::random<float>(device, layout, seed);
    auto host = values(result);
    for (float& value : host) value += low + 1;
    result.copy_from(host.data());
    return result;
}

/// `layout` is the layout of the statistics: C values, or C x H x W.
template <class Mode, class Device, int Rank>
bool example(Device& device, fk::Layout<Rank> const& layout) {
    auto x = fk::random<float>(device, fk::nchw(n, c, h, w));
    auto mean = parameter(device, layout, 2), variance = parameter(device, layout, 3, 0.01f);
    auto scale = parameter(device, layout, 4), shift = parameter(device, layout, 5);

    typename fk::BatchNormInference<Mode>::Args const statistics{mean, variance, scale, shift, epsilon};
    auto layer = NormRelu<Mode>::bind(statistics, {});
    auto y = layer(device, x);

    auto const in = values(x), m = values(mean), v = values(variance), s = values(scale), t = values(shift);
    std::vector<double> expected(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
        std::size_t const j = Rank == 1 ? i / (h * w) % c : i % (c * h * w);
        expected[i] = std::max(0.0, s[j] * (double(in[i]) - m[j]) / std::sqrt(double(v[j]) + epsilon) + t[j]);
    }
    bool const good = agrees(NormRelu<Mode>::name().c_str(), values(y), expected);

    auto norm = Norm<Mode>::bind(statistics);
    auto relu = Relu::bind({});
    auto z = norm(device, x);
    double const fused = fastest_ms(5, [&] { layer(device, x, y), device.synchronize(); });
    double const unfused = fastest_ms(5, [&] { norm(device, x, z), relu(device, z, y), device.synchronize(); });
    std::printf("  fused %.3f ms, as two plans %.3f ms\n", fused, unfused);
    return good;
}

int main() {
    fk::host::Device device;
    bool good = example<fk::Spatial>(device, fk::channels(c));
    good &= example<fk::PerActivation>(device, fk::chw(c, h, w));
    return good ? 0 : 1;
}
