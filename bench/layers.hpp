// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace bench {

/// A convolution layer, without the batch.
struct ConvLayer {
    static constexpr auto naming = "C-H-W-K-RxS-p(pad)-s(stride)";

    int c, h, w, k, r, s, pad, stride;
    /// Fused-over-unfused speedup in MIOpen's fusion chart, on an unnamed GPU.
    double miopen = 0;

    std::string name() const {
        auto const text = [](int value) { return std::to_string(value); };
        return text(c) + "-" + text(h) + "-" + text(w) + "-" + text(k) + "-" + text(r) + "x" + text(s) + "-p" +
               text(pad) + "-s" + text(stride);
    }
    constexpr int p() const { return (h + 2 * pad - r) / stride + 1; }
    constexpr int q() const { return (w + 2 * pad - s) / stride + 1; }

    /// Two FLOPs per product of the convolution; excludes the epilogue.
    constexpr double flops(int batch) const { return 2.0 * batch * k * p() * q() * c * r * s; }

    /// Bytes with each input read once and each output written once, elements of `size` bytes.
    constexpr double bytes(int batch, int size) const {
        return size * (1.0 * batch * c * h * w + 1.0 * batch * k * p() * q() + 1.0 * k * c * r * s + k);
    }
};

/// Batch norm statistics per channel, or per pixel.
enum class NormMode { spatial, per_activation };

/// A batch-norm layer, without the batch. Named C-H-W.
struct NormLayer {
    int c, h, w;
    double miopen;  ///< as in ConvLayer, for spatial batch norm + activation at inference

    std::string name() const { return std::to_string(c) + "-" + std::to_string(h) + "-" + std::to_string(w); }
    constexpr double elements(int batch) const { return 1.0 * batch * c * h * w; }

    /// Bytes with input read and output written once, and four float parameters read once.
    constexpr double bytes(int batch, int size, NormMode mode) const {
        return 2 * size * elements(batch) + 16.0 * c * (mode == NormMode::spatial ? 1 : h * w);
    }
};

/// Layers of MIOpen's charts "Speed up for Conv+Bias+Activ" and "Speedup for Batchnorm (Spatial) + Activation", in
/// their order.
inline constexpr ConvLayer conv_layers[] = {
    {2048, 7, 7, 512, 1, 1, 0, 1, 1.01},   {512, 7, 7, 2048, 1, 1, 0, 1, 1.15},   {512, 7, 7, 512, 3, 3, 1, 1, 1.07},
    {1024, 14, 14, 256, 1, 1, 0, 1, 1.22}, {256, 14, 14, 1024, 1, 1, 0, 1, 1.37}, {256, 14, 14, 256, 3, 3, 1, 1, 1.13},
    {128, 28, 28, 128, 3, 3, 1, 1, 1.29},  {128, 28, 28, 512, 1, 1, 0, 1, 1.99},  {512, 28, 28, 128, 1, 1, 0, 1, 1.28},
    {256, 55, 55, 64, 1, 1, 0, 1, 1.65},   {64, 55, 55, 256, 1, 1, 0, 1, 2.70},   {64, 55, 55, 64, 1, 1, 0, 1, 2.68},
    {64, 55, 55, 64, 3, 3, 1, 1, 1.54},
};

/// First layers of networks, on images of three channels. Excluded from charts and from the means of other layers.
inline constexpr ConvLayer stem_layers[] = {
    {3, 224, 224, 64, 7, 7, 3, 2},
    {3, 224, 224, 64, 3, 3, 1, 1},
    {3, 32, 32, 64, 3, 3, 1, 1},
};

inline constexpr NormLayer norm_layers[] = {
    {512, 7, 7, 1.18},   {2048, 7, 7, 1.35},  {256, 14, 14, 1.18}, {1024, 14, 14, 1.94},
    {128, 28, 28, 2.65}, {512, 28, 28, 3.00}, {64, 55, 55, 2.04},  {256, 55, 55, 1.97},
};

}  // namespace bench
