// SPDX-License-Identifier: MIT
// Compiled for each of AMD's targets. gfx90a's MFMA flushes subnormal halves to zero.
#include "fusekit/backend/hip/atom/half_factors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "backend/hip/native.hpp"

namespace fk = fusekit;

namespace {

constexpr bool flushes = std::is_same_v<fk::hip::arch::Target, fk::hip::arch::Gfx90a>;
using Device = fk::hip::Device;

template <class T>
fk::Tensor<T, Device, 4> tensor_of(Device& device, fk::Layout<4> const& layout, std::vector<float> const& values) {
    fk::Tensor<T, Device, 4> tensor(device, layout);
    std::vector<T> const elements(values.begin(), values.end());
    tensor.copy_from(elements.data());
    return tensor;
}
std::vector<float> floats_of(fk::Tensor<float, Device, 4>& tensor) {
    std::vector<float> values(static_cast<std::size_t>(tensor.size()));
    tensor.copy_to(values.data());
    return values;
}

/// Multiples of 2^-24, up to `most` of them in magnitude; many are subnormal halves.
std::vector<float> fine(std::size_t count, int most) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] =
            static_cast<float>(static_cast<int>(i * 733 % static_cast<std::size_t>(2 * most + 1)) - most) * 0x1p-24f;
    return values;
}
/// Integers of magnitude at most 24.
std::vector<float> coarse(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 31 % 49) - 24;
    return values;
}
/// Largest factors that are exact in bfloat16, and in half.
constexpr int of_8_bits = 255, of_11_bits = 2047;

/// Runs Head with a 1x1 filter on pixels of 64 channels. Sums of up to 144 products of fine() and coarse() values are
/// multiples of 2^-24, and at most 144 * 2047 * 24 < 2^24 of them in magnitude: exact in float.
template <class Head>
std::vector<float> pixels_of(Device& device, std::vector<float> const& x, std::vector<float> const& w) {
    constexpr std::int64_t channels = 64;
    auto const pixels = static_cast<std::int64_t>(x.size()) / channels;
    auto const on_device = tensor_of<fk::half>(device, fk::nhwc(1, 1, pixels, channels), x);
    auto const weights = tensor_of<fk::half>(device, fk::krsc(channels, 1, 1, channels), w);
    fk::Tensor<float, Device, 4> y(device, fk::nhwc(1, 1, pixels, channels));
    fk::Plan<Head>::bind({.weights = weights})(device, on_device, y.view());
    return floats_of(y);
}
std::vector<float> expected_pixels(std::vector<float> const& x, std::vector<float> const& w, bool transposed) {
    std::vector<float> y(x.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
        double sum = 0;
        for (std::size_t c = 0; c < 64; ++c)
            sum += double{x[i / 64 * 64 + c]} * double{transposed ? w[c * 64 + i % 64] : w[i % 64 * 64 + c]};
        y[i] = static_cast<float>(sum);
    }
    return y;
}

using Forward = fk::Conv<fk::filter(1, 1)>;
using Kept = fk::Conv<fk::filter(1, 1), fk::Products<float>>;
using Backward = fk::TransposedConv<fk::filter(1, 1)>;
using ExactBackward = fk::TransposedConv<fk::filter(1, 1), fk::Products<float>>;

}  // namespace

TEST_CASE("HIP: gfx90a flushes subnormal halves in forward convolutions, except with Products<float>") {
    Device device = test::native();
    std::vector<float> const x(64 * 100, 0x1p-15f), w(64 * 64, 1024);
    std::vector<float> const lost(x.size(), flushes ? 0.0f : 2.0f), kept(x.size(), 2);
    CHECK(pixels_of<Forward>(device, x, w) == lost);
    CHECK(pixels_of<Kept>(device, x, w) == kept);
}

TEST_CASE("HIP: data gradients keep 8 mantissa bits of subnormal halves, and all with Products<float>") {
    Device device = test::native();
    std::vector<float> const x = fine(64 * 130, of_8_bits), fine_x = fine(64 * 130, of_11_bits), w = coarse(64 * 64);
    CHECK(pixels_of<Backward>(device, x, w) == expected_pixels(x, w, true));
    CHECK(pixels_of<ExactBackward>(device, fine_x, w) == expected_pixels(fine_x, w, true));
    CHECK(pixels_of<Kept>(device, fine_x, w) == expected_pixels(fine_x, w, false));
}

TEST_CASE("HIP: a gradient's factor has a relative error of at most 2^-9 on gfx90a, and is exact elsewhere") {
    Device device = test::native();
    std::vector<float> const x = fine(64 * 130, of_11_bits), w = coarse(64 * 64);
    std::vector<float> const y = pixels_of<Backward>(device, x, w), want = expected_pixels(x, w, true);
    std::vector<float> magnitude_x(x), magnitude_w(w);
    for (float& value : magnitude_x) value = std::fabs(value);
    for (float& value : magnitude_w) value = std::fabs(value);
    std::vector<float> const sizes = expected_pixels(magnitude_x, magnitude_w, true);
    int wrong = 0;
    for (std::size_t i = 0; i < y.size(); ++i) wrong += std::fabs(y[i] - want[i]) > (flushes ? 0x1p-9f * sizes[i] : 0);
    CHECK(wrong == 0);
}

TEST_CASE("HIP: infinities beside subnormal halves stay infinite") {
    Device device = test::native();
    std::vector<float> x(64 * 64, 0x1p-20f), w(64 * 64, 1);
    x[64 * 5 + 3] = -std::numeric_limits<float>::infinity();
    std::vector<float> const y = pixels_of<Backward>(device, x, w);
    for (std::size_t i = 0; i < y.size(); ++i)
        CHECK(y[i] == (i / 64 == 5 ? -std::numeric_limits<float>::infinity() : 64 * 0x1p-20f));
}

TEST_CASE("HIP: weight gradients keep subnormal halves in every loop: packets, rows, single pixels") {
    Device device = test::native();
    // x has 64, 24 or 3 channels, dy 64, 40 or 5; planes are 9 x 16 pixels.
    for (char const* const layout : {"nhwc", "nchw"})
        for (auto const& [c, k] : {std::pair<std::int64_t, std::int64_t>{64, 64}, {24, 40}, {3, 5}}) {
            bool const is_nhwc = layout[1] == 'h';
            auto const layout_of = [&](std::int64_t channels) {
                return is_nhwc ? fk::nhwc(1, 9, 16, channels) : fk::nchw(1, channels, 9, 16);
            };
            auto const small = fine(static_cast<std::size_t>(144 * k), of_8_bits),
                       large = coarse(static_cast<std::size_t>(144 * c));
            auto const x = tensor_of<fk::half>(device, layout_of(c), large);
            auto const dy = tensor_of<fk::half>(device, layout_of(k), small);
            fk::Tensor<float, Device, 4> dw(device, fk::kcrs(k, c, 1, 1));
            fk::Plan<fk::ConvWeightGradient<fk::filter(1, 1)>>::bind({.dy = dy})(device, x, dw.view());
            std::vector<float> want(static_cast<std::size_t>(k * c));
            for (std::size_t i = 0; i < want.size(); ++i) {
                double sum = 0;
                for (std::int64_t pixel = 0; pixel < 144; ++pixel) {
                    auto const at = [&](auto const& of, std::int64_t channels, std::int64_t channel) {
                        return double{
                            of[static_cast<std::size_t>(is_nhwc ? pixel * channels + channel : channel * 144 + pixel)]};
                    };
                    auto const number = static_cast<std::int64_t>(i);
                    sum += at(large, c, number % c) * at(small, k, number / c);
                }
                want[i] = static_cast<float>(sum);
            }
            INFO(layout << ", " << c << " channels and " << k);
            CHECK(floats_of(dw) == want);
        }
}
