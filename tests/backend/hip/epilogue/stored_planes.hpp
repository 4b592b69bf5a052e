// SPDX-License-Identifier: MIT
#pragma once

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"

/// Accumulators of a warpgroup whose values follow from image, channel and pixel of y, and y as a writer must store it.
namespace test::planes {

template <auto Filter>
using Plan = fk::Plan<fk::Conv<Filter>, fk::Bias, fk::Activation<fk::Relu>>;

/// Accumulator of channel k of image n at pixel `pixel` of its plane.
__host__ __device__ inline float sum_at(int n, int k, int pixel) {
    return static_cast<float>((n * 31 + k * 17 + pixel * 7) % 61 - 30);
}
/// Accumulator of no element of y: the epilogue's result for it is not stored.
inline constexpr float nowhere = 1000;
inline float bias_of(int channel) { return static_cast<float>(channel % 9 - 4); }

/// Runs Body on `tiles` CTAs, in clusters if `cluster` > 1, and compares all elements of y, and those between them.
/// change(params) sets the parameters that Body needs.
template <class Body, class ThePlan, class T>
void check(fk::Layout<4> const& y, unsigned tiles, auto const& change, unsigned cluster = 1) {
    fk::hip::Device device = sm90a_device();
    fk::Index<4> const& shape = y.shape;
    auto const k = static_cast<int>(shape[1]);
    std::vector<float> biases;
    for (int channel = 0; channel < k; ++channel) biases.push_back(bias_of(channel));
    auto const elements = static_cast<std::size_t>(1 + (shape[0] - 1) * y.stride[0] + (shape[1] - 1) * y.stride[1] +
                                                   (shape[2] - 1) * y.stride[2] + (shape[3] - 1) * y.stride[3]);
    Array<float> const bias(device, biases);
    Array<T> const out(device, elements + 16, T(-99.0f));
    int const rows = ThePlan::Head::longest;
    fk::TensorView<T const> const x(out.data(), fk::nchw(shape[0], 8, shape[2], shape[3])),
        w(out.data(), fk::kcrs(k, 8, rows, rows));
    auto const bound =
        ThePlan::bind({.weights = w}, {.bias = fk::TensorView<float const, 1>(bias.data(), fk::channels(k))}, {});
    fk::hip::ConvParams<ThePlan, T> params{bound, x, {out.data(), y}};
    change(params);
    REQUIRE(fk::hip::kernel_of<Abs, Body>().is_launchable(device.gpu().index()));  // allows over 48 KB of SMEM
    auto const launch = fk::hip::prepare_launch<Abs, Body>(
        device.gpu(), {params}, tiles, Body::threads,
        cluster > 1 ? fk::hip::LaunchMode::clusters : fk::hip::LaunchMode::plain, 0, cluster);
    launch.value().start(device).raise();
    device.synchronize();
    std::vector<float> expected(elements + 16, -99), found;
    for (T const value : out.values()) found.push_back(static_cast<float>(value));
    int wrong = 0;
    for (int n = 0; n < shape[0]; ++n)
        for (int c = 0; c < k; ++c)
            for (int pixel = 0; pixel < shape[2] * shape[3]; ++pixel) {
                float const value = sum_at(n, c, pixel) + bias_of(c);
                expected[static_cast<std::size_t>(y.offset({{n, c, pixel / shape[3], pixel % shape[3]}}))] =
                    value > 0 ? value : 0;
            }
    for (std::size_t i = 0; i < expected.size(); ++i) wrong += found[i] != expected[i];
    CAPTURE(shape[0], shape[1], shape[2], shape[3], y.stride[0], y.stride[1]);
    CHECK(wrong == 0);
}

/// Sets a thread's accumulators of one part of a tile, from its pixel `first` on: pixels are counted with the gaps
/// between rows (PlaneTiles).
template <class Atom, class Tiles>
__device__ void set(typename Atom::Accumulators& acc, Tiles const& tiles, fk::hip::PlanePart const& part,
                    int first_channel, int first, unsigned thread) {
    auto const own = static_cast<int>(thread);
    for (int e = 0; e < Atom::acc_per_thread; ++e) {
        int const pixel = first + Atom::column(own, e), row = part.row + pixel / tiles.pitch,
                  column = pixel % tiles.pitch;
        bool const exists =
            part.n >= 0 && pixel / tiles.pitch < tiles.rows && row < tiles.y_height && column < tiles.y_width;
        acc[e] = exists ? sum_at(part.n, first_channel + Atom::row(own, e), row * tiles.y_width + column) : nowhere;
    }
}

}  // namespace test::planes
