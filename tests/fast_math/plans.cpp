// SPDX-License-Identifier: MIT
//
// Plans on the host, compiled with fast math: pools of negative numbers; batch norm, norms of rows, softmax and
// gradients of values far from zero, whose deviations cancel; requantized integers.
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

constexpr double ulp = 0x1p-23, poison = 1e30;

/// Value with its tolerance, which is twice the bound of its error.
struct Bounded {
    double value, allowed;
};
struct RowReference {
    std::vector<Bounded> y, dx;
};

/// Positions of the rows: the channels of each pixel or, of `groups` > 0, the channels of a group with all pixels.
std::vector<std::vector<std::size_t>> rows_of(fk::Layout<4> const& layout, std::int64_t groups) {
    fk::Index<4> const& shape = layout.shape;
    std::int64_t const n = shape[0], k = shape[1], p = shape[2], q = shape[3];
    std::vector<std::vector<std::size_t>> rows(static_cast<std::size_t>(n * (groups > 0 ? groups : p * q)));
    for (std::int64_t i = 0; i < n * k * p * q; ++i) {
        fk::Index<4> const at = {{i / (k * p * q), i / (p * q) % k, i / q % p, i % q}};
        std::int64_t const row = groups > 0 ? at[0] * groups + at[1] / (k / groups) : at[0] * p * q + at[2] * q + at[3];
        rows[static_cast<std::size_t>(row)].push_back(static_cast<std::size_t>(layout.offset(at)));
    }
    return rows;
}

/// y = Op(x) and, if has_gradient, dx for g = dL/dy, against reference(x, g) of each row. Of pixel i and channel c, x
/// is value(i, c), g an integer from -4 to 4.
template <class Op, bool has_gradient>
void check_rows(fk::host::Device& device, char const* name, fk::Layout<4> const& layout, typename Op::Args const& args,
                std::int64_t groups, double (*value)(std::int64_t i, std::int64_t c),
                RowReference (*reference)(std::vector<double> const& x, std::vector<double> const& g)) {
    fk::Index<4> const& shape = layout.shape;
    std::int64_t const n = shape[0], k = shape[1], p = shape[2], q = shape[3];
    std::vector<float> x(static_cast<std::size_t>(layout.size())), g(x), out(x.size(), static_cast<float>(poison));
    for (std::int64_t i = 0; i < n * p * q; ++i)
        for (std::int64_t c = 0; c < k; ++c) {
            auto const at = static_cast<std::size_t>(layout.offset({{i / (p * q), c, i / q % p, i % q}}));
            x[at] = static_cast<float>(value(i, c)), g[at] = static_cast<float>((i * 5 + c * 2) % 9 - 4);
        }
    using Layer = fk::Plan<Op>;
    auto const layer = Layer::bind(args);
    auto const of_x = tensor_of(device, layout, x), of_g = tensor_of(device, layout, g);
    auto result = tensor_of(device, layout, out);
    auto const compare = [&](std::vector<Bounded> RowReference::* field) {
        result.copy_to(out.data());
        for (auto const& row : rows_of(layout, groups)) {
            std::vector<double> row_x, row_g;
            for (std::size_t const at : row) row_x.push_back(double{x[at]}), row_g.push_back(double{g[at]});
            auto const all = reference(row_x, row_g).*field;
            for (std::size_t i = 0; i < row.size(); ++i) expect(name, out[row[i]], all[i].value, all[i].allowed);
        }
    };
    layer(device, of_x, result.view());
    compare(&RowReference::y);
    if constexpr (has_gradient) {
        out.assign(out.size(), static_cast<float>(poison)), result.copy_from(out.data());
        fk::Backward<Layer>::bind(layer, of_x)(device, of_g, result.view());
        compare(&RowReference::dx);
    }
}

/// x - maximum is exact. Errors in ulp: exp 1, a sum of K positive terms K / 2 + 1, reciprocal and product 2. The sum
/// of g * y has errors of its factors' and its own sum's, relative to the sum of |g * y| <= 4.
template <bool of_logarithm>
RowReference softmax(std::vector<double> const& x, std::vector<double> const& g) {
    double const maximum = *std::max_element(x.begin(), x.end()), sum_error = static_cast<double>(x.size()) / 2 + 1;
    double sum = 0, sum_of_g = 0, sum_of_gy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const e = std::exp(x[i] - maximum);
        sum += e, sum_of_g += g[i], sum_of_gy += g[i] * e;
    }
    sum_of_gy /= sum;
    RowReference result;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const y = std::exp(x[i] - maximum) / sum, log_y = x[i] - maximum - std::log(sum);
        if (of_logarithm) {
            double const error = sum_error + std::log(sum) - log_y, dx = g[i] - y * sum_of_g;  // of log, of its result
            result.y.push_back({log_y, 2 * ulp * error});
            result.dx.push_back({dx, 2 * ulp * (y * std::fabs(sum_of_g) * (error + 2) + std::fabs(dx))});
        } else {
            double const error = sum_error + 3, difference = g[i] - sum_of_gy;
            result.y.push_back({y, 2 * ulp * error * y});
            result.dx.push_back(
                {y * difference, 2 * ulp * y * ((error + 2) * std::fabs(difference) + 4 * (error + sum_error))});
        }
    }
    return result;
}

/// Sums are exact. Errors in ulp: the mean 1/2; the normalized x 8, as of batch norm, with the mean's. The gradient is
/// a sum of three terms of at most max |g| * max |normalized x|^2 = 4 * 225 / 85, times 1 / deviation; each has at most
/// two factors normalized x, and a sum of 16 products.
RowReference layer_norm(std::vector<double> const& x, std::vector<double> const& g) {
    double const count = static_cast<double>(x.size());
    double mean = 0, variance = 0, mean_of_g = 0, mean_of_gy = 0;
    for (double const value : x) mean += value / count;
    for (double const value : x) variance += (value - mean) * (value - mean) / count;
    double const deviation = std::sqrt(variance + 1e-5), of_mean = mean / 2 / deviation;
    for (std::size_t i = 0; i < x.size(); ++i)
        mean_of_g += g[i] / count, mean_of_gy += g[i] * (x[i] - mean) / deviation / count;
    RowReference result;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const y = (x[i] - mean) / deviation;
        result.y.push_back({y, 2 * ulp * (8 * std::max(1.0, std::fabs(y)) + of_mean)});
        result.dx.push_back({(g[i] - mean_of_g - y * mean_of_gy) / deviation,
                             2 * ulp * 3 * (2 * (8 + of_mean) + 16 / 2 + 4) * (4 * 225.0 / 85) / deviation});
    }
    return result;
}

/// Errors in ulp: a sum of 16 squares 9, of which the root halves 5; 1 / sqrt 2, product 1.
RowReference rms_norm(std::vector<double> const& x, std::vector<double> const&) {
    double sum = 0;
    for (double const value : x) sum += value * value;
    double const inverse = 1 / std::sqrt(sum / static_cast<double>(x.size()) + 1e-5);
    RowReference result;
    for (double const value : x) result.y.push_back({value * inverse, 2 * 8 * ulp * value * inverse});
    return result;
}

void check_rows(fk::host::Device& device) {
    auto const eighths = [](std::int64_t i, std::int64_t c) {
        return 5000 + static_cast<double>((i * 37 + c * 59) % 101 - 50) / 8;
    };
    // Odd integers from -15 to 15, equally frequent in each row, whose variance is 85.
    auto const odd = [](std::int64_t i, std::int64_t c) {
        return 5000 + static_cast<double>((i * 7 + c) % 16 * 2 - 15);
    };
    for (auto const& layout : {fk::nchw(2, 37, 3, 5), fk::nhwc(2, 3, 5, 37)}) {
        check_rows<fk::Softmax, true>(device, "Softmax", layout, {}, 0, eighths, softmax<false>);
        check_rows<fk::LogSoftmax, true>(device, "LogSoftmax", layout, {}, 0, eighths, softmax<true>);
    }
    for (auto const& layout : {fk::nchw(3, 16, 2, 8), fk::nhwc(3, 2, 8, 16)}) {
        check_rows<fk::LayerNorm, true>(device, "LayerNorm", layout, {}, 0, odd, layer_norm);
        check_rows<fk::RmsNorm, false>(device, "RmsNorm", layout, {}, 0, odd, rms_norm);
        for (std::int64_t const groups : {1, 4, 16})
            check_rows<fk::GroupNorm, false>(device, "GroupNorm", layout, {.groups = groups}, groups, odd, layer_norm);
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
    check_rows(device);
    check_requantize(device);
    std::printf("%d failures\n", failures);
    return failures != 0;
}
