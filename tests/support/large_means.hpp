// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <type_traits>
#include <vector>

#include "fusekit/fusekit.hpp"

namespace test {

namespace fk = fusekit;

/// Number of wrong results of a GroupNormFromStatistics whose means are near `base` and whose deviations are near 1.
/// run(args, x, y) computes it, of channels-last tensors of T.
///
/// The statistics are arguments: no rounding of theirs is in the bound. u = 2^-24. m is a mean and `of_group` - 1
/// differences of means, of at most d: its error is (of_group + 3) u d. Relative errors: of the variance (of_group + 4)
/// u, of 1 / sqrt(variance) half of it and, on a GPU, 4 u.
template <class T, class Device, class Run>
int wrong_norms_of_large_means(Device& device, float base, Run const& run) {
    constexpr int channels = 12, groups = 4, of_group = channels / groups, pixels = 35;
    constexpr double u = 0x1p-24, rounding = std::is_same_v<T, float> ? u : 0x1p-11, epsilon = double{0.01f};
    fk::host::Device host;
    auto const parameters = [&](std::uint64_t seed, float from, float factor) {
        auto of = fk::random<float>(host, fk::channels(channels), seed);
        std::vector<float> values(channels);
        of.copy_to(values.data());
        for (float& each : values) each = from + factor * each;
        return values;
    };
    std::vector<float> const means = parameters(1, base, 1), variances = parameters(2, 1.5f, 0.75f),
                             scales = parameters(3, 0, 1), shifts = parameters(4, 0, 1);
    auto const placed = [&](std::vector<float> const& values) {
        fk::Tensor<float, Device, 1> tensor(device, fk::channels(channels));
        tensor.copy_from(values.data());
        return tensor;
    };
    auto const mean = placed(means), variance = placed(variances), scale = placed(scales), shift = placed(shifts);
    fk::Tensor<T, Device> x(device, fk::nhwc(1, 5, 7, channels)), y(device, x.layout());
    std::vector<float> random(static_cast<std::size_t>(x.size()));
    fk::random<float>(host, x.layout(), 5).copy_to(random.data());
    std::vector<T> of_x, of_y(random.size(), T(1e4f));
    for (float each : random) of_x.emplace_back(base + 3 * each);
    x.copy_from(of_x.data()), y.copy_from(of_y.data());
    run(fk::GroupNormFromStatistics::Args{mean, variance, scale, shift, groups, 0.01f}, x, y);
    y.copy_to(of_y.data());
    int wrong = 0;
    for (int i = 0; i < channels * pixels; ++i) {
        auto const at = static_cast<std::size_t>(i);
        std::size_t const k = at % channels, first = k / of_group * of_group;
        double m = 0, v = 0, d = 0;
        for (std::size_t j = first; j < first + of_group; ++j) m += double{means[j]} / of_group;
        for (std::size_t j = first; j < first + of_group; ++j) {
            double const apart = double{means[j]} - m;
            v += (double{variances[j]} + apart * apart) / of_group;
            d = std::fmax(d, std::fabs(double{means[j]} - double{means[first]}));
        }
        double const factor = double{scales[k]} / std::sqrt(v + epsilon),
                     centered = double{static_cast<float>(of_x[at])} - m, scaled = centered * factor,
                     exact = scaled + double{shifts[k]};
        double const of_mean = (of_group + 3) * u * d * std::fabs(factor),
                     of_factor = ((of_group + 4) / 2.0 + 4) * u * std::fabs(scaled),
                     of_sum = u * (2 * std::fabs(scaled) + 2 * std::fabs(double{shifts[k]}) + std::fabs(exact));
        double const bound = of_mean + of_factor + of_sum;
        wrong +=
            !(std::fabs(double{static_cast<float>(of_y[at])} - exact) <= bound + rounding * (std::fabs(exact) + bound));
    }
    return wrong;
}

}  // namespace test
