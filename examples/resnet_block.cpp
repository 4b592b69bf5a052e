// SPDX-License-Identifier: MIT
//
// The basic block of ResNet-18 and -34 at inference, every layer one fused plan: with the identity as its shortcut,
// and with the 1 x 1 projection that halves the image and doubles the channels. He, Zhang, Ren and Sun 2015, fig. 5.

#include <fusekit/fusekit.hpp>

#include "support.hpp"

namespace fk = fusekit;

using Norm = fk::BatchNormInference<fk::Spatial>;
using Relu = fk::Activation<fk::Relu>;

template <int Stride>
using First = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1).stride(Stride)>, Norm, Relu>;
using Second = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, Norm, fk::Residual, Relu>;
using Projection = fk::Plan<fk::Conv<fk::filter(1, 1).stride(2)>, Norm>;

/// Parameters of one layer: R x R filters from C to K channels, and the statistics of their results.
template <class Device>
struct Layer {
    fk::Tensor<float, Device> weights;
    fk::Tensor<float, Device, 1> mean, variance, scale, shift;

    Layer(Device& device, int k, int c, int r, int seed)
        : weights(fk::random<float>(device, fk::krsc(k, r, r, c), seed)),
          mean(fk::random<float>(device, fk::channels(k), seed + 1)),
          variance(device, fk::channels(k)),
          scale(fk::random<float>(device, fk::channels(k), seed + 2)),
          shift(fk::random<float>(device, fk::channels(k), seed + 3)) {
        std::vector<float> const sum_of_products(k, c * r * r / 9.0f);  // the variance of random x * random w is 1/9
        variance.copy_from(sum_of_products.data());
    }
    Norm::Args norm() const { return {.mean = mean, .variance = variance, .scale = scale, .shift = shift}; }
};

/// N x H x W x C in plain memory, and the block evaluated one operator at a time in double.
struct Image {
    int n, h, w, c;
    std::vector<double> at;

    template <class Device>
    Image convolved(Layer<Device> const& layer, int stride) const {
        auto const weights = values(layer.weights);
        int const k = int(layer.weights.layout().shape[0]), r = int(layer.weights.layout().shape[2]), pad = r / 2;
        Image y{n, (h - 1) / stride + 1, (w - 1) / stride + 1, k, {}};
        for (int i = 0; i < n * y.h * y.w * k; ++i) {
            double sum = 0;
            for (int j = 0; j < r * r * c; ++j) {
                int const row = i / k / y.w % y.h * stride - pad + j / c / r;
                int const column = i / k % y.w * stride - pad + j / c % r;
                if (row < 0 || row >= h || column < 0 || column >= w) continue;
                sum += at[((i / k / y.w / y.h * h + row) * w + column) * c + j % c] * weights[i % k * r * r * c + j];
            }
            y.at.push_back(sum);
        }
        return y;
    }
    template <class Device>
    Image normalized(Layer<Device> const& layer) const {
        auto const mean = values(layer.mean), variance = values(layer.variance);
        auto const scale = values(layer.scale), shift = values(layer.shift);
        Image y = *this;
        for (std::size_t i = 0; i < at.size(); ++i) {
            std::size_t const k = i % c;
            y.at[i] = scale[k] * (at[i] - mean[k]) / std::sqrt(variance[k] + 1e-5) + shift[k];
        }
        return y;
    }
    Image plus(Image const& z) const {
        Image y = *this;
        for (std::size_t i = 0; i < at.size(); ++i) y.at[i] += z.at[i];
        return y;
    }
    Image rectified() const {
        Image y = *this;
        for (double& value : y.at) value = std::max(value, 0.0);
        return y;
    }
};

template <int Stride, class Device>
bool block(Device& device, char const* what, int n, int size, int c, int k) {
    auto x = fk::random<float>(device, fk::nhwc(n, size, size, c), 10);
    Layer<Device> const first(device, k, c, 3, 20), second(device, k, k, 3, 30), projection(device, k, c, 1, 40);

    auto const in = values(x);
    Image const image{n, size, size, c, {in.begin(), in.end()}};
    Image const hidden = image.convolved(first, Stride).normalized(first).rectified();
    Image const unfused = hidden.convolved(second, 1).normalized(second);

    auto a = First<Stride>::bind({.weights = first.weights}, first.norm(), {})(device, x);
    auto last = [&](auto const& shortcut) {
        return Second::bind({.weights = second.weights}, second.norm(), {.z = shortcut}, {})(device, a);
    };
    if constexpr (Stride == 1) {
        return agrees(what, values(last(x)), unfused.plus(image).rectified().at);
    } else {
        auto shortcut = Projection::bind({.weights = projection.weights}, projection.norm())(device, x);
        Image const projected = image.convolved(projection, Stride).normalized(projection);
        return agrees(what, values(last(shortcut)), unfused.plus(projected).rectified().at);
    }
}

int main() {
    fk::host::Device device;
    std::printf("%s\n%s\n%s\n", First<2>::name().c_str(), Projection::name().c_str(), Second::name().c_str());
    bool good = block<1>(device, "identity shortcut: 7 operators in 2 plans", 2, 14, 64, 64);
    good &= block<2>(device, "projection shortcut: 9 operators in 3 plans", 2, 14, 64, 128);
    return good ? 0 : 1;
}
