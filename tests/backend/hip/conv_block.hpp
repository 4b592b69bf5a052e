// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "backend/hip/gpu.hpp"
#include "support/dot_product.hpp"
#include "support/filled.hpp"

namespace test {

struct ConvSizes {
    int n, c, h, w, k;
};

/// Operands and exact results of a 3x3 convolution of integers, after a prologue or none, with a Bias, a Residual and
/// ChannelStatistics:
/// x N x H x W x C, weights K x 3 x 3 x C, z and y N x H x W x K, all in channels-last order.
template <class T>
struct ConvBlock {
    ConvSizes of;
    fk::hip::Device& device;
    std::vector<double> x, weights, bias, z, scale;
    fk::Tensor<T, fk::hip::Device> on_x, on_weights, on_z, y;
    fk::Tensor<float, fk::hip::Device, 1> on_bias, on_scale, mean, variance, scratch;

    ConvBlock(fk::hip::Device& on, ConvSizes const& sizes)
        : of(sizes),
          device(on),
          x(integers(std::size_t(of.n * of.c * of.h * of.w), -3, 3, 1)),
          weights(integers(std::size_t(of.k * of.c * 9), -1, 1, 2)),
          bias(integers(std::size_t(of.k), -9, 9, 3)),
          z(integers(std::size_t(of.n * of.k * of.h * of.w), -9, 9, 4)),
          scale(integers(std::size_t(of.c), 1, 2, 5)),
          on_x(device, fk::nhwc(of.n, of.h, of.w, of.c)),
          on_weights(device, fk::krsc(of.k, 3, 3, of.c)),
          on_z(device, fk::nhwc(of.n, of.h, of.w, of.k)),
          y(device, fk::nhwc(of.n, of.h, of.w, of.k)),
          on_bias(device, fk::channels(of.k)),
          on_scale(device, fk::channels(of.c)),
          mean(device, fk::channels(of.k)),
          variance(device, fk::channels(of.k)),
          scratch(device, fk::channels(fk::ChannelStatistics::scratch(y.layout().shape))) {
        fill(on_x, x), fill(on_weights, weights), fill(on_z, z), fill(on_bias, bias), fill(on_scale, scale);
        double const poison = std::numeric_limits<double>::quiet_NaN();
        fill(y, std::vector<double>(z.size(), poison));
        fill(mean, std::vector<double>(bias.size(), poison)), fill(variance, std::vector<double>(bias.size(), poison));
    }

    /// Sums of weights * before(x, c) + bias + z, where `before` is the prologue.
    template <class Before>
    std::vector<double> expected(Before const& before) const {
        std::vector<double> result(z.size()), read(x.size());
        std::size_t at = 0;
        for (std::size_t i = 0; i < x.size(); ++i) read[i] = before(x[i], static_cast<int>(i % std::size_t(of.c)));
        for (int n = 0; n < of.n; ++n)
            for (int p = 0; p < of.h; ++p)
                for (int q = 0; q < of.w; ++q)
                    for (int k = 0; k < of.k; ++k, ++at) {
                        double sum = bias[std::size_t(k)] + z[at];
                        for (int r = 0; r < 3; ++r)
                            for (int s = 0; s < 3; ++s) {
                                int const row = p + r - 1, column = q + s - 1;
                                if (row < 0 || row >= of.h || column < 0 || column >= of.w) continue;
                                sum += dot_product(&weights[std::size_t(((k * 3 + r) * 3 + s) * of.c)],
                                                   &read[std::size_t(((n * of.h + row) * of.w + column) * of.c)],
                                                   std::size_t(of.c));
                            }
                        result[at] = sum;
                    }
        return result;
    }
    /// Number of elements of y that are not the expected ones, rounded to T.
    int wrong(std::vector<double> const& exact) {
        int count = 0;
        auto const found = values(y);
        for (std::size_t i = 0; i < exact.size(); ++i)
            count += !(found[i] == static_cast<double>(static_cast<float>(T(static_cast<float>(exact[i])))));
        return count;
    }

    template <class Element, int Rank>
    void fill(fk::Tensor<Element, fk::hip::Device, Rank>& to, std::vector<double> const& numbers) {
        std::vector<Element> rounded;
        for (double each : numbers) rounded.push_back(Element(static_cast<float>(each)));
        to.copy_from(rounded.data());
        device.synchronize();
    }
    template <class Element, int Rank>
    std::vector<double> values(fk::Tensor<Element, fk::hip::Device, Rank>& from) {
        std::vector<Element> read(std::size_t(from.layout().size()));
        device.synchronize();
        from.copy_to(read.data());
        device.synchronize();
        std::vector<double> result;
        for (Element each : read) result.push_back(static_cast<double>(static_cast<float>(each)));
        return result;
    }
    /// Checks mean and variance of the channels of `exact`, of integers. Sums are of differences from one of the
    /// values, of at most d from the mean; a mean is merged, and rounded, at most 16 times.
    void check_statistics(std::vector<double> const& exact) {
        auto const means = values(mean), variances = values(variance);
        std::size_t const channels = std::size_t(of.k), pixels = exact.size() / channels;
        for (std::size_t k = 0; k < channels; ++k) {
            double m = 0, v = 0, d = 0;
            for (std::size_t i = 0; i < pixels; ++i) m += exact[i * channels + k] / double(pixels);
            for (std::size_t i = 0; i < pixels; ++i) {
                double const apart = exact[i * channels + k] - m;
                v += apart * apart / double(pixels), d = std::fmax(d, std::fabs(apart));
            }
            double const of_sums = 64 * 0x1p-23 * d, of_mean = of_sums + 16 * 0x1p-24 * std::fabs(m);
            CAPTURE(k, m, v);
            CHECK(std::fabs(means[k] - m) <= of_mean);
            CHECK(std::fabs(variances[k] - v) <= (of_sums + of_mean) * d + of_mean * of_mean);
        }
    }
};

}  // namespace test
