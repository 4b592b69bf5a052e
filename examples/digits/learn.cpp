// SPDX-License-Identifier: MIT
//
// Learns to read handwritten digits: trains a convolutional network from random weights with the library's gradients,
// and counts errors on a held-out set. Exits with 1 if fewer than 95 % are right, with 2 on an error.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fusekit/fusekit.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "images.hpp"

namespace fk = fusekit;

/// A convolution and its gradients.
template <fk::Filter<2> filter>
struct Convolution {
    using Forward = fk::Plan<fk::Conv<filter>>;
    using ByInput = fk::Plan<fk::TransposedConv<filter>>;
    using ByWeights = fk::Plan<fk::ConvWeightGradient<filter>>;
};
using Half = Convolution<fk::filter(3, 3).pad(1).stride(2)>;  // halves rows and columns
using Whole = Convolution<fk::filter(2, 2)>;  // as large as the image: a fully connected layer
using Norm = fk::Plan<fk::BatchNormTraining<fk::Spatial>, fk::Activation<fk::Relu>>;
using NormGradient = fk::Backward<Norm>;
using NormOfTest = fk::Plan<fk::BatchNormInference<fk::Spatial>, fk::Activation<fk::Relu>>;

std::mt19937 random_bits(7);

/// A parameter, its gradient, and stochastic gradient descent with momentum: velocity = momentum * velocity + gradient;
/// parameter -= rate * velocity.
template <class Device, int Rank>
class Parameter {
public:
    fk::Tensor<float, Device, Rank> value, gradient;

    Parameter(Device& device, fk::Layout<Rank> const& layout, std::vector<float> const& start)
        : value(device, layout), gradient(device, layout), velocity(start.size()), numbers(start) {
        value.copy_from(start.data());
    }
    void step(float rate) {
        std::vector<float> slope(numbers.size());
        gradient.copy_to(slope.data());
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            velocity[i] = 0.9f * velocity[i] + slope[i];
            numbers[i] -= rate * velocity[i];
        }
        value.copy_from(numbers.data());
    }

private:
    std::vector<float> velocity, numbers;
};

template <class Device>
Parameter<Device, 1> channels(Device& device, int k, float value) {
    return {device, fk::channels(k), std::vector<float>(std::size_t(k), value)};
}

/// Weights K x R x S x C of a normal distribution of variance 2 / (R S C). Source: He et al. 2015.
template <class Device>
Parameter<Device, 4> weights(Device& device, int k, int r, int c) {
    std::normal_distribution<float> normal(0, std::sqrt(2.0f / float(r * r * c)));
    std::vector<float> start(std::size_t(k * r * r * c));
    for (float& each : start) each = normal(random_bits);
    return {device, fk::krsc(k, r, r, c), start};
}

/// A convolution, batch norm and ReLU.
template <class Device>
class Layer {
public:
    using Tensor = fk::Tensor<float, Device>;

    Layer(Device& device, int k, int c)
        : device(device),
          taps(weights(device, k, 3, c)),
          scale(channels(device, k, 1)),
          shift(channels(device, k, 0)),
          mean(channels(device, k, 0)),
          inverse(channels(device, k, 1)),
          running_mean(channels(device, k, 0)),
          running_variance(channels(device, k, 1)) {}

    /// Maps x to y and keeps what the gradient reads.
    Tensor const& forward(Tensor const& x) {
        input = &x;
        sums.emplace(Half::Forward::bind({.weights = taps.value})(device, x));
        return y.emplace(norm()(device, *sums));
    }
    /// Computes the parameters' gradients from dy, and dx unless it is null.
    void backward(Tensor const& dy, Tensor* dx) {
        Tensor dsums(device, sums->layout());
        NormGradient::bind(norm(), *sums, {.scale = scale.gradient, .shift = shift.gradient}, {})(device, dy, dsums);
        Half::ByWeights::bind({.dy = dsums})(device, *input, taps.gradient);
        if (dx) Half::ByInput::bind({.weights = taps.value})(device, dsums, *dx);
    }
    void step(float rate) { taps.step(rate), scale.step(rate), shift.step(rate); }

    Tensor predict(Tensor const& x) const {
        auto const z = Half::Forward::bind({.weights = taps.value})(device, x);
        return NormOfTest::bind({.mean = running_mean.value,
                                 .variance = running_variance.value,
                                 .scale = scale.value,
                                 .shift = shift.value},
                                {})(device, z);
    }

private:
    Device& device;
    Parameter<Device, 4> taps;
    Parameter<Device, 1> scale, shift, mean, inverse, running_mean, running_variance;
    Tensor const* input = nullptr;
    std::optional<Tensor> sums, y;

    auto norm() {
        return Norm::bind({.scale = scale.value,
                           .shift = shift.value,
                           .saved_mean = mean.value,
                           .saved_inverse_deviation = inverse.value,
                           .running_mean = running_mean.value,
                           .running_variance = running_variance.value},
                          {});
    }
};

/// Replaces each image's 10 scores by the gradient of the mean of -log softmax(scores)[label]; returns that mean.
double cross_entropy(std::vector<float>& scores, std::vector<Image> const& images) {
    double loss = 0;
    for (std::size_t i = 0; i < images.size(); ++i) {
        float* const of = &scores[10 * i];
        float const largest = *std::max_element(of, of + 10);
        double sum = 0;
        for (int k = 0; k < 10; ++k) sum += std::exp(double(of[k] - largest));
        loss += std::log(sum) - double(of[images[i].label] - largest);
        for (int k = 0; k < 10; ++k) {
            double const share = std::exp(double(of[k] - largest)) / sum;
            of[k] = float((share - (k == images[i].label)) / double(images.size()));
        }
    }
    return loss / double(images.size());
}

template <class Device>
fk::Tensor<float, Device> tensor_of(Device& device, std::vector<Image> const& images) {
    std::vector<float> pixels;
    for (Image const& image : images) pixels.insert(pixels.end(), image.pixels.begin(), image.pixels.end());
    fk::Tensor<float, Device> x(device, fk::nhwc(fk::Extent(images.size()), 8, 8, 1));
    x.copy_from(pixels.data());
    return x;
}

int learn(auto& device, std::filesystem::path const& path) {
    using Device = std::remove_cvref_t<decltype(device)>;
    auto train = read_images(path, false);
    auto const test = read_images(path, true);
    Layer<Device> first(device, 16, 1), second(device, 32, 16);
    auto last = weights(device, 10, 2, 32);

    constexpr int epochs = 8;
    constexpr std::size_t batch = 32;
    for (int epoch = 0; epoch < epochs; ++epoch) {
        for (std::size_t i = train.size(); i > 1; --i) std::swap(train[i - 1], train[random_bits() % i]);
        double loss = 0;
        for (std::size_t begin = 0; begin + batch <= train.size(); begin += batch) {
            std::vector<Image> const images(train.begin() + long(begin), train.begin() + long(begin + batch));
            auto const x = tensor_of(device, images);
            auto const& hidden = first.forward(x);
            auto const& features = second.forward(hidden);
            auto scores = Whole::Forward::bind({.weights = last.value})(device, features);
            std::vector<float> numbers(10 * batch);
            scores.copy_to(numbers.data());
            loss += cross_entropy(numbers, images) * double(batch) / double(train.size());
            scores.copy_from(numbers.data());

            fk::Tensor<float, Device> by_features(device, features.layout()), by_hidden(device, hidden.layout());
            Whole::ByWeights::bind({.dy = scores})(device, features, last.gradient);
            Whole::ByInput::bind({.weights = last.value})(device, scores, by_features);
            second.backward(by_features, &by_hidden);
            first.backward(by_hidden, nullptr);
            float const rate = 0.1f * float(epochs - epoch) / epochs;
            first.step(rate), second.step(rate), last.step(rate);
        }
        std::printf("epoch %d: loss %.3f\n", epoch + 1, loss);
    }

    auto const scores =
        Whole::Forward::bind({.weights = last.value})(device, second.predict(first.predict(tensor_of(device, test))));
    std::vector<float> numbers(10 * test.size());
    scores.copy_to(numbers.data());
    int right = 0;
    for (std::size_t i = 0; i < test.size(); ++i) {
        auto const of = numbers.begin() + long(10 * i);
        right += std::max_element(of, of + 10) - of == test[i].label;
    }
    double const accuracy = 100.0 * right / double(test.size());
    std::printf("accuracy %.2f %%: %d of %zu held-out images\n", accuracy, right, test.size());
    if (accuracy >= 95) return 0;
    std::printf("FAILED: expected 95 %% or more\n");
    return 1;
}

int main() try {
    fk::host::Device device;
    return learn(device, std::filesystem::path(FUSEKIT_DIGITS_DATA) / "digits.txt");
} catch (std::exception const& error) {
    std::fprintf(stderr, "learn: %s\n", error.what());
    return 2;
}
