// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/difference.hpp"
#include "support/effort.hpp"
#include "support/filled.hpp"

/// Norms and softmax of rows against their definitions in double.
namespace test {

/// Kind of an operator of rows, with the groups of channels of a row that has all pixels; 0 for a row of one pixel.
struct RowKind {
    enum Function { layer, rms, softmax, log_softmax } function;
    std::int64_t groups = 0;
};

/// y before the epilogue, by definition. Errors of float results: those of a sum of up to 2^12 values in pairs and of
/// vectors of up to 16 lanes are at most 24 half ulps of its largest terms; then a few roundings.
inline oracle::Tensor expected_rows(RowKind const& kind, oracle::Tensor const& x, std::vector<double> const& scale,
                                    std::vector<double> const& shift, double epsilon) {
    oracle::Shape const s = x.shape;
    std::int64_t const plane = s.d * s.h * s.w, groups = kind.groups ? kind.groups : 1, channels = s.c / groups;
    oracle::Tensor y(s);
    auto const row = [&](std::vector<std::size_t> const& at) {
        double sum = 0, squares = 0, deviations = 0, largest = -INFINITY, magnitude = 0, exponentials = 0;
        double const count = static_cast<double>(at.size());
        for (std::size_t i : at) {
            double const v = x.at[i].value;
            sum += v, squares += v * v;
            largest = std::max(largest, v), magnitude = std::max(magnitude, std::fabs(v));
        }
        double const mean = sum / count, u = 0x1p-24;
        for (std::size_t i : at) {
            deviations += (x.at[i].value - mean) * (x.at[i].value - mean);
            exponentials += std::exp(x.at[i].value - largest);
        }
        for (std::size_t i : at) {
            double const v = x.at[i].value;
            auto const k = static_cast<std::size_t>(x.channel(i));
            Bounded& to = y.at[i];
            if (kind.function == RowKind::softmax) {
                to.value = std::exp(v - largest) / exponentials;
                to.error = u * (40 + 4 * (largest - v)) * to.value + 0x1p-140;
            } else if (kind.function == RowKind::log_softmax) {
                to.value = v - largest - std::log(exponentials);
                to.error = u * (40 + 4 * std::fabs(to.value) + 4 * std::fabs(v - largest));
            } else {
                double const center = kind.function == RowKind::rms ? 0 : mean;
                double const inverse =
                    1 / std::sqrt((kind.function == RowKind::rms ? squares : deviations) / count + epsilon);
                to.value = (v - center) * inverse * scale[k] + shift[k];
                to.error = u * (std::fabs(scale[k]) * inverse * (40 * magnitude + 40 * std::fabs(v - center)) +
                                4 * (std::fabs(shift[k]) + std::fabs(to.value)));
            }
        }
    };
    for (std::int64_t n = 0; n < s.n; ++n)
        for (std::int64_t part = 0; part < (kind.groups ? groups : plane); ++part) {
            std::vector<std::size_t> at;
            for (std::int64_t c = 0; c < channels; ++c)
                for (std::int64_t i = 0; i < (kind.groups ? plane : 1); ++i)
                    at.push_back(static_cast<std::size_t>((n * s.c + (kind.groups ? part * channels : 0) + c) * plane +
                                                          (kind.groups ? i : part)));
            row(at);
        }
    return y;
}

/// Values with a mean that is large beside their deviation, in multiples of 1/4.
inline std::vector<double> row_values(std::int64_t size, double mean, std::uint64_t seed) {
    std::vector<double> values = integers(size, -12, 12, seed);
    for (double& value : values) value = mean + value / 4;
    return values;
}

/// A plan of Op alone, and one with operators after it, on x and y of two layouts.
template <class Op, class T, int Rank = 4, class Device, class Bind>
void check_rows_case(Device& device, RowKind const& kind, std::string const& of_x, std::string const& of_y,
                     oracle::Shape const& shape, Bind const& bind) {
    INFO(fk::type_name<Op>() << ' ' << of_x << ' ' << of_y << ' ' << shape.n << 'x' << shape.c << 'x' << shape.h << 'x'
                             << shape.w << " groups " << kind.groups << ' ' << fk::name(fk::data_type<T>));
    bool const norm = kind.function == RowKind::layer || kind.function == RowKind::rms;
    bool const shifts = kind.function == RowKind::layer;
    Filled<T, Device, Rank> x(device, of_x, shape, row_values(shape.size(), norm ? 8 : 1, 3)),
        z(device, of_y, shape, integers(shape.size(), -3, 3, 4));
    std::vector<double> const ones(static_cast<std::size_t>(shape.c), 1), zeros(ones.size());
    auto const scale = norm ? integers(shape.c, -3, 3, 5) : ones, shift = shifts ? integers(shape.c, -3, 3, 6) : zeros;
    Placed<Device, 1> placed_scale(device, fk::DataType::float32, fk::channels(shape.c), scale),
        placed_shift(device, fk::DataType::float32, fk::channels(shape.c), shift);
    auto const args = bind(placed_scale.template view<float const>(), placed_shift.template view<float const>());
    Placed<Device, Rank> y(device, fk::data_type<T>, layout_of<Rank>(of_y, shape), 64),
        fused(device, fk::data_type<T>, layout_of<Rank>(of_y, shape), 64);
    oracle::Tensor const input(shape, x.values), rows = expected_rows(kind, input, scale, shift, 0.5);
    fk::Plan<Op>::bind(args)(device, x.view(), y.template view<T>());
    CHECK(difference(rows, y.fetch()) == "");
    fk::Plan<Op, fk::Bias, fk::Residual, fk::Activation<fk::Relu>>::bind(
        args, {.bias = placed_shift.template view<float const>()}, {.z = z.view(), .alpha2 = 0.5f}, {})(
        device, x.view(), fused.template view<T>());
    oracle::Tensor const after =
        oracle::residual(oracle::bias(rows, shift), z.values, 0.5).each([](Bounded v, std::size_t) {
            return Bounded{v.value > 0 ? v.value : 0, v.error};
        });
    CHECK(difference(after, fused.fetch()) == "");
}

/// A plan with operators before Op: s = x + bias + z, which is stored, then y = Op(s). All sums s are exact.
template <class Op, class T, class Device, class Bind>
void check_rows_of_sum(Device& device, RowKind const& kind, std::string const& of_x, std::string const& of_y,
                       oracle::Shape const& shape, Bind const& bind) {
    INFO(fk::type_name<Op>() << " of a sum, " << of_x << ' ' << of_y << ' ' << shape.n << 'x' << shape.c << 'x'
                             << shape.h << 'x' << shape.w << ' ' << fk::name(fk::data_type<T>));
    Filled<T, Device, 4> x(device, of_x, shape, row_values(shape.size(), 1, 3)),
        z(device, of_y, shape, integers(shape.size(), -3, 3, 4));
    auto const bias = integers(shape.c, -2, 2, 5);
    std::vector<double> const ones(bias.size(), 1), zeros(bias.size());
    Placed<Device, 1> placed_bias(device, fk::DataType::float32, fk::channels(shape.c), bias);
    auto const output = [&] { return Placed<Device, 4>(device, fk::data_type<T>, layout_of<4>(of_y, shape), 64); };
    auto y = output(), sum = output();
    fk::Plan<fk::Bias, fk::Residual, fk::Store, Op, fk::Scale>::bind(
        {.bias = placed_bias.template view<float const>()}, {.z = z.view()}, {.values = sum.template view<T>()}, bind(),
        {.factor = 2})(device, x.view(), y.template view<T>());
    oracle::Tensor const expected = oracle::residual(oracle::bias(oracle::Tensor(shape, x.values), bias), z.values, 1)
                                        .each([](Bounded v, std::size_t) { return Bounded{v.value, 0}; });
    CHECK(difference(expected, sum.fetch()) == "");
    CHECK(difference(expected_rows(kind, expected, ones, zeros, 0.5).each([](Bounded v, std::size_t) {
              return Bounded{2 * v.value, 2 * v.error};
          }),
                     y.fetch()) == "");
}
template <class T, class Device>
void check_rows_of_sums(Device& device, oracle::Shape const& shape) {
    for (auto const& [of_x, of_y] : {std::pair{"nchw", "nchw"}, {"nhwc", "nhwc"}, {"nchw+1", "nhwc*2"}}) {
        check_rows_of_sum<fk::LayerNorm, T>(device, {RowKind::layer}, of_x, of_y, shape,
                                            [] { return fk::LayerNorm::Args{{}, {}, 0.5f}; });
        check_rows_of_sum<fk::GroupNorm, T>(device, {RowKind::layer, 2}, of_x, of_y, shape,
                                            [] { return fk::GroupNorm::Args{2, {}, {}, 0.5f}; });
        check_rows_of_sum<fk::Softmax, T>(device, {RowKind::softmax}, of_x, of_y, shape,
                                          [] { return fk::Softmax::Args{}; });
    }
}

/// A norm whose y is quantized: Amax has the largest magnitude of the values before the quantization, and y is each of
/// these values, times a factor, rounded to Q.
template <class Q, class Device>
void check_quantized_rows(Device& device, std::string const& layout, oracle::Shape const& shape) {
    INFO(layout << ' ' << fk::name(fk::data_type<Q>));
    Filled<fk::half, Device, 4> x(device, layout, shape, row_values(shape.size(), 1, 3));
    Placed<Device, 4> plain(device, fk::DataType::float32, layout_of<4>(layout, shape), 64),
        quantized(device, fk::data_type<Q>, layout_of<4>(layout, shape), 64);
    Placed<Device, 1> maximum(device, fk::DataType::float32, fk::channels(1), std::vector<double>{0});
    fk::LayerNorm::Args const norm{{}, {}, 0.5f};
    fk::Plan<fk::LayerNorm>::bind(norm)(device, x.view(), plain.template view<float>());
    fk::Plan<fk::LayerNorm, fk::Amax, fk::Scale>::bind(norm, {.amax = maximum.template view<float>()}, {.factor = 16})(
        device, x.view(), quantized.template view<Q>());
    auto const& of_plain = plain.fetch();
    auto const& of_quantized = quantized.fetch();
    std::vector<double> values, given;
    of_plain.for_each([&](std::int64_t at) { values.push_back(of_plain.get(at)); });
    of_quantized.for_each([&](std::int64_t at) { given.push_back(of_quantized.get(at)); });
    double largest = 0;
    std::size_t different = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        largest = std::max(largest, std::fabs(values[i]));
        different += given[i] != static_cast<double>(static_cast<float>(Q(16 * static_cast<float>(values[i]))));
    }
    CHECK(different == 0);
    CHECK(maximum.fetch().get(0) == largest);
}

/// Operators of rows on odd shapes and mixed layouts; `all`: those too that differ in their arithmetic alone.
template <class T, bool all, class Device>
void check_rows_of(Device& device, std::vector<oracle::Shape> const& shapes = {
                                       {2, 12, 3, 5}, {3, 40, 2, 4}, {1, 257, 1, 3}, {2, 64, 8, 8}, {1, 1, 1, 1}}) {
    char const* layouts[][2] = {{"nchw", "nchw"}, {"nhwc", "nhwc"}, {"nchw+1", "nhwc*2"}, {"nhwc+1", "nhwc"}};
    int pair = 0;
    for (oracle::Shape const& shape : shapes) {
        ++pair;  // shapes alternate in their first layout
        for (auto const& [of_x, of_y] : layouts) {
            if (pair++ % one_pair_in) continue;
            check_rows_case<fk::LayerNorm, T>(device, {RowKind::layer}, of_x, of_y, shape, [](auto scale, auto shift) {
                return fk::LayerNorm::Args{scale, shift, 0.5f};
            });
            if constexpr (all) {
                check_rows_case<fk::RmsNorm, T>(device, {RowKind::rms}, of_x, of_y, shape,
                                                [](auto scale, auto) { return fk::RmsNorm::Args{scale, 0.5f}; });
                check_rows_case<fk::InstanceNorm, T>(
                    device, {RowKind::layer, shape.c}, of_x, of_y, shape,
                    [](auto scale, auto shift) { return fk::InstanceNorm::Args{scale, shift, 0.5f}; });
            }
            for (std::int64_t groups : {1, 4})
                if (shape.c % groups == 0)
                    check_rows_case<fk::GroupNorm, T>(
                        device, {RowKind::layer, groups}, of_x, of_y, shape,
                        [&](auto scale, auto shift) { return fk::GroupNorm::Args{groups, scale, shift, 0.5f}; });
            check_rows_case<fk::Softmax, T>(device, {RowKind::softmax}, of_x, of_y, shape,
                                            [](auto, auto) { return fk::Softmax::Args{}; });
            if constexpr (all)
                check_rows_case<fk::LogSoftmax, T>(device, {RowKind::log_softmax}, of_x, of_y, shape,
                                                   [](auto, auto) { return fk::LogSoftmax::Args{}; });
        }
    }
}

}  // namespace test
