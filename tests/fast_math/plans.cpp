// SPDX-License-Identifier: MIT
//
// Plans on the host, compiled with fast math: pools of negative numbers, batch norm of values far from zero, whose
// deviations cancel, and requantized integers.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;

namespace {

int failures = 0;

void expect(char const* what, double got, double want, double allowed) {
    if (std::fabs(got - want) <= allowed) return;
    std::printf("%s: %.9g for %.9g\n", what, got, want);
    ++failures;
}

template <class T, int Rank>
fk::Tensor<T, fk::host::Device, Rank> tensor_of(fk::host::Device& device, fk::Layout<Rank> const& layout,
                                                std::vector<T> const& values) {
    fk::Tensor<T, fk::host::Device, Rank> tensor(device, layout);
    tensor.copy_from(values.data());
    return tensor;
}

/// -3 everywhere: maximum and mean of every window are -3.
template <class Pool, class T>
void check_pool(fk::host::Device& device, char const* name, fk::Layout<4> const& layout) {
    std::vector<T> const values(static_cast<std::size_t>(layout.size()), T(-3.0f));
    auto const x = tensor_of(device, layout, values);
    auto const y = fk::Plan<Pool>::bind({})(device, x);
    for (std::int64_t i = 0; i < y.size(); ++i) expect(name, static_cast<float>(y.data()[i]), -3, 0);
}

template <class T>
void check_pools(fk::host::Device& device) {
    for (auto const& layout : {fk::nchw(2, 5, 6, 8), fk::nhwc(2, 6, 8, 5)}) {
        check_pool<fk::Pool<fk::Max, 2, 2>, T>(device, "Pool<Max, 2, 2>", layout);
        check_pool<fk::Pool<fk::Max, fk::filter(3, 3).stride(2).pad(1)>, T>(device, "Pool<Max, 3 x 3>", layout);
    }
}

/// Batch norm of channel c's values, 2^20 (c + 1) plus odd integers from -15 to 15, equally frequent: the mean is 2^20
/// (c + 1), and y = odd / sqrt(85 + epsilon) + c with scale 1 and shift c. Partial means are integers, so all means are
/// exact. Tolerance: 8 ulps for the variance, its root, the product and the sum, doubled.
void check_batch_norm(fk::host::Device& device) {
    using Norm = fk::BatchNormTraining<fk::Spatial>;
    constexpr std::int64_t n = 4, k = 5, p = 8, q = 16, count = n * p * q;
    auto const offset = [](std::int64_t i, std::int64_t c) { return static_cast<double>((i * 7 + c) % 16 * 2 - 15); };
    for (auto const& layout : {fk::nchw(n, k, p, q), fk::nhwc(n, p, q, k)}) {
        std::vector<float> values(static_cast<std::size_t>(layout.size())), out(values.size());
        auto const each = [&](auto const& f) {
            for (std::int64_t i = 0; i < count; ++i)
                for (std::int64_t c = 0; c < k; ++c) {
                    std::int64_t const image = i / (p * q), row = i / q % p, column = i % q;
                    f(i, c, static_cast<std::size_t>(layout.offset({image, c, row, column})));
                }
        };
        each([&](std::int64_t i, std::int64_t c, std::size_t at) {
            values[at] = static_cast<float>(0x1p20 * static_cast<double>(c + 1) + offset(i, c));
        });
        std::vector<float> const ones(k, 1.0f), shifts = {0, 1, 2, 3, 4};
        auto const x = tensor_of(device, layout, values);
        auto const scale = tensor_of(device, fk::channels(k), ones), shift = tensor_of(device, fk::channels(k), shifts);
        fk::Plan<Norm>::bind({.scale = scale, .shift = shift})(device, x).copy_to(out.data());
        each([&](std::int64_t i, std::int64_t c, std::size_t at) {
            double const want = offset(i, c) / std::sqrt(85 + 1e-5) + static_cast<double>(c);
            expect("BatchNormTraining", out[at], want, 2 * 8 * 0x1p-23 * std::max(1.0, std::fabs(want)));
        });
    }
}

/// x * scale + 3 for all int8 values, rounded to nearest even and saturated; scales are powers of two, so products are
/// exact and half of them are ties.
void check_requantize(fk::host::Device& device) {
    std::vector<float> const scales = {0.5f, -0.25f, 2, 1};
    std::vector<fk::int8> values(4 * 256);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = fk::int8(static_cast<float>(i % 256) - 128);
    auto const x = tensor_of(device, fk::nchw(1, 4, 16, 16), values);
    auto const scale = tensor_of(device, fk::channels(4), scales);
    auto const y = fk::Plan<fk::Requantize>::bind({.scale = scale, .zero_point = 3})(device, x);
    for (std::size_t i = 0; i < values.size(); ++i) {
        double const exact = values[i].value * double{scales[i / 256]} + 3;
        expect("Requantize", y.data()[i].value, std::min(127.0, std::max(-128.0, std::nearbyint(exact))), 0);
    }
}

}  // namespace

int main() {
    fk::host::Device device(1);
    check_pools<float>(device);
    check_pools<fk::half>(device);
    check_batch_norm(device);
    check_requantize(device);
    std::printf("%d failures\n", failures);
    return failures != 0;
}
