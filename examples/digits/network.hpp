// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <fusekit/fusekit.hpp>
#include <iterator>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace fk = fusekit;

using Norm = fk::BatchNormInference<fk::Spatial>;
using Relu = fk::Activation<fk::Relu>;

using Stem = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, Norm, Relu>;                 // 16 channels of 8 x 8
using Down = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1).stride(2)>, Norm, Relu>;       // 32 channels of 4 x 4
using Block = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, Norm, fk::Residual, Relu>;  // with its input added
using Classifier = fk::Plan<fk::Conv<fk::filter(4, 4)>, fk::Bias>;                    // the whole image

/// Values of weights.bin, read sequentially; train.py documents the format.
class Weights {
public:
    static constexpr std::int64_t total = 16 * (9 + 4) + 32 * (9 * 16 + 4) + 32 * (9 * 32 + 4) + 10 * (16 * 32 + 1);

    explicit Weights(std::filesystem::path const& path) : values(total) {
        std::ifstream file(path, std::ios::binary);
        if (!file) throw std::runtime_error("cannot open " + path.string());
        std::string const bytes{std::istreambuf_iterator<char>(file), {}};
        if (bytes.size() != total * sizeof(float))
            throw std::runtime_error(path.string() + ": expected " + std::to_string(total * sizeof(float)) +
                                     " bytes, got " + std::to_string(bytes.size()));
        std::memcpy(values.data(), bytes.data(), bytes.size());
    }

    template <class Device, int Rank>
    fk::Tensor<float, Device, Rank> next(Device& device, fk::Layout<Rank> const& layout) {
        fk::Tensor<float, Device, Rank> tensor(device, layout);
        tensor.copy_from(&values[at]);
        at += layout.size();
        return tensor;
    }

private:
    std::vector<float> values;
    std::int64_t at = 0;
};

/// Maps images of 8 x 8 pixels in [0, 1] to ten scores, one per digit.
template <class Device>
class Network {
public:
    Network(Device& device, Weights weights)
        : device(device),
          stem(device, weights, fk::krsc(16, 3, 3, 1)),
          down(device, weights, fk::krsc(32, 3, 3, 16)),
          block(device, weights, fk::krsc(32, 3, 3, 32)),
          classifier(weights.next(device, fk::krsc(10, 4, 4, 32))),
          bias(weights.next(device, fk::channels(10))) {}

    /// Maps N x 1 x 8 x 8 to N x 10 x 1 x 1. Calls after(plan, input, output), with both shapes, for each layer.
    auto operator()(auto const& x, auto after) const {
        auto run = [&](auto const& layer, auto const& in) {
            auto out = layer(device, in);
            using Plan = typename std::remove_cvref_t<decltype(layer)>::Plan;
            after(Plan::name(), in.layout().shape, out.layout().shape);
            return out;
        };
        auto a = run(Stem::bind({.weights = stem.weights}, stem.norm(), {}), x);               // N x 16 x 8 x 8
        auto b = run(Down::bind({.weights = down.weights}, down.norm(), {}), a);               // N x 32 x 4 x 4
        auto c = run(Block::bind({.weights = block.weights}, block.norm(), {.z = b}, {}), b);  // N x 32 x 4 x 4
        return run(Classifier::bind({.weights = classifier}, {.bias = bias}), c);              // N x 10 x 1 x 1
    }

private:
    struct Layer {
        fk::Tensor<float, Device> weights;
        fk::Tensor<float, Device, 1> scale, shift, mean, variance;

        Layer(Device& device, Weights& from, fk::Layout<4> const& layout)
            : weights(from.next(device, layout)),
              scale(from.next(device, fk::channels(layout.shape[0]))),
              shift(from.next(device, fk::channels(layout.shape[0]))),
              mean(from.next(device, fk::channels(layout.shape[0]))),
              variance(from.next(device, fk::channels(layout.shape[0]))) {}
        Norm::Args norm() const { return {.mean = mean, .variance = variance, .scale = scale, .shift = shift}; }
    };

    Device& device;
    Layer stem, down, block;
    fk::Tensor<float, Device> classifier;
    fk::Tensor<float, Device, 1> bias;
};
